// Compiled kernels of corner_force against the plain loops: CPU kernels as they are, CUDA kernels
// through the emulator, and through NVRTC for the resources that they take.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/corner_force/family.hpp"
#include "tests/generator/families/corner_force/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"

namespace hone::corner_force_test::kernels_test {
namespace {

class CornerForceKernels : public test::KernelTest {
  protected:
    const Family& family() const { return *families_.begin(); }
    Problem parse(const std::string& rest) const { return families_.parse_problem("corner_force " + rest); }

    void expect_on_cpu(const std::string& rest, const std::string& text) {
        const Problem problem = parse(rest);
        test::expect_verified_once(*backend_, family(), problem, member(family().space(problem, backend_->device().limits), text), random_);
    }

    void expect_emulated(const std::string& rest, const std::string& text) {
        const Problem problem = parse(rest);
        test::expect_verified_once(*backend_, emulated_, problem, member(emulated_.space(problem, {}), text), random_);
    }

    // Any result, dimension and precision; where A would be large, two zones are enough.
    Problem any_problem(int order) {
        const char* const results[] = {"products", "points", "corner", "energy"};
        const int dimension = any(2, 3);
        const int sizes[] = {1, 2, 7, 19};
        const int zones = dimension == 3 && order > 3 ? any(1, 2) : sizes[any(0, 3)];
        return parse(fmt::format("result={} dimension={} order={} precision={} zones={}", results[any(0, 3)], dimension, order,
                                 any(0, 1) == 0 ? "f32" : "f64", zones));
    }

    // One for the processor, and one of CUDA.
    void expect_random_verified(int order) {
        const Problem problem = any_problem(order);
        expect_verified(*backend_, family(), problem, any_member(family(), problem));
        if (order <= 4) expect_verified(*backend_, emulated_, problem, any_member(emulated_, problem));
    }

    // All arrays after a step.
    std::vector<HostArray> stepped(const Family& which, const Problem& problem, const Config& config, const Workload& workload) {
        return test::stepped(*backend_, which, problem, config, workload, 1);
    }

    Families families_{{corner_force()}};
    Family emulated_ = test::emulated(test::roots_on_host(corner_force()), cuda_limits(90));
};

TEST_F(CornerForceKernels, FormsEqualTheReferenceOnTheProcessor) {
    expect_on_cpu("dimension=2 order=2 zones=23", "form=whole");
    expect_on_cpu("dimension=3 order=2 zones=7", "form=force,decomposition=jacobi");
    expect_on_cpu("result=corner dimension=2 order=3 precision=f32 zones=5", "form=paper,lanes=4");
    expect_on_cpu("result=corner dimension=3 order=2 zones=3", "form=factorised");
}

TEST_F(CornerForceKernels, FormsEqualTheReferenceInTheEmulator) {
    expect_emulated("dimension=2 order=2 zones=23", "form=force,zones_per_block=16,points_per_pass=2,splits=2");
    expect_emulated("dimension=3 order=2 zones=3", "form=force,gradients=stored,zones_per_block=2,splits=2");
    expect_emulated("dimension=3 order=1 precision=f32 zones=11", "form=paper,rows_per_thread=2");
    expect_emulated("result=corner dimension=3 order=2 zones=2", "form=factorised");
}

TEST_F(CornerForceKernels, LayersEqualTheReferenceInTheEmulator) {
    const char* const all_layers = "form=layered,zones_per_block=4,layers=4";
    expect_emulated("dimension=2 order=2 zones=7", all_layers);
    expect_emulated("dimension=2 order=3 precision=f32 zones=5", "form=layered,zones_per_block=2,layers=2");
    expect_emulated("dimension=2 order=2 zones=9", "form=layered,zones_per_block=8,layers=1,derivatives=direct,point_data=async");
    expect_emulated("dimension=3 order=1 precision=f32 zones=9", "form=layered,zones_per_block=8,layers=1");
    expect_emulated("dimension=3 order=2 zones=3", "form=layered,zones_per_block=2,layers=2,point_data=async");
    expect_emulated("result=points dimension=3 order=3 zones=2", "form=layered,zones_per_block=1,layers=3");
    expect_emulated("result=energy dimension=3 order=2 zones=3", "form=layered,zones_per_block=2,layers=4");
    expect_emulated("result=energy dimension=2 order=4 zones=3", "form=layered,zones_per_block=1,layers=2");
    expect_emulated("dimension=2 order=2 zones=7", std::string(all_layers) + ",derivatives=direct");
    expect_emulated("dimension=3 order=2 precision=f32 zones=5", "form=layered,zones_per_block=2,layers=4,derivatives=direct");
    expect_emulated("result=points dimension=3 order=3 zones=2", "form=layered,zones_per_block=1,layers=3,derivatives=direct,point_data=async");
    expect_emulated("result=energy dimension=3 order=1 zones=9", "form=layered,zones_per_block=8,layers=1,derivatives=direct");
}

// Odd and even numbers of nodes; all layers at once and some; lines along the second axis by field,
// and by table (order 6).
TEST_F(CornerForceKernels, SumsByParityEqualTheReferenceInTheEmulator) {
    expect_emulated("dimension=2 order=2 zones=7", "form=layered,zones_per_block=4,layers=4,axis_sums=parity");
    expect_emulated("dimension=2 order=3 precision=f32 zones=5", "form=layered,zones_per_block=2,layers=2,axis_sums=parity");
    expect_emulated("dimension=3 order=2 zones=3", "form=layered,zones_per_block=2,layers=4,derivatives=direct,axis_sums=parity,point_data=async");
    expect_emulated("dimension=2 order=2 zones=300", "form=layered,zones_per_block=8,layers=4,fetch_ahead=256");
    expect_emulated("result=energy dimension=2 order=1 zones=300", "form=layered,zones_per_block=16,layers=1,fetch_ahead=256");
    expect_emulated("dimension=3 order=3 zones=1", "form=layered,zones_per_block=1,layers=6,axis_sums=parity");
    expect_emulated("dimension=3 order=6 zones=1", "form=layered,zones_per_block=1,layers=1,axis_sums=parity");
    expect_emulated("result=points dimension=3 order=4 zones=1", "form=layered,zones_per_block=1,layers=2,axis_sums=parity");
    expect_emulated("result=energy dimension=3 order=3 zones=2", "form=layered,zones_per_block=1,layers=3,axis_sums=parity");
    expect_emulated("result=energy dimension=2 order=4 zones=3", "form=layered,zones_per_block=1,layers=8,axis_sums=parity");
}

// A warp of a zone and several; all layers at once and some; odd and even numbers of nodes.
TEST_F(CornerForceKernels, PairsOfPointsEqualTheReferenceInTheEmulator) {
    const std::string pairs = "form=layered,derivatives=paired,axis_sums=parity,";
    expect_emulated("dimension=3 order=2 zones=5", pairs + "zones_per_block=2,layers=4");
    expect_emulated("dimension=3 order=2 zones=3", pairs + "zones_per_block=2,layers=2,point_data=async,fetch_ahead=32");
    expect_emulated("dimension=3 order=3 precision=f32 zones=2", pairs + "zones_per_block=1,layers=6");
    expect_emulated("dimension=3 order=3 zones=2", pairs + "zones_per_block=1,layers=3,point_data=async");
    expect_emulated("result=points dimension=3 order=2 zones=5", pairs + "zones_per_block=2,layers=4");
    expect_emulated("result=points dimension=3 order=4 zones=1", pairs + "zones_per_block=1,layers=4,point_data=async");
}

// Teams of a warp and of several; lanes without points (order 3), warps with fewer rows; all layers
// at once and some; several layers for a team, and one after another.
TEST_F(CornerForceKernels, TeamsOfWarpsEqualTheReferenceInTheEmulator) {
    expect_emulated("dimension=3 order=2 zones=5", "form=teams,layers=4,teams=1,team_layers=4");
    expect_emulated("dimension=3 order=2 precision=f32 zones=3", "form=teams,layers=2,teams=2,team_layers=1");
    expect_emulated("dimension=3 order=3 zones=2", "form=teams,layers=6,teams=2,team_layers=3,fetch_ahead=32,point_data=async");
    expect_emulated("result=points dimension=3 order=3 zones=1", "form=teams,layers=3,teams=1,team_layers=3");
    expect_emulated("dimension=3 order=4 zones=2", "form=teams,layers=8,teams=3,team_layers=1,point_data=async");
}

// Zones that fill a warp and that leave lanes over (order 3); passes behind the last zone, and a
// last warp with too few.
TEST_F(CornerForceKernels, StreamsOfZonesEqualTheReferenceInTheEmulator) {
    expect_emulated("dimension=2 order=2 zones=37", "form=streamed,warps_per_block=2,passes=2,unrolled_pairs=1");
    expect_emulated("dimension=2 order=3 zones=13", "form=streamed,warps_per_block=1,passes=4,unrolled_pairs=3,w_in=shared");
    expect_emulated("dimension=2 order=3 precision=f32 zones=23", "form=streamed,warps_per_block=4,passes=2,unrolled_pairs=1");
    expect_emulated("dimension=2 order=4 zones=9", "form=streamed,warps_per_block=1,passes=2,unrolled_pairs=1,w_in=shared");
}

TEST_F(CornerForceKernels, RandomConfigurationsEqualTheReference) {
    expect_random_verified(any(1, 3));
}

// What forms differ in is the order of sums: all of them stay within the reference's tolerance, and
// so of each other.
void expect_equal_outputs(const std::vector<HostArray>& one, const std::vector<HostArray>& other, double allowed, const std::string& what) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_LE(largest_difference(one[i], other[i]), allowed) << what << " array " << i;
}

using SlowCornerForceCompilation = CornerForceKernels;

class SlowCornerForceKernels : public CornerForceKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, SlowCornerForceKernels, ::testing::Range(1, 9));

TEST_P(SlowCornerForceKernels, AssembledAndMatrixFreeFormsAgreeToRounding) {
    for (const int dimension : {2, 3}) {
        if (dimension == 3 && GetParam() > 4) continue;  // no form stores A there
        const Problem problem = parse(fmt::format("dimension={} order={} zones={}", dimension, GetParam(), dimension == 3 ? 3 : 9));
        const SearchSpace space = family().space(problem, backend_->device().limits);
        const std::uint64_t seed = random_();
        const Workload workload = family().workload(problem, seed);
        const auto partial = stepped(family(), problem, member(space, "form=separate"), workload);
        for (const char* form : {"force", "whole", "paper"})
            expect_equal_outputs(partial, stepped(family(), problem, member(space, fmt::format("form={}", form)), workload), workload.tolerance,
                                 fmt::format("{} {} seed {}", problem.key(), form, seed));
    }
}

TEST_P(SlowCornerForceKernels, RandomConfigurationsEqualTheReference) {
    const int problems = GetParam() <= 4 ? 4 : 1;
    for (int i = 0; i < problems; ++i) expect_random_verified(GetParam());
}

TEST_P(SlowCornerForceKernels, LayersEqualTheReferenceInTheEmulator) {
    for (const char* const result : {"products", "points", "energy"})
        for (const int dimension : {2, 3}) {
            const Problem problem = parse(fmt::format("result={} dimension={} order={} zones={}", result, dimension, GetParam(), any(1, 2)));
            for (const char* const derivatives : {"staged", "direct"}) {
                const std::string sums = GetParam() > 1 ? any(0, 1) == 0 ? ",axis_sums=plain" : ",axis_sums=parity" : "";
                expect_verified(
                    *backend_, emulated_, problem,
                    member(emulated_.space(problem, {}), fmt::format("form=layered,zones_per_block=1,layers=1,derivatives={}{}", derivatives, sums)));
            }
        }
}

TEST_P(SlowCornerForceKernels, PairsOfPointsEqualTheReferenceInTheEmulator) {
    if (GetParam() == 1) return;  // two points of a row have no parity
    expect_emulated(fmt::format("dimension=3 order={} zones=1", GetParam()),
                    "form=layered,derivatives=paired,axis_sums=parity,zones_per_block=1,layers=2,point_data=async");
}

TEST_P(SlowCornerForceKernels, TeamsOfWarpsEqualTheReferenceInTheEmulator) {
    if (GetParam() == 1) return;
    const Problem problem = parse(fmt::format("dimension=3 order={} zones=1", GetParam()));
    for (const char* const config : {"layers=2,teams=2,team_layers=1", "layers=2,teams=1,team_layers=2,point_data=async"})
        expect_verified(*backend_, emulated_, problem, member(emulated_.space(problem, {}), std::string("form=teams,") + config));
}

TEST_P(SlowCornerForceKernels, SafeConfigurationsEqualTheReferenceInTheEmulator) {
    for (const int dimension : {2, 3}) {
        const Problem problem = parse(fmt::format("dimension={} order={} zones=1", dimension, GetParam()));
        expect_verified(*backend_, emulated_, problem, emulated_.space(problem, {}).safe());
    }
}

// What the register rule promises: a kernel within it does not live on spills (ptxas leaves up to a
// few words at the very bound).
TEST_F(SlowCornerForceCompilation, RepresentativeCudaKernelsCompileWithoutSpilling) {
    struct Representative {
        const char* problem;
        const char* config;
    };
    const std::vector<Representative> representatives{
        {"dimension=2 order=2", "form=force,zones_per_block=32,points_per_pass=2"},
        {"dimension=3 order=2", "zones_per_block=8,min_blocks=3"},
        {"dimension=3 order=2", "form=force,zones_per_block=2,splits=2,min_blocks=4"},
        {"dimension=3 order=2", "form=paper,columns_per_thread=8,rows_per_thread=3"},
        {"dimension=3 order=4", ""},
        {"dimension=3 order=4", "form=force,decomposition=jacobi"},
        {"dimension=3 order=8", ""},
        {"dimension=2 order=4", "form=layered,zones_per_block=2,layers=8"},
        {"dimension=3 order=2", "form=layered,zones_per_block=2,layers=2,min_blocks=8"},
        {"dimension=3 order=2", "form=layered,zones_per_block=2,layers=4,derivatives=direct,min_blocks=4"},
        {"dimension=3 order=2", "form=layered,zones_per_block=1,layers=4,derivatives=direct,point_data=async,min_blocks=8"},
        {"dimension=3 order=6", "form=layered,zones_per_block=1,layers=1"},
        {"dimension=3 order=7", "form=layered,zones_per_block=1,layers=1"},
        {"dimension=3 order=8", "form=layered,zones_per_block=1,layers=1"},
        {"dimension=3 order=4", "form=layered,zones_per_block=1,layers=2,axis_sums=parity"},
        {"dimension=3 order=8", "form=layered,zones_per_block=1,layers=1,axis_sums=parity"},
        {"dimension=3 order=4 precision=f32", "form=force,points_per_pass=2"},
        {"result=corner dimension=3 order=4", ""},
        {"result=corner dimension=3 order=4", "form=paper,rows_per_thread=2,columns_per_thread=16"},
        {"dimension=2 order=3", "form=streamed,passes=8"},
        {"dimension=2 order=4", "form=streamed,passes=8,w_in=shared"},
        {"dimension=3 order=4", "form=teams,layers=8,teams=4,team_layers=1,point_data=async"},
        {"dimension=3 order=8", "form=teams,layers=4,teams=2,team_layers=1,point_data=async"},
    };
    constexpr int few_bytes = 160;
    for (const int architecture : {80, 90, 100}) {
        std::unique_ptr<Compiler> compiler;
        try {
            compiler = make_nvrtc_compiler(fmt::format("sm_{}", architecture), cache_);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
        const Limits limits = cuda_limits(architecture);
        for (std::size_t i = 0; i < representatives.size(); i += architecture == 90 ? 1 : 3) {
            const Problem problem = parse(std::string(representatives[i].problem) + " zones=1000");
            const Config config = member(family().space(problem, limits), representatives[i].config);
            test::expect_few_spills(*compiler, family(), problem, config, limits, few_bytes);
        }
    }
}

class GpuCornerForce : public CornerForceKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, GpuCornerForce, ::testing::Range(1, 9));
TEST_P(GpuCornerForce, RandomConfigurationsEqualTheReference) {
    const std::unique_ptr<Backend> cuda = test::backend_or_skip("cuda", cache_);
    if (!cuda) return;
    for (int i = 0; i < 4; ++i) {
        const Problem problem = any_problem(GetParam());
        for (const Config& config : test::sample_members(*cuda, family(), problem, 2, random_())) expect_verified(*cuda, family(), problem, config);
    }
}

}  // namespace
}  // namespace hone::corner_force_test::kernels_test
