// Members of hone's families, compiled for architectures that are not here: each instruction that
// one of them has not is an error then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/cuda/cuda_device.hpp"
#include "runtime/cuda/nvrtc.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "tests/support/drawn_members.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::compiled_members_test {
namespace {

// Compiles `few` members for each architecture that this NVRTC knows, with the limits of a device
// that has this compiler. Returns how many.
int compile_members(std::size_t few, const test::MembersToDraw& how_many) {
    const cuda::Nvrtc nvrtc = cuda::load_nvrtc(cuda::library_candidates());
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    test::FreshRandom random;
    int compiled = 0;
    for (const int architecture : {70, 75, 80, 86, 89, 90, 100, 120}) {
        if (std::find(nvrtc.architectures_of.begin(), nvrtc.architectures_of.end(), architecture) == nvrtc.architectures_of.end()) continue;
        const auto compiler = cuda::make_nvrtc_compiler(fmt::format("sm_{}", architecture), cache, cuda::library_candidates());
        Limits limits = cuda_limits(architecture);
        limits.compiler = cuda::compiler_release(compiler->version());
        EXPECT_GT(limits.compiler, 100) << compiler->version();
        std::vector<test::DrawnMember> members;
        for (const test::DrawnMember& member : test::drawn(test::drawn_members(limits, how_many, random), few, random)) members.push_back(member);
        for (const test::DrawnMember& member : members) {
            const CompileOutcome outcome = compiler->compile(built_in_families().of(member.problem).kernel(member.problem, member.config, limits));
            EXPECT_TRUE(outcome.ok) << compiler->version() << " for sm_" << architecture << ": " << member.name() << "\n"
                                    << outcome.failure << "\n"
                                    << outcome.code.log;
            ++compiled;
        }
    }
    fmt::print("{}: {} members compiled\n", nvrtc.name, compiled);
    return compiled;
}

class CompiledMembers : public testing::Test {
  protected:
    void SetUp() override {
        if (const cuda::Nvrtc nvrtc = cuda::load_nvrtc(cuda::library_candidates()); !nvrtc.missing.empty()) GTEST_SKIP() << nvrtc.missing;
    }
};

TEST_F(CompiledMembers, AreKernelsOnEveryArchitecture) {
    EXPECT_GE(compile_members(2, {.of_form = 1, .shipped = 4}), 10);
}

class SlowCompiledMembers : public CompiledMembers {};

TEST_F(SlowCompiledMembers, AreKernelsOnEveryArchitecture) {
    EXPECT_GE(compile_members(30, {.of_form = 2, .shipped = 30}), 100);
}

}  // namespace
}  // namespace hone::compiled_members_test
