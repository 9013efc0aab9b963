// hone replay: launches that an application captured, tuned and verified elsewhere with its data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/capture.hpp"
#include "runtime/library.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"

namespace hone::replay_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using tools::Exit;
using tools::Json;

// Captures a launch of a problem as an application does that has these families, with values a
// thousand times those of the family's own.
void capture(const Families& families, const std::string& words, const fs::path& folder) {
    const test::EnvironmentVariable ask{"HONE_CAPTURE", "*"}, where{"HONE_CAPTURE_DIR", folder.string()};
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    KernelLibrary library(*backend, Database(families), families, [](const std::string&) {});
    const Problem problem = families.parse_problem(words);
    Workload data = families.of(problem).workload(problem, 11);
    std::vector<void*> pointers;
    for (HostArray& array : data.arrays) {
        for (double& value : array.values<double>()) value *= 1000;
        pointers.push_back(array.data());
    }
    BoundKernel(library.kernel(problem), pointers).launch();
    ASSERT_TRUE(fs::exists(capture_file(folder, problem.key())));
}

TEST(SlowReplay, TunesAndVerifiesOnAnotherMachineWithTheCapturedData) {
    const test::TemporaryFolder folder;
    capture(built_in_families(), "poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=19 ny=17 nz=15",
            folder.path() / "here");
    fs::rename(folder.path() / "here", folder.path() / "there");
    const std::string database = (folder.path() / "db").string();
    const test::HoneRun tuned({"replay", (folder.path() / "there").string(), "--device", "cpu", "--evaluations", "2", "--samples", "6", "--seed", "1",
                               "--db", database, "--json"});
    ASSERT_EQ(tuned.code, 0) << tuned.error;
    const Json document = Json::parse(tuned.out);
    EXPECT_EQ(document["captures"].size(), 1);
    const Json& record = document["results"][0]["record"];
    EXPECT_EQ(record["problem"]["parameters"]["nx"], 19);
    // The application, or whoever looks up, has the result.
    const test::HoneRun found({"lookup", "poisson7", "kernel=apply_dot", "coefficients=axis", "boundary=periodic", "precision=f64", "nx=19", "ny=17",
                               "nz=15", "--device", "cpu", "--db", database, "--json"});
    EXPECT_THAT(found.out, HasSubstr("\"exact\"")) << found.out << found.error;

    const test::HoneRun verified({"replay", (folder.path() / "there").string(), "--verify", "--device", "cpu", "--json"});
    ASSERT_EQ(verified.code, 0) << verified.out << verified.error;
    const Json launch = Json::parse(verified.out)["launches"][0];
    EXPECT_EQ(launch["status"], "measured");
    EXPECT_EQ(launch["configuration"], launch["captured_configuration"]);
    EXPECT_LE(launch["largest_difference"].get<double>(), launch["tolerance"].get<double>());

    const std::string schema = test::source_path("tools/schema/output-1.schema.json");
    replace_file(folder.path() / "tuned.json", tuned.out);
    replace_file(folder.path() / "verified.json", verified.out);
    const std::string verdicts =
        test::schema_verdicts({{schema, folder.path() / "tuned.json", "replay"}, {schema, folder.path() / "verified.json", "replay_verify"}});
    if (verdicts.empty()) GTEST_SKIP() << test::no_schema_validator;
    EXPECT_EQ(verdicts, "vv");
}

// A configuration that this device and this hone should have is a mistake of the file; where
// another one may have had it, the safe one is verified, and that is said.
TEST(SlowReplay, VerifiesNoOtherConfigurationUnseen) {
    const test::TemporaryFolder folder;
    const std::string words = "poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=9 ny=7 nz=5";
    capture(built_in_families(), words, folder.path());
    const fs::path file = capture_file(folder.path(), built_in_families().parse_problem(words).key());
    const Capture own = read_capture(file);
    const std::vector<std::string> verify{"replay", folder.path().string(), "--verify", "--device", "cpu"};
    for (const std::string& configuration :
         {std::string("rubbish"), std::string(), "vector_bytes=31," + own.configuration, own.configuration.substr(0, own.configuration.rfind(','))}) {
        Capture wrong = own;
        wrong.configuration = configuration;
        write_capture(folder.path(), wrong);
        const test::HoneRun refused(verify);
        EXPECT_EQ(refused.code, 2) << configuration << refused.out;
        EXPECT_THAT(refused.error, HasSubstr(file.string() + ": configuration"));
    }
    Capture foreign = own;
    foreign.device = "another device";
    foreign.configuration = "threads=31,unheard=of";
    write_capture(folder.path(), foreign);
    const test::HoneRun told(verify);
    EXPECT_EQ(told.code, 0) << told.error;
    EXPECT_THAT(told.error, HasSubstr("the captured configuration cannot run here"));
}

TEST(SlowReplay, TakesKernelFoldersAsTheyWere) {
    const test::TemporaryFolder folder;
    const fs::path kernel = folder.path() / "jacobi", captures = folder.path() / "captures";
    fs::copy(test::source_path("examples/kernels/jacobi"), kernel);
    const test::EnvironmentVariable cache{"HONE_CACHE", test::kernel_cache_folder()};
    capture(Families({KernelFolder(kernel).family()}), "jacobi precision=f64 size=37", captures);
    const std::vector<std::string> verify{"replay", captures.string(), "--verify", "--device", "cpu"};
    {
        const test::EnvironmentVariable known{"HONE_KERNELS", kernel.string()};
        const test::HoneRun run(verify);
        EXPECT_EQ(run.code, 0) << run.out << run.error;
        EXPECT_THAT(run.out, AllOf(HasSubstr("jacobi"), HasSubstr("measured")));
    }
    std::ofstream(kernel / "kernel.cpp", std::ios::app) << "// changed\n";
    const test::EnvironmentVariable known{"HONE_KERNELS", kernel.string()};
    const test::HoneRun changed(verify);
    EXPECT_EQ(changed.code, 2);
    EXPECT_THAT(changed.error, HasSubstr("name its kernel folder, as it was, in HONE_KERNELS"));
}

TEST(Replay, SaysWhatIsWrong) {
    const test::TemporaryFolder folder;
    EXPECT_THAT(test::ask({"replay"}).error, HasSubstr("no capture is given"));
    EXPECT_THAT(test::ask({"replay", folder.path().string()}).error, HasSubstr("there is no capture"));
    Capture foreign;
    foreign.problem = "heat_7 nx=3";
    write_capture(folder.path(), foreign);
    EXPECT_THAT(test::ask({"replay", folder.path().string()}).error, HasSubstr("a family that is not hone's"));
}

}  // namespace
}  // namespace hone::replay_test
