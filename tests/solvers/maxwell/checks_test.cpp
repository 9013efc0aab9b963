#include "solvers/maxwell/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::solvers::maxwell::checks_test {
namespace {

using testing::HasSubstr;

TEST(WaveChecks, TheEnergyMayGrowByRoundingAlone) {
    const auto of = [](double last, Precision precision) { return check_energy({.energy = {{0, 2}, {1, 1.5}, {2, last}}}, precision); };
    EXPECT_TRUE(of(1.5, Precision::f64).good);
    EXPECT_TRUE(of(1.5 + 1e-14, Precision::f64).good);
    EXPECT_FALSE(of(1.5 + 1e-13, Precision::f64).good);
    EXPECT_TRUE(of(1.5 + 1e-6, Precision::f32).good);
    EXPECT_FALSE(of(1.5 + 1e-4, Precision::f32).good);
    EXPECT_EQ(of(1.25, Precision::f64).text, "energy 2 at first, 1.25 at the end, never grew by more than 7.1e-15 of the first");
    EXPECT_THAT(of(1.75, Precision::f64).text, HasSubstr(", but by 1.25e-01"));
}

TEST(WaveChecks, AKnownErrorIsComparedWhereTheRunIsTheSame) {
    WaveCase of;  // maxwell_3d of order 3
    const WaveRunSettings settings{.step_part = 0.5};
    const WaveRunResult result{.done = 50, .dt = 0.01};
    const auto check = check_known_error(1.388e-2, of, 4, settings, result);
    ASSERT_TRUE(check);
    EXPECT_TRUE(check->good);
    EXPECT_FALSE(check_known_error(1.41e-2, of, 4, settings, result)->good);
    EXPECT_FALSE(check_known_error(1.388e-2, of, 5, settings, result));
    EXPECT_FALSE(check_known_error(1.388e-2, of, 4, {.step_part = 0.4}, result));
    EXPECT_FALSE(check_known_error(1.388e-2, of, 4, settings, {.done = 51, .dt = 0.01}));
    of.order = 4;
    EXPECT_FALSE(check_known_error(1.388e-2, of, 4, settings, result));
    of.order = 3, of.precision = Precision::f32;
    EXPECT_FALSE(check_known_error(1.388e-2, of, 4, settings, result));
}

}  // namespace
}  // namespace hone::solvers::maxwell::checks_test
