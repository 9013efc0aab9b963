// Compiled kernels of staggered_flow against the reference: CPU kernels as they are, CUDA kernels
// through the emulator and on a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/staggered_flow/family.hpp"
#include "runtime/library.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"

namespace hone::staggered_flow_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({staggered_flow()});
    return table;
}

constexpr std::array kernels{"momentum", "divergence", "projection"};
constexpr std::array ends{"periodic", "planes"};
constexpr std::array sizes{"nx=1 ny=1 nz=1", "nx=2 ny=1 nz=3", "nx=37 ny=2 nz=1", "nx=13 ny=17 nz=11", "nx=66 ny=5 nz=9 pitch=71"};

// Configurations whose blocks end within the grid, and beyond it.
constexpr std::array cuda_members{"block_x=32,block_y=2,z_block=4", "block_x=64,block_y=4,z_block=2,min_blocks=2"};
constexpr std::array cpu_members{"y_block=4,z_block=2,vector_bytes=16", "y_block=64,z_block=16,vector_bytes=32"};

class StaggeredFlowKernels : public test::KernelTest {
  protected:
    // Each kernel with each kind of ends, once at every size or, of the emulator, at one of them.
    template <typename Visit>
    void for_problems(bool every_size, const Visit& visit) {
        std::size_t number = 0;
        for (const char* kernel : kernels)
            for (const char* end : ends)
                for (std::size_t size = 0; size < (every_size ? sizes.size() : 1); ++size, ++number)
                    visit(families().parse_problem(fmt::format("staggered_flow kernel={} ends={} precision={} {}", kernel, end,
                                                               number % 2 == 0 ? "f32" : "f64", sizes.at(number % sizes.size()))));
    }
    // The safe member of each problem, and of one of each kernel those of the list.
    template <typename Members>
    void expect_members_verified(const Family& family, bool every_size, const Members& members) {
        for_problems(every_size, [&](const Problem& problem) {
            const SearchSpace space = family.space(problem, backend_->device().limits);
            test::expect_verified_once(*backend_, family, problem, space.safe(), random_);
        });
        for (const char* kernel : kernels) {
            const Problem problem =
                families().parse_problem(fmt::format("staggered_flow kernel={} ends=planes precision=f64 {}", kernel, sizes.at(3)));
            const SearchSpace space = family.space(problem, backend_->device().limits);
            for (const char* text : members) test::expect_verified_once(*backend_, family, problem, member(space, text), random_);
        }
    }
    void expect_random_verified(const Family& family) {
        const Problem problem = families().parse_problem(
            fmt::format("staggered_flow kernel={} ends={} precision={} nx={} ny={} nz={}", kernels.at(static_cast<std::size_t>(any(0, 2))),
                        ends.at(static_cast<std::size_t>(any(0, 1))), any(0, 1) == 0 ? "f32" : "f64", any(1, 70), any(1, 20), any(1, 20)));
        expect_verified(family, problem, any_member(family, problem));
    }
};

TEST_F(StaggeredFlowKernels, CpuKernelsEqualTheReference) {
    expect_members_verified(families().find("staggered_flow"), true, cpu_members);
}

TEST_F(StaggeredFlowKernels, CudaKernelsEqualTheReferenceInTheEmulator) {
    expect_members_verified(test::emulated(test::device_on_host(staggered_flow()), cuda_limits(90)), false, cuda_members);
}

TEST_F(StaggeredFlowKernels, RandomMembersEqualTheReference) {
    expect_random_verified(families().find("staggered_flow"));
    expect_random_verified(test::emulated(test::device_on_host(staggered_flow()), cuda_limits(90)));
}

// What the register rule promises: a kernel within it does not live on spills.
TEST_F(StaggeredFlowKernels, CudaKernelsCompileWithoutSpilling) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Family& family = families().find("staggered_flow");
    const Limits limits = cuda_limits(90);
    for (const char* kernel : kernels)
        for (const char* precision : {"f32", "f64"}) {
            const Problem problem =
                families().parse_problem(fmt::format("staggered_flow kernel={} precision={} nx=128 ny=128 nz=128", kernel, precision));
            const SearchSpace space = family.space(problem, limits);
            for (const char* text : {"", "block_x=256,block_y=2,min_blocks=1"}) {
                const Config config = member(space, text);
                test::expect_few_spills(*compiler, family, problem, config, limits, 0);
            }
        }
}

using GpuStaggeredFlowKernels = test::OnGpu<StaggeredFlowKernels>;

TEST_F(GpuStaggeredFlowKernels, RandomMembersEqualTheReference) {
    const Family& family = families().find("staggered_flow");
    for_problems(true, [&](const Problem& problem) {
        for (const Config& config : test::sample_members(*gpu_, family, problem, 2, random_())) expect_verified(*gpu_, family, problem, config);
    });
}

}  // namespace
}  // namespace hone::staggered_flow_test::kernels_test
