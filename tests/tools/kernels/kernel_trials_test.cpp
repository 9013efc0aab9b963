#include "tools/kernels/kernel_trials.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/target.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::kernel_trials_test {
namespace {

using testing::HasSubstr;

Record sweep(const std::string& stencil, const DeviceFingerprint& device) {
    return test::sample_record(built_in_families(),
                               built_in_families().parse_problem(fmt::format("gauss_seidel_27 stencil={} precision=f32 nx=20 ny=18 nz=16", stencil)),
                               "", device, cpu_limits());
}

// A compiler that refuses the kernels of one stencil, told apart by what it is given; one record is
// for processors of another kind.
TEST(SlowKernelTrials, PruneNamesWhatDoesNotCompileAnyMore) {
    if (find_program("c++").empty()) GTEST_SKIP() << "there is no C++ compiler";
    const test::OwnFolders own;
    DeviceFingerprint here = find_device("cpu").fingerprint;
    DeviceFingerprint other = here;
    other.architecture = "aarch64-sve";
    other.name = "another";
    Database database(built_in_families());
    for (const char* const stencil : {"constant", "symmetric", "variable"}) database.add(sweep(stencil, here));
    database.add(sweep("constant", other));
    const std::string folder = (own.folder.path() / "db").string();
    database.merge_into(folder);

    const auto compiler = own.folder.path() / "compiler";
    replace_file(compiler,
                 "#!/bin/sh\nfor word; do case $word in *kernel.cpp) grep -q 'variable stencil' \"$word\" && exit 1;; esac; done\nexec c++ \"$@\"\n");
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    {
        const test::EnvironmentVariable choice("HONE_CXX", compiler.string());
        const test::HoneRun broken({"db", "prune", folder, "--broken", "--json"});
        EXPECT_EQ(broken.code, 0) << broken.error;
        const Json pruned = Json::parse(broken.out)["pruned"];
        ASSERT_EQ(pruned.size(), 1U) << broken.out;
        EXPECT_EQ(pruned[0]["record"]["problem"]["parameters"]["stencil"], "variable");
        EXPECT_THAT(pruned[0]["reason"].get<std::string>(), HasSubstr("does not compile"));
    }

    // What was compiled is in the cache; what was refused is not.
    const test::HoneRun whole({"db", "prune", folder, "--broken", "--json"});
    EXPECT_EQ(whole.code, 1) << whole.error;
    EXPECT_THAT(whole.error, HasSubstr("1 kernels are for processors of another architecture"));
    EXPECT_TRUE(Json::parse(whole.out)["pruned"].empty());
}

}  // namespace
}  // namespace hone::tools::kernel_trials_test
