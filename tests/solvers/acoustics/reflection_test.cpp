#include "solvers/acoustics/reflection.hpp"

#include <gtest/gtest.h>

#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::seismic::reflection_test {
namespace {

// Bounds are twice what was measured for order 8 (0.04 to 1.5 % in 30 cells of 2D), so that they
// also hold for the other orders.
TEST(AbsorbingLayer, SendsLittleBack) {
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_cpu_backend(0, cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    KernelLibrary library(*backend, Database(built_in_families()), built_in_families(), [](const std::string&) {});
    // A layer of one cell is as good as none, and nearly all comes back: the measure sees what
    // there is.
    const auto none = measure_reflection(*backend, library, {.order = 4, .layer = 1}, 2, 12);
    EXPECT_GT(none[0].part, 0.2);
    EXPECT_GT(none[4].part, 0.3);
    double before = none[4].part;
    for (const int layer : {10, 30}) {
        const auto reflections = measure_reflection(*backend, library, {.order = 4, .layer = layer}, 2, 12);
        ASSERT_EQ(reflections.size(), 5U);
        EXPECT_LT(reflections[4].part, before / 2) << "a wider layer absorbs more";
        before = reflections[4].part;
        if (layer < 30) continue;
        for (const Reflection& reflection : reflections)
            EXPECT_LT(reflection.part, reflection.angle < 20 ? 0.001 : reflection.angle < 50 ? 0.005 : 0.02) << reflection.angle;
    }
    const auto solid = measure_reflection(*backend, library, {.order = 4, .kernels = "sweeps", .layer = 12}, 3, 8);
    EXPECT_LT(solid[0].part, 0.005);
    EXPECT_LT(solid[3].part, 0.06);
}

TEST(AbsorbingLayer, TheCheckHoldsBelowItsBoundsAlone) {
    EXPECT_TRUE(check_reflection({{0, 0.019}, {30, 0.019}, {60, 0.09}}).good);
    EXPECT_FALSE(check_reflection({{0, 0.019}, {30, 0.021}, {60, 0.09}}).good);
    EXPECT_FALSE(check_reflection({{0, 0.019}, {30, 0.019}, {60, 0.11}}).good);
}

}  // namespace
}  // namespace hone::solvers::seismic::reflection_test
