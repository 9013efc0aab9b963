// The hone command in the environments that clusters and users set: each process finds the
// processors that it may use, its workers and kernels run on them, and what they compute is
// verified.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <vector>

#include "foundation/cgroup.hpp"
#include "foundation/process.hpp"
#include "foundation/processors.hpp"
#include "runtime/ranks/mpi_communicator.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"

namespace hone::test::environments_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using tools::Json;

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const Variables& variables) {
    std::string text;
    for (const auto& [name, value] : variables) text += fmt::format("{}={} ", name, value);
    return text.empty() ? "no variables" : text;
}

/// None of the variables that OpenMP reads, and then these.
class Environment {
  public:
    explicit Environment(const Variables& variables) {
        for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OMP_THREAD_LIMIT"})
            set_.push_back(std::make_unique<EnvironmentVariable>(name, std::nullopt));
        for (const auto& [name, value] : variables) set_.push_back(std::make_unique<EnvironmentVariable>(name.c_str(), value));
        // Threads that wait would take the processors from the tests beside.
        set_.push_back(std::make_unique<EnvironmentVariable>("OMP_WAIT_POLICY", "passive"));
    }
    ~Environment() {
        while (!set_.empty()) set_.pop_back();
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    std::vector<std::unique_ptr<EnvironmentVariable>> set_;
};

const std::vector<std::string> doctor{"doctor", "--json"};
const std::vector<std::string> tune{"tune",
                                    "gauss_seidel_27",
                                    "stencil=constant",
                                    "precision=f32",
                                    "nx=20",
                                    "ny=18",
                                    "nz=16",
                                    "--device",
                                    "cpu",
                                    "--evaluations",
                                    "3",
                                    "--samples",
                                    "6",
                                    "--seed",
                                    "1",
                                    "--json"};

/// A command started by another one, such as taskset.
struct Launched {
    Launched(std::vector<std::string> launcher, const std::vector<std::string>& arguments) {
        launcher.emplace_back(HoneProcess::program());
        launcher.insert(launcher.end(), arguments.begin(), arguments.end());
        const ProcessResult result = run_process(launcher, 300);
        text = result.output;
        ok = result.ok();
    }
    Json document() const {
        const std::size_t begin = text.find("\n{") == std::string::npos ? text.find('{') : text.find("\n{");  // messages go first
        return begin == std::string::npos ? Json() : Json::parse(text.substr(begin), nullptr, false);
    }
    std::string text;
    bool ok = false;
};

/// What doctor says of the processors, and that a tuning run of few candidates comes to a verified
/// record with as many threads.
void expect_processors(const Json& found, const std::vector<int>& numbers, int threads, const std::string& where) {
    EXPECT_EQ(found["numbers"].get<std::vector<int>>(), numbers) << where;
    EXPECT_EQ(found["threads"], threads) << where;
    if (threads < static_cast<int>(processors().numbers.size())) EXPECT_FALSE(found["limited_by"].empty()) << where;
}

void expect_verified(const Json& document, int threads, const std::string& where) {
    ASSERT_TRUE(document.contains("results")) << where << document;
    const Json& record = document["results"][0]["record"];
    ASSERT_FALSE(record.is_null()) << where << document;
    EXPECT_EQ(record["device"]["units"], threads) << where;
    EXPECT_LE(record["verification"]["error"].get<double>(), record["verification"]["tolerance"].get<double>()) << where;
    EXPECT_EQ(document["results"][0]["search"]["outcomes"]["measured"], document["results"][0]["search"]["evaluations"]) << where << document;
}

struct Case {
    Variables variables;
    std::vector<int> numbers;
    int threads;
};

/// The environments that users set, with what is to be found in each.
std::vector<Case> cases() {
    const std::vector<int> all = processors().numbers;
    const int count = static_cast<int>(all.size());
    const std::vector<int> last{all.back()};
    const std::string last_number = std::to_string(all.back());
    return {{{}, all, count},
            {{{"OMP_PROC_BIND", "true"}}, all, count},
            {{{"OMP_PROC_BIND", "false"}}, all, count},
            {{{"OMP_PROC_BIND", "close"}}, all, count},
            {{{"OMP_PROC_BIND", "spread"}, {"OMP_PLACES", "cores"}}, all, count},
            {{{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "threads"}}, all, count},
            {{{"OMP_PLACES", "cores"}}, all, count},
            {{{"OMP_PLACES", "sockets"}}, all, count},
            {{{"OMP_PROC_BIND", "master"}, {"OMP_PLACES", "threads"}}, all, 1},
            {{{"GOMP_CPU_AFFINITY", processor_list(all)}}, all, count},
            {{{"OMP_PLACES", "{" + last_number + "}"}, {"OMP_PROC_BIND", "true"}}, last, 1},
            {{{"OMP_NUM_THREADS", "1"}}, all, 1},
            {{{"OMP_NUM_THREADS", "1"}, {"OMP_PROC_BIND", "spread"}}, all, 1},
            {{{"OMP_NUM_THREADS", std::to_string(3 * count)}}, all, count}};
}

bool bare() {
    return processors().limits.empty();
}
constexpr const char* not_bare = "this test's own process is limited; the environments would add to that";

TEST(Environments, AProcessThatOpenMPBindsFindsAllItsProcessors) {
    if (!bare()) GTEST_SKIP() << not_bare;
    const OwnFolders own;
    const Environment environment({{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}});
    const HoneRun run(doctor);
    const Json found = Json::parse(run.out)["processors"];
    expect_processors(found, processors().numbers, static_cast<int>(processors().numbers.size()), "close");
    EXPECT_EQ(found["binding"], "close");
}

TEST(SlowEnvironments, ProcessorsAreFoundAndResultsVerifiedWhateverTheVariablesSay) {
    if (!bare()) GTEST_SKIP() << not_bare;
    const OwnFolders own;
    for (const auto& [variables, numbers, threads] : cases()) {
        const Environment environment(variables);
        const std::string where = text_of(variables);
        expect_processors(Json::parse(HoneRun(doctor).out)["processors"], numbers, threads, where);
        const HoneRun run(tune);
        EXPECT_EQ(run.code, 0) << where << run.error;
        EXPECT_THAT(run.error, Not(HasSubstr("mistake in hone"))) << where;
        expect_verified(Json::parse(run.out, nullptr, false), threads, where);
    }
}

// The OpenMP library of a kernel is its compiler's: with both compilers one of them is not the
// program's own.
TEST(SlowEnvironments, KernelsOfEitherCompilerRunWithTheThreadsThatWereFound) {
    if (!bare()) GTEST_SKIP() << not_bare;
    const OwnFolders own;
    const int count = static_cast<int>(processors().numbers.size());
    for (const char* compiler : {"g++", "clang++"}) {
        if (find_program(compiler).empty()) continue;
        const EnvironmentVariable chosen("HONE_CXX", compiler);
        for (const auto& [variables, threads] : std::vector<std::pair<Variables, int>>{
                 {{{"OMP_PROC_BIND", "close"}}, count}, {{{"OMP_NUM_THREADS", "1"}}, 1}, {{{"OMP_NUM_THREADS", std::to_string(3 * count)}}, count}}) {
            const Environment environment(variables);
            const HoneRun run(tune);
            EXPECT_EQ(run.code, 0) << compiler << run.error;
            expect_verified(Json::parse(run.out, nullptr, false), threads, compiler + (" " + text_of(variables)));
        }
    }
}

TEST(SlowEnvironments, OneProcessorThatALauncherLeavesIsAllThereIs) {
    const std::string taskset = find_program("taskset");
    if (taskset.empty()) GTEST_SKIP() << "there is no taskset (Debian, Ubuntu: util-linux)";
    const OwnFolders own;
    const Environment environment({});
    const int last = processors().numbers.back();
    const std::vector<std::string> launcher{taskset, "--cpu-list", std::to_string(last)};
    const Json found = Launched(launcher, doctor).document()["processors"];
    expect_processors(found, {last}, 1, "taskset");
    const Launched run(launcher, tune);
    EXPECT_TRUE(run.ok) << run.text;
    expect_verified(run.document(), 1, "taskset");
}

/// A control group below this process's own whose processes have so much processor time together;
/// removed with it.
class QuotaGroup {
  public:
    explicit QuotaGroup(int processors) {
        for (const auto& own : cgroup_folders("/")) {
            std::error_code error;
            const auto folder = own / fmt::format("hone_test_{}", getpid());
            if (!std::filesystem::exists(own / "cpu.cfs_quota_us", error) && !std::filesystem::exists(own / "cpu.max", error)) continue;
            if (!std::filesystem::create_directory(folder, error)) continue;
            folder_ = folder;
            const bool first_version = std::filesystem::exists(folder / "cpu.cfs_quota_us", error);
            const bool written = first_version
                                     ? write("cpu.cfs_period_us", "100000") && write("cpu.cfs_quota_us", fmt::format("{}", processors * 100000))
                                     : write("cpu.max", fmt::format("{} 100000", processors * 100000));
            if (written) return;
            std::filesystem::remove(folder, error);
            folder_.clear();
        }
    }
    ~QuotaGroup() {
        std::error_code error;
        if (!folder_.empty()) std::filesystem::remove(folder_, error);
    }
    QuotaGroup(const QuotaGroup&) = delete;
    QuotaGroup& operator=(const QuotaGroup&) = delete;

    bool made() const { return !folder_.empty(); }
    std::vector<std::string> launcher() const { return {"/bin/sh", "-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"", folder_.string()}; }

  private:
    bool write(const char* name, const std::string& text) const {
        std::ofstream file(folder_ / name);
        file << text;
        file.close();
        return !file.fail();
    }
    std::filesystem::path folder_;
};

TEST(SlowEnvironments, AQuotaLeavesAsManyThreadsAsItHasProcessors) {
    if (!bare() || processors().numbers.size() < 2) GTEST_SKIP() << "it takes two processors without limits";
    const QuotaGroup group(1);
    if (!group.made()) GTEST_SKIP() << "no control group with a quota can be made here";
    const OwnFolders own;
    const Environment environment({});
    const Launched asked(group.launcher(), doctor);
    const Json found = asked.document()["processors"];
    ASSERT_FALSE(found.is_null()) << asked.text;
    expect_processors(found, processors().numbers, 1, "quota");
    EXPECT_EQ(found["usable"], 1);
    EXPECT_EQ(found["limited_by"][0], "cgroup quota 1 processors");
    const Launched run(group.launcher(), tune);
    EXPECT_TRUE(run.ok) << run.text;
    expect_verified(run.document(), 1, "quota");
}

TEST(SlowEnvironments, ProcessesThatMpiStartsMeasureWhatLiesBetweenThem) {
    const std::string mpirun = find_program("mpirun");
    if (mpirun.empty()) GTEST_SKIP() << "there is no mpirun (Debian, Ubuntu: openmpi-bin)";
    if (mpi_version().empty()) GTEST_SKIP() << "hone was built without MPI (Debian, Ubuntu: libopenmpi-dev)";
    const OwnFolders own;
    const Environment environment({});
    const EnvironmentVariable root("OMPI_ALLOW_RUN_AS_ROOT", "1");
    const EnvironmentVariable confirmed("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // What MPI keeps at its end is not ours.
    const EnvironmentVariable leaks("ASAN_OPTIONS", "detect_leaks=0");
    const Launched asked({mpirun, "-n", "3", "--oversubscribe"}, doctor);
    EXPECT_TRUE(asked.ok) << asked.text;
    std::string found;
    const Json document = asked.document();
    for (const Json& finding : document["findings"])
        if (finding["what"] == "MPI") found = finding["detail"];
    EXPECT_THAT(found, ::testing::MatchesRegex("3 ranks by MPI \\(.*\\): 8 bytes to a neighbour in .* us, 512 words in .* us"));
}

TEST(SlowEnvironments, AProcessThatMpiBindsToACoreUsesThatCore) {
    const std::string mpirun = find_program("mpirun");
    if (mpirun.empty()) GTEST_SKIP() << "there is no mpirun (Debian, Ubuntu: openmpi-bin)";
    const OwnFolders own;
    const Environment environment({});
    const EnvironmentVariable root("OMPI_ALLOW_RUN_AS_ROOT", "1");
    const EnvironmentVariable confirmed("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    const std::vector<std::string> launcher{mpirun, "-n", "1", "--bind-to", "core"};
    const Launched asked(launcher, doctor);
    const Json found = asked.document()["processors"];
    if (found.is_null()) GTEST_SKIP() << "mpirun does not start or bind a process here: " << asked.text;
    EXPECT_EQ(found["cores"], 1) << asked.text;
    const Launched run(launcher, tune);
    EXPECT_TRUE(run.ok) << run.text;
    expect_verified(run.document(), found["threads"].get<int>(), "mpirun");
}

}  // namespace
}  // namespace hone::test::environments_test
