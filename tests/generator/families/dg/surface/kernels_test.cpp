// Compiled kernels of dg_surface against the reference: CPU kernels as they are, CUDA kernels
// through the emulator, and through NVRTC for the resources that they take.
#include "tests/generator/families/dg/kernels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "generator/families/dg/surface/family.hpp"

namespace hone::dg_surface_test::kernels_test {
namespace {

class DgSurfaceKernels : public test::DgKernels {
  protected:
    DgSurfaceKernels() : DgKernels(dg_surface()) {}
};

TEST_F(DgSurfaceKernels, SafeCpuConfigurationEqualsTheReference) {
    for (const char* rest :
         {"equation=maxwell_3d order=2 precision=f64 materials=per_element elements=19", "equation=acoustics_3d order=5 precision=f32 elements=11",
          "equation=maxwell_2d_tm order=3 precision=f32 materials=per_element elements=23"})
        expect_verified_on_cpu(rest, "");
}

TEST_F(DgSurfaceKernels, RandomConfigurationsEqualTheReference) {
    expect_random_verified_on_cpu(any_order());
    expect_random_emulated(any_order(3));
}

class SlowDgSurfaceCpuKernels : public DgSurfaceKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, SlowDgSurfaceCpuKernels, ::testing::Range(1, 11));
TEST_P(SlowDgSurfaceCpuKernels, EqualTheReference) {
    expect_random_verified_on_cpu(GetParam());
}

TEST_F(DgSurfaceKernels, EveryFormEqualsTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=2 precision=f32 elements=37", "");
    expect_emulated("equation=maxwell_3d order=3 precision=f64 materials=per_element elements=21",
                    "elements_per_block=8,elements_per_thread=2,nodes_per_thread=2,unroll=4,operator=shared,copy_width=2");
    expect_emulated("equation=acoustics_3d order=2 precision=f32 materials=per_element elements=21",
                    "elements_per_block=16,elements_per_thread=4,nodes_per_thread=1,unroll=2,copy_width=4");
    expect_emulated("equation=maxwell_3d order=3 precision=f32 materials=per_element elements=37",
                    "form=immediate,elements_per_block=32,node_parts=2,points_in_flight=2,copy_width=4");
    expect_emulated("equation=acoustics_3d order=1 precision=f64 elements=70",
                    "form=immediate,elements_per_block=64,points_in_flight=4,copy_width=2");
    expect_emulated("equation=maxwell_2d_tm order=3 precision=f32 elements=13",
                    "elements_per_block=32,elements_per_thread=1,nodes_per_thread=2,unroll=4,copy_width=2");
    expect_emulated("equation=acoustics_3d order=4 precision=f64 materials=per_element elements=11",
                    "form=mma,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,copy_width=2");
    expect_emulated("equation=maxwell_3d order=4 precision=f32 materials=per_element elements=11",
                    "form=warp_tile,elements_per_block=8,nodes_per_thread=4,elements_per_thread=1,node_lanes=4,unroll=4,copy_width=2");
    expect_emulated("equation=maxwell_3d order=2 precision=f32 materials=per_element elements=37",
                    "form=immediate,lift=amplitudes,basis=double_parity,elements_per_block=32,node_parts=1,points_in_flight=2,copy_width=4");
}

// Rows of LIFT by parts, where there is no volume part.
TEST_F(DgSurfaceKernels, PartsEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=4 precision=f32 materials=per_element elements=21",
                    "form=warp_tile,basis=double_parity,operator=shared,elements_per_block=16,nodes_per_thread=4,elements_per_thread=1,node_lanes=2,"
                    "unroll=2,copy_width=2");
    expect_emulated("equation=acoustics_3d order=5 precision=f64 elements=9",
                    "form=warp_tile,basis=double_parity,elements_per_block=8,nodes_per_thread=2,elements_per_thread=2,node_lanes=8,unroll=4,"
                    "copy_width=2");
    expect_emulated("equation=maxwell_3d order=4 precision=f32 elements=11",
                    "form=warp_tile,basis=parity,operator=shared,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=4,unroll=4,"
                    "copy_width=1");
    expect_emulated("equation=maxwell_2d_tm order=8 precision=f32 materials=per_element elements=37",
                    "form=warp_tile,basis=parity,elements_per_block=32,nodes_per_thread=4,elements_per_thread=2,node_lanes=2,unroll=2,copy_width=1");
}

using SlowDgSurfaceKernels = DgSurfaceKernels;

TEST_F(SlowDgSurfaceKernels, MatrixUnitsServeTheFewestNodes) {
    expect_emulated("equation=maxwell_2d_tm order=6 precision=f64 elements=19", "form=mma,elements_per_block=16,min_blocks=2");
}

TEST_F(SlowDgSurfaceKernels, RandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    for (int order = 1; order <= 5; ++order) expect_random_emulated(order);
}

TEST_F(SlowDgSurfaceKernels, RepresentativeCudaKernelsCompileWithoutSpilling) {
    expect_few_spills({
        {"equation=maxwell_3d order=1 precision=f32", "elements_per_block=64,copy_width=4,unroll=4,operator=shared"},
        {"equation=maxwell_3d order=3 precision=f32", "elements_per_block=16,elements_per_thread=2,unroll=4,copy_width=4,min_blocks=4"},
        {"equation=maxwell_3d order=10 precision=f64 materials=per_element", ""},
        {"equation=maxwell_3d order=7 precision=f32 materials=per_element",
         "elements_per_block=8,elements_per_thread=4,nodes_per_thread=2,unroll=4,copy_width=4,min_blocks=2"},
        {"equation=maxwell_3d order=7 precision=f64", "elements_per_block=8,elements_per_thread=2,nodes_per_thread=2,unroll=2,copy_width=2"},
        {"equation=acoustics_3d order=4 precision=f64 materials=per_element", "elements_per_block=16,elements_per_thread=2,unroll=2,copy_width=2"},
        {"equation=maxwell_3d order=8 precision=f64", "form=mma,elements_per_block=8,groups_per_warp=1,unrolled_steps=2,copy_width=2"},
        {"equation=maxwell_2d_tm order=5 precision=f32", "elements_per_block=32,elements_per_thread=4,unroll=4,copy_width=1"},
    });
}

class GpuDgSurface : public DgSurfaceKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, GpuDgSurface, ::testing::Range(1, 11));
TEST_P(GpuDgSurface, RandomConfigurationsEqualTheReference) {
    expect_random_verified_on_gpu(GetParam());
}

}  // namespace
}  // namespace hone::dg_surface_test::kernels_test
