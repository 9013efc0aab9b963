// Compiled kernels of dg_stage and dg_rk against the reference: CPU kernels as they are, CUDA
// kernels through the emulator, and through NVRTC for the resources that they take. All fused forms
// are compared with the same reference, and with each other.
#include "tests/generator/families/dg/kernels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generator/families/dg/rk/family.hpp"
#include "generator/families/dg/stage/family.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/verified.hpp"

namespace hone::dg_stage_test::kernels_test {
namespace {

class DgStageKernels : public test::DgKernels {
  protected:
    DgStageKernels() : DgKernels(dg_stage()) {}

    // res and q_next after one step of a configuration.
    std::vector<HostArray> stepped(const Family& which, const Problem& problem, const Config& config, const Workload& workload) {
        std::vector<HostArray> arrays = test::stepped(*backend_, which, problem, config, workload, 1);
        arrays.erase(arrays.begin(), arrays.end() - 2);
        return arrays;
    }

    // What fusing changes is where sums are rounded: once more in memory, or not.
    void expect_forms_equal(const Family& which, const std::string& way, const std::string& rest, const std::string& others) {
        const Problem problem = parse(rest);
        const SearchSpace space = which.space(problem, backend_->device().limits);
        const auto fused = [&](const char* how) { return member(space, fmt::format("form={}_{},{}", way, how, others)); };
        const Config separate = fused("separate"), update = fused("surface_update"), whole = fused("whole");
        const std::vector<test::NamedKernel> all{{which, problem, separate}, {which, problem, update}, {which, problem, whole}};
        test::verify_once(backend_->device().limits, "equal each other", all, [&] {
            const std::uint64_t seed = random_();
            const Workload workload = which.workload(problem, seed);
            const auto apart = stepped(which, problem, separate, workload);
            const double roundoff = problem.precision() == Precision::f32 ? 6e-8 : 1.2e-16;
            for (const Config& config : {update, whole}) {
                const auto together = stepped(which, problem, config, workload);
                // A handful of roundings of right-hand sides, which dt (at most 1/2) and then 1
                // leave at most half as large as the tolerance's own S.
                const double allowed = std::max(64 * roundoff, workload.tolerance / 2);
                for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(largest_difference(apart[i], together[i]), allowed) << config.key() << " seed " << seed;
            }
        });
    }
};

TEST_F(DgStageKernels, SafeCpuConfigurationEqualsTheReference) {
    expect_verified_on_cpu("equation=maxwell_3d order=2 precision=f32 materials=per_element elements=19", "");
    expect_verified_on_cpu("equation=maxwell_2d_tm order=3 precision=f64 elements=11", "form=vector_surface_update");
}

TEST_F(DgStageKernels, FusedFormsEqualTheSeparateOneToRounding) {
    expect_forms_equal(family(), "vector", "equation=maxwell_3d order=3 precision=f64 elements=29", "algebra=covariant,elements_per_tile=2");
    expect_forms_equal(test::emulated(test::without_assembly(family()), cuda_limits(90)), "tile",
                       "equation=acoustics_3d order=2 precision=f32 materials=per_element elements=29",
                       "algebra=cartesian,elements_per_block=16,unroll=2");
}

TEST_F(DgStageKernels, RandomConfigurationsEqualTheReference) {
    expect_random_verified_on_cpu(any_order());
    expect_random_emulated(any_order(3));
}

class SlowDgStageCpuKernels : public DgStageKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, SlowDgStageCpuKernels, ::testing::Range(1, 11));
TEST_P(SlowDgStageCpuKernels, EqualTheReference) {
    expect_random_verified_on_cpu(GetParam());
}

TEST_F(DgStageKernels, EveryFormEqualsTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=2 precision=f32 elements=37", "form=tile_whole");
    expect_emulated(
        "equation=maxwell_3d order=2 precision=f32 elements=37",
        "form=tile_whole,traces=shared,operator=shared,elements_per_block=8,nodes_per_thread=1,elements_per_thread=2,unroll=4,copy_width=4");
    expect_emulated("equation=acoustics_3d order=3 precision=f64 materials=per_element elements=11",
                    "form=tile_whole,traces=shared,algebra=cartesian");
    expect_emulated(
        "equation=maxwell_3d order=3 precision=f64 materials=per_element elements=21",
        "form=tile_surface_update,algebra=cartesian,elements_per_block=8,elements_per_thread=2,nodes_per_thread=2,unroll=2,operator=shared,"
        "copy_width=2");
    expect_emulated("equation=acoustics_3d order=2 precision=f32 materials=per_element elements=21",
                    "form=tile_whole,elements_per_block=16,nodes_per_thread=1,elements_per_thread=4,unroll=2,copy_width=4,operator=shared");
    expect_emulated("equation=maxwell_3d order=4 precision=f64 materials=per_element elements=5",
                    "form=mma_whole,elements_per_block=8,groups_per_warp=1,unrolled_steps=2");
    expect_emulated("equation=maxwell_2d_tm order=4 precision=f64 elements=13",
                    "form=tile_separate,elements_per_block=8,nodes_per_thread=2,unroll=4");
    expect_emulated("equation=maxwell_3d order=2 precision=f32 elements=150",
                    "form=tile_separate,elements_per_block=16,nodes_per_thread=1,operator=shared");
}

// Blocks of one warp and more, with elements beyond the last one; all parts of the nodes, and
// points of faces in flight beyond the last element.
const std::string whole_in_the_code = "form=immediate_whole,elements_per_block=32";

TEST_F(DgStageKernels, OperatorsInTheCodeEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=1 precision=f32 elements=37", whole_in_the_code + ",node_parts=1,points_in_flight=4,copy_width=4");
    expect_emulated("equation=maxwell_3d order=2 precision=f64 materials=per_element elements=35",
                    whole_in_the_code + ",node_parts=2,points_in_flight=6,copy_width=2");
    expect_emulated("equation=acoustics_3d order=2 precision=f32 materials=per_element elements=3",
                    whole_in_the_code + ",node_parts=1,points_in_flight=2,copy_width=1");
    expect_emulated("equation=maxwell_2d_tm order=2 precision=f32 elements=40", whole_in_the_code + ",node_parts=1,points_in_flight=4,copy_width=2");
}

TEST_F(DgStageKernels, AmplitudesInTheCodeEqualTheReferenceInTheEmulator) {
    const std::string lifted = whole_in_the_code + ",lift=amplitudes";
    expect_emulated("equation=maxwell_3d order=2 precision=f32 materials=per_element elements=37",
                    lifted + ",node_parts=2,points_in_flight=4,copy_width=4");
    expect_emulated("equation=maxwell_3d order=1 precision=f64 elements=33", lifted + ",node_parts=1,points_in_flight=2,copy_width=2");
    expect_emulated("equation=acoustics_3d order=2 precision=f64 materials=per_element elements=35",
                    lifted + ",node_parts=1,points_in_flight=2,copy_width=2");
    expect_emulated("equation=maxwell_2d_tm order=3 precision=f32 materials=per_element elements=40",
                    lifted + ",node_parts=1,points_in_flight=4,copy_width=2");
}

// All kinds of parts of a node's images: orders 2 and 3 have those that a reflection keeps.
TEST_F(DgStageKernels, PartsInTheCodeEqualTheReferenceInTheEmulator) {
    const std::string parts = "form=immediate_whole,elements_per_block=32,node_parts=1,lift=amplitudes,basis=double_parity,points_in_flight=2";
    expect_emulated("equation=maxwell_3d order=3 precision=f32 materials=per_element elements=37",
                    "form=immediate_whole,elements_per_block=32,node_parts=2,lift=amplitudes,basis=double_parity,points_in_flight=2,copy_width=4");
    expect_emulated("equation=acoustics_3d order=3 precision=f32 materials=per_element elements=35", parts + ",copy_width=1");
    expect_emulated("equation=acoustics_3d order=3 precision=f32 materials=per_element elements=70",
                    "form=immediate_whole,elements_per_block=32,node_parts=2,lift=amplitudes,basis=double_parity,points_in_flight=12,copy_width=4,"
                    "asked_ahead=384");
    expect_emulated("equation=maxwell_3d order=2 precision=f64 elements=33", parts + ",copy_width=2");
    expect_emulated("equation=acoustics_3d order=1 precision=f64 elements=40", parts + ",copy_width=1");
}

// 4 and 8 lanes along the nodes; elements beyond the last one; nodes beyond the last one of a tile.
TEST_F(DgStageKernels, TilesOfWarpsEqualTheReferenceInTheEmulator) {
    expect_emulated(
        "equation=maxwell_3d order=4 precision=f32 materials=per_element elements=21",
        "form=warp_tile_whole,basis=parity,operator=shared,elements_per_block=16,nodes_per_thread=4,elements_per_thread=1,node_lanes=2,unroll=2,"
        "copy_width=2");
    expect_emulated("equation=maxwell_3d order=4 precision=f32 materials=per_element elements=21",
                    "form=warp_tile_whole,basis=double_parity,operator=shared,elements_per_block=16,nodes_per_thread=4,elements_per_thread=1,node_"
                    "lanes=2,unroll=2,"
                    "copy_width=2");
    expect_emulated("equation=acoustics_3d order=5 precision=f32 materials=per_element elements=9",
                    "form=warp_tile_whole,basis=double_parity,gathers=copies,elements_per_block=16,nodes_per_thread=2,elements_per_thread=2,"
                    "node_lanes=4,unroll=4,copy_width=4");
    expect_emulated("equation=acoustics_3d order=5 precision=f32 elements=9",
                    "form=warp_tile_whole,basis=parity,gathers=copies,elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,node_lanes=4,"
                    "unroll=4,copy_width=4");
    expect_emulated(
        "equation=maxwell_2d_tm order=6 precision=f64 elements=11",
        "form=warp_tile_whole,basis=parity,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=4,unroll=2,copy_width=2");
    expect_emulated(
        "equation=maxwell_3d order=4 precision=f32 elements=19",
        "form=warp_tile_whole,gathers=copies,elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,node_lanes=4,unroll=4,copy_width=2");
    expect_emulated("equation=acoustics_3d order=4 precision=f64 materials=per_element elements=5",
                    "form=warp_tile_whole,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=8,unroll=2,copy_width=2");
    expect_emulated("equation=maxwell_2d_tm order=5 precision=f32 materials=per_element elements=9",
                    "form=warp_tile_whole,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=4,unroll=2,copy_width=1");
}

// Parts beside the fields, with either basis, with the operators in shared memory and without.
TEST_F(DgStageKernels, PartsBesideTheFieldsEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=4 precision=f32 materials=per_element elements=21",
                    "form=warp_tile_whole,basis=double_parity,operator=shared,parts=apart,elements_per_block=16,nodes_per_thread=4,"
                    "elements_per_thread=1,node_lanes=2,unroll=2,copy_width=4");
    expect_emulated("equation=acoustics_3d order=5 precision=f64 elements=9",
                    "form=warp_tile_whole,basis=double_parity,parts=apart,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=4,"
                    "unroll=2,copy_width=2");
    expect_emulated("equation=maxwell_2d_tm order=8 precision=f32 materials=per_element elements=21",
                    "form=warp_tile_whole,basis=parity,operator=shared,parts=apart,elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,"
                    "node_lanes=4,unroll=2,copy_width=4");
}

// D in shared memory by a bulk copy, LIFT by loads: with either basis, and in both precisions.
TEST_F(DgStageKernels, DerivativesInBulkEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=acoustics_3d order=5 precision=f32 materials=per_element elements=19",
                    "form=warp_tile_whole,basis=double_parity,operator=derivatives,elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,"
                    "node_lanes=4,unroll=2,copy_width=2");
    expect_emulated("equation=maxwell_3d order=4 precision=f64 elements=11",
                    "form=warp_tile_whole,basis=double_parity,operator=derivatives,parts=apart,elements_per_block=8,nodes_per_thread=2,"
                    "elements_per_thread=1,node_lanes=4,unroll=2,copy_width=2");
    expect_emulated("equation=maxwell_2d_tm order=7 precision=f32 elements=9",
                    "form=warp_tile_whole,basis=parity,operator=derivatives,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,"
                    "node_lanes=4,unroll=2,copy_width=4");
}

// Coefficients that a warp asks for some trips ahead.
TEST_F(DgStageKernels, CoefficientsOnTheirWayEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=acoustics_3d order=5 precision=f32 materials=per_element elements=19",
                    "form=warp_tile_whole,basis=double_parity,operator=staged,elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,"
                    "node_lanes=4,unroll=4,copy_width=2");
    expect_emulated("equation=maxwell_3d order=5 precision=f32 elements=11",
                    "form=warp_tile_whole,basis=double_parity,operator=staged,parts=apart,elements_per_block=16,nodes_per_thread=4,"
                    "elements_per_thread=1,node_lanes=2,unroll=2,copy_width=2");
}

// Copies of a block's words where they do not divide an element's: the last block is not whole.
TEST_F(DgStageKernels, CopiesOfBlocksEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=4 precision=f32 materials=per_element elements=21",
                    "form=warp_tile_whole,basis=double_parity,operator=shared,elements_per_block=16,nodes_per_thread=4,elements_per_thread=1,node_"
                    "lanes=2,unroll=2,copy_width=4");
    expect_emulated(
        "equation=maxwell_2d_tm order=8 precision=f32 materials=per_element elements=13",
        "form=warp_tile_whole,basis=parity,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=8,unroll=2,copy_width=4");
    expect_emulated("equation=maxwell_2d_tm order=8 precision=f64 elements=13",
                    "form=warp_tile_whole,basis=parity,gathers=copies,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=8,"
                    "unroll=2,copy_width=2");
}

// With one term alone the same configuration is refused: the bound is that of f32.
TEST_F(DgStageKernels, ThreeTermsOfTf32EqualTheReferenceInTheEmulatorAndOneDoesNot) {
    const std::string rest = "equation=maxwell_3d order=3 precision=f32 materials=per_element arithmetic=f32_accurate elements=21";
    const std::string text = "form=tf32_whole,elements_per_block=16,groups_per_warp=2,unrolled_steps=2,copy_width=4";
    expect_emulated(rest, text);
    const Family one_term = test::emulated(test::without_assembly(dg_stage(), test::Tf32::one_term), cuda_limits(90));
    const Problem problem = parse(rest);
    const Config config = member(one_term.space(problem, {}), text);
    test::verify_once({}, "is refused", {{one_term, problem, config}}, [&] {
        const test::Verification one = test::verify(*backend_, one_term, problem, config, random_());
        EXPECT_FALSE(one.passed()) << one.what << ": error " << one.error << ", allowed " << one.tolerance;
    });
}

// Right-hand sides replace the fields where each warp has one task (order 5), and have a place of
// their own elsewhere.
TEST_F(DgStageKernels, MatrixUnitsOnCopiedFieldsEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=5 precision=f64 materials=per_element elements=5",
                    "form=mma_whole,lift=amplitudes,gathers=copies,elements_per_block=8,groups_per_warp=1,unrolled_steps=1,copy_width=2");
    expect_emulated("equation=acoustics_3d order=4 precision=f32 arithmetic=f32_accurate elements=9",
                    "form=tf32_whole,lift=amplitudes,gathers=loads,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,copy_width=4");
}

// Even and odd parts, of which one row of tiles is padded; right-hand sides in place (order 4) and
// apart.
TEST_F(DgStageKernels, PartsOnMatrixUnitsEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=4 precision=f64 materials=per_element elements=5",
                    "form=mma_whole,lift=amplitudes,basis=parity,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,copy_width=2");
    expect_emulated("equation=maxwell_3d order=4 precision=f64 materials=per_element elements=13",
                    "form=mma_whole,lift=amplitudes,basis=double_parity,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,copy_width=2");
    expect_emulated("equation=acoustics_3d order=5 precision=f32 arithmetic=f32_accurate materials=per_element elements=19",
                    "form=tf32_whole,lift=amplitudes,basis=double_parity,gathers=copies,elements_per_block=16,groups_per_warp=2,unrolled_steps=1,"
                    "copy_width=4");
    expect_emulated(
        "equation=acoustics_3d order=4 precision=f32 arithmetic=f32_accurate elements=19",
        "form=tf32_whole,lift=amplitudes,basis=parity,gathers=copies,elements_per_block=16,groups_per_warp=2,unrolled_steps=1,copy_width=4");
    expect_emulated(
        "equation=maxwell_2d_tm order=7 precision=f64 elements=9",
        "form=mma_whole,algebra=cartesian,lift=amplitudes,basis=parity,elements_per_block=8,groups_per_warp=1,unrolled_steps=1,copy_width=1");
}

// Operators in shared memory and in global memory, parts in the fields' place and apart, elements
// beyond the last one.
TEST_F(DgStageKernels, SmallTilesOfMatrixUnitsEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=4 precision=f64 elements=11",
                    "form=mma8_whole,operator=shared,elements_per_block=8,copy_width=2,stores=streaming");
    expect_emulated("equation=acoustics_3d order=5 precision=f64 materials=per_element elements=19",
                    "form=mma8_whole,operator=global,parts=apart,elements_per_block=16,nodes_per_thread=4,unrolled_steps=2,copy_width=1");
    expect_emulated("equation=maxwell_3d order=3 precision=f64 materials=per_element elements=9",
                    "form=mma8_whole,operator=derivatives,parts=apart,elements_per_block=8,copy_width=2");
}

using SlowDgStageKernels = DgStageKernels;

TEST_F(SlowDgStageKernels, OperatorsInTheCodeServeEveryFormAndEquation) {
    expect_emulated("equation=maxwell_3d order=3 precision=f64 elements=35", whole_in_the_code + ",node_parts=2,points_in_flight=1,copy_width=2");
    expect_emulated("equation=maxwell_3d order=3 precision=f32 materials=per_element elements=71",
                    whole_in_the_code + ",node_parts=4,points_in_flight=2,copy_width=4");
    expect_emulated("equation=acoustics_3d order=3 precision=f64 elements=33", whole_in_the_code + ",node_parts=2,points_in_flight=4,copy_width=2");
    expect_emulated("equation=maxwell_3d order=3 precision=f64 elements=35",
                    whole_in_the_code + ",lift=amplitudes,node_parts=2,points_in_flight=4,copy_width=2");
    expect_emulated("equation=acoustics_3d order=3 precision=f32 elements=33",
                    whole_in_the_code + ",lift=amplitudes,node_parts=4,points_in_flight=4,copy_width=4");
    expect_emulated("equation=maxwell_2d_tm order=6 precision=f32 elements=33",
                    whole_in_the_code + ",lift=amplitudes,node_parts=2,points_in_flight=2,copy_width=4");
    expect_emulated("equation=maxwell_2d_tm order=6 precision=f64 materials=per_element elements=33",
                    whole_in_the_code + ",node_parts=4,points_in_flight=1,copy_width=2");
    for (const char* fused : {"separate", "surface_update"})
        expect_emulated("equation=maxwell_3d order=2 precision=f32 materials=per_element elements=65",
                        fmt::format("form=immediate_{},elements_per_block=64,node_parts=1,points_in_flight=4,copy_width=4", fused));
}

// All orders that have the form, each with another equation, precision and tile.
TEST_F(SlowDgStageKernels, TilesOfWarpsServeEveryOrderAndEquation) {
    expect_emulated("equation=maxwell_3d order=5 precision=f32 materials=per_element elements=11",
                    "form=warp_tile_whole,elements_per_block=8,nodes_per_thread=4,elements_per_thread=2,node_lanes=8,unroll=4,copy_width=4");
    expect_emulated(
        "equation=acoustics_3d order=6 precision=f32 elements=17",
        "form=warp_tile_whole,gathers=copies,elements_per_block=16,nodes_per_thread=8,elements_per_thread=2,node_lanes=4,unroll=4,copy_width=4");
    expect_emulated("equation=maxwell_3d order=7 precision=f32 elements=5",
                    "form=warp_tile_whole,elements_per_block=4,nodes_per_thread=4,elements_per_thread=2,node_lanes=16,unroll=2,copy_width=4");
    expect_emulated(
        "equation=maxwell_3d order=8 precision=f32 elements=9",
        "form=warp_tile_whole,gathers=copies,elements_per_block=8,nodes_per_thread=4,elements_per_thread=2,node_lanes=8,unroll=2,copy_width=2");
    expect_emulated("equation=acoustics_3d order=9 precision=f64 elements=3",
                    "form=warp_tile_whole,elements_per_block=4,nodes_per_thread=2,elements_per_thread=1,node_lanes=8,unroll=2,copy_width=2");
    expect_emulated("equation=maxwell_3d order=10 precision=f32 elements=5",
                    "form=warp_tile_whole,elements_per_block=4,nodes_per_thread=8,elements_per_thread=2,node_lanes=16,unroll=4,copy_width=4");
    expect_emulated(
        "equation=maxwell_2d_tm order=10 precision=f64 elements=9",
        "form=warp_tile_whole,gathers=copies,elements_per_block=8,nodes_per_thread=4,elements_per_thread=1,node_lanes=4,unroll=2,copy_width=2");
    expect_emulated("equation=maxwell_2d_tm order=7 precision=f32 elements=33",
                    "form=warp_tile_whole,elements_per_block=32,nodes_per_thread=2,elements_per_thread=2,node_lanes=2,unroll=4,copy_width=4");
}

TEST_F(SlowDgStageKernels, MatrixUnitsServeEveryEquationAndPrecision) {
    expect_emulated("equation=acoustics_3d order=3 precision=f32 arithmetic=f32_accurate elements=21",
                    "form=tf32_surface_update,elements_per_block=8");
    expect_emulated("equation=maxwell_2d_tm order=7 precision=f64 elements=9", "form=mma_whole,elements_per_block=8");
    expect_emulated("equation=maxwell_2d_tm order=6 precision=f64 elements=19", "form=mma_whole,elements_per_block=16,copy_width=2,min_blocks=2");
    expect_emulated("equation=maxwell_2d_tm order=5 precision=f32 arithmetic=f32_accurate elements=19", "form=tf32_whole,elements_per_block=8");
}

TEST_F(SlowDgStageKernels, RandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    for (int order = 1; order <= 4; ++order) expect_random_emulated(order);
}

TEST_F(SlowDgStageKernels, RepresentativeCudaKernelsCompileWithoutSpilling) {
    expect_few_spills({
        {"equation=maxwell_3d order=1 precision=f32", "form=tile_whole,elements_per_block=64,copy_width=4,unroll=4,operator=shared"},
        {"equation=maxwell_3d order=2 precision=f32",
         "form=tile_whole,traces=shared,elements_per_block=32,copy_width=4,unroll=4,operator=shared,min_blocks=2"},
        {"equation=maxwell_3d order=3 precision=f64", "form=tile_whole,traces=shared,elements_per_block=8,copy_width=2,unroll=2"},
        {"equation=maxwell_3d order=2 precision=f64", "form=tile_whole,elements_per_block=32,copy_width=2,unroll=2,operator=shared,min_blocks=2"},
        {"equation=maxwell_3d order=3 precision=f32",
         "form=tile_whole,elements_per_block=16,elements_per_thread=2,unroll=4,copy_width=4,min_blocks=3"},
        {"equation=maxwell_3d order=5 precision=f32",
         "form=warp_tile_whole,elements_per_block=16,nodes_per_thread=4,elements_per_thread=2,node_lanes=8,unroll=4,copy_width=4,min_blocks=2"},
        {"equation=acoustics_3d order=9 precision=f32 materials=per_element",
         "form=warp_tile_whole,gathers=copies,elements_per_block=16,nodes_per_thread=8,elements_per_thread=2,node_lanes=4,unroll=2"},
        {"equation=maxwell_3d order=6 precision=f64",
         "form=mma_whole,lift=amplitudes,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,min_blocks=2"},
        {"equation=maxwell_3d order=4 precision=f64", "form=mma8_whole,operator=shared,elements_per_block=8,copy_width=2,min_blocks=3"},
        {"equation=maxwell_3d order=3 precision=f64", "form=immediate_whole,lift=amplitudes,elements_per_block=32,node_parts=2"},
        {"equation=maxwell_3d order=10 precision=f64 materials=per_element", ""},
        {"equation=maxwell_3d order=7 precision=f32 materials=per_element",
         "form=tile_whole,elements_per_block=8,elements_per_thread=4,nodes_per_thread=2,unroll=4,copy_width=4,min_blocks=2"},
        {"equation=maxwell_3d order=7 precision=f64",
         "form=tile_surface_update,algebra=cartesian,elements_per_block=8,elements_per_thread=2,nodes_per_thread=2,unroll=2,copy_width=2"},
        {"equation=acoustics_3d order=4 precision=f64 materials=per_element",
         "form=tile_whole,elements_per_block=16,elements_per_thread=2,unroll=2,copy_width=2"},
        {"equation=maxwell_3d order=7 precision=f64", "form=mma_whole,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,copy_width=2"},
        {"equation=maxwell_3d order=6 precision=f64 materials=per_element",
         "form=mma_whole,elements_per_block=16,groups_per_warp=2,unrolled_steps=2,copy_width=2"},
        {"equation=maxwell_3d order=7 precision=f32 arithmetic=f32_accurate",
         "form=tf32_whole,elements_per_block=16,groups_per_warp=2,unrolled_steps=2,copy_width=4"},
        {"equation=maxwell_3d order=4 precision=f32 arithmetic=f32_accurate materials=per_element",
         "form=tf32_whole,elements_per_block=32,groups_per_warp=4,copy_width=2"},
        {"equation=maxwell_2d_tm order=5 precision=f32", "form=tile_whole,elements_per_block=32,elements_per_thread=4,unroll=4,copy_width=1"},
        {"equation=maxwell_3d order=1 precision=f32",
         "form=immediate_whole,elements_per_block=64,node_parts=1,points_in_flight=4,copy_width=4,min_blocks=4"},
        {"equation=maxwell_3d order=2 precision=f64",
         "form=immediate_whole,elements_per_block=32,node_parts=2,points_in_flight=2,copy_width=2,min_blocks=2"},
        {"equation=maxwell_3d order=3 precision=f32",
         "form=immediate_whole,elements_per_block=32,node_parts=2,points_in_flight=4,copy_width=4,min_blocks=3"},
        {"equation=maxwell_3d order=3 precision=f32",
         "form=immediate_whole,elements_per_block=32,node_parts=2,points_in_flight=6,copy_width=4,min_blocks=2"},
        {"equation=maxwell_3d order=3 precision=f64",
         "form=immediate_whole,elements_per_block=32,node_parts=2,points_in_flight=2,copy_width=2,min_blocks=1"},
        {"equation=acoustics_3d order=3 precision=f64 materials=per_element",
         "form=immediate_whole,elements_per_block=32,node_parts=2,points_in_flight=4,copy_width=2,min_blocks=2"},
    });
}

// The units on the device, which the random ones of the next suite need not meet.
class GpuDgTf32 : public DgStageKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, GpuDgTf32, ::testing::Values(3, 4, 7, 10));
TEST_P(GpuDgTf32, ThreeTermsEqualTheReference) {
    const std::unique_ptr<Backend> cuda = test::backend_or_skip("cuda", cache_);
    if (!cuda) return;
    const Problem problem = parse(fmt::format("equation=maxwell_3d order={} precision=f32 arithmetic=f32_accurate elements=1371", GetParam()));
    const SearchSpace space = family().space(problem, cuda->device().limits);
    for (const char* form : {"form=tf32_surface_update", "form=tf32_whole,unrolled_steps=2"})
        expect_verified(*cuda, family(), problem, member(space, fmt::format("elements_per_block=8,groups_per_warp=1,{}", form)));
}

// Operators in the code on the device: few random configurations of the next suite have them.
// Blocks of several warps and a last one that is not full.
class GpuDgImmediate : public DgStageKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, GpuDgImmediate, ::testing::Values(1, 2, 3));
TEST_P(GpuDgImmediate, OperatorsInTheCodeEqualTheReference) {
    const std::unique_ptr<Backend> cuda = test::backend_or_skip("cuda", cache_);
    if (!cuda) return;
    int verified = 0;
    for (const char* equation : {"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"})
        for (const char* precision : {"f32", "f64"})
            for (const char* form : {"form=immediate_whole,node_parts=1", "form=immediate_whole,node_parts=2"}) {
                const Problem problem = parse(fmt::format("equation={} order={} precision={} elements=1371", equation, GetParam(), precision));
                const SearchSpace space = family().space(problem, cuda->device().limits);
                const Config config = space.parse(fmt::format("{},elements_per_block=32,points_in_flight=2,copy_width=1", form));
                if (space.check(config)) continue;  // some take more registers than a thread has
                expect_verified(*cuda, family(), problem, config);
                ++verified;
            }
    EXPECT_GE(verified, 12);  // of 18
}

class GpuDgStage : public DgStageKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, GpuDgStage, ::testing::Range(1, 11));
TEST_P(GpuDgStage, RandomConfigurationsEqualTheReference) {
    expect_random_verified_on_gpu(GetParam());
}

class DgRkKernels : public test::DgKernels {
  protected:
    DgRkKernels() : DgKernels(dg_rk()) {}
};

TEST_F(DgRkKernels, EqualTheReference) {
    expect_verified_on_cpu("equation=maxwell_3d order=2 precision=f32 elements=71", "");
    expect_random_verified_on_cpu(3);
    expect_emulated("equation=maxwell_3d order=1 precision=f32 elements=37", "elements_per_block=8,block=64,copy_width=4");
    expect_emulated("equation=maxwell_2d_tm order=1 precision=f64 elements=137", "");
    // Nine words an element: copies across elements, and what is before and behind them.
    expect_emulated("equation=maxwell_2d_tm order=1 precision=f32 elements=137", "elements_per_block=16,block=64,copy_width=4");
    expect_emulated("equation=maxwell_2d_tm order=1 precision=f64 elements=137", "elements_per_block=32,block=64,copy_width=2");
}

class GpuDgRk : public DgRkKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, GpuDgRk, ::testing::Range(1, 11));
TEST_P(GpuDgRk, RandomConfigurationsEqualTheReference) {
    expect_random_verified_on_gpu(GetParam());
}

}  // namespace
}  // namespace hone::dg_stage_test::kernels_test
