#include "solvers/acoustics/ricker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace hone::solvers::seismic::ricker_test {
namespace {

TEST(Ricker, IsTheDerivativeOfItsIntegral) {
    const Ricker ricker{7};
    constexpr double step = 1e-6;
    for (double time = 0; time < 0.5; time += 0.013)
        EXPECT_NEAR((ricker.integral(time + step) - ricker.integral(time - step)) / (2 * step), ricker(time), 1e-8);
    EXPECT_EQ(ricker(ricker.delay()), 1);
    EXPECT_LT(std::abs(ricker(0)), 1e-8);
}

// By its Fourier transform, summed up: the strongest amplitude at `frequency`, next to nothing
// beyond the highest.
TEST(Ricker, HasTheFrequencyThatItSays) {
    const Ricker ricker{5};
    const auto amplitude = [&](double frequency) {
        double real = 0, imaginary = 0;
        for (double time = 0; time < 2 * ricker.delay(); time += 1e-3) {
            real += ricker(time) * std::cos(2 * std::numbers::pi * frequency * time);
            imaginary += ricker(time) * std::sin(2 * std::numbers::pi * frequency * time);
        }
        return std::hypot(real, imaginary);
    };
    EXPECT_GT(amplitude(5), amplitude(4.9));
    EXPECT_GT(amplitude(5), amplitude(5.1));
    EXPECT_LT(amplitude(ricker.highest_frequency()), 0.011 * amplitude(5));
}

// The line of point sources that makes the 2D solution, summed up point by point.
TEST(ExactPressure, IsALineOfPointSourcesInTwoDimensions) {
    const Ricker ricker{10};
    constexpr double speed = 1500, distance = 300, step = 0.5;
    for (const double time : {0.15, 0.3, 0.35, 0.38, 0.5}) {
        double sum = 0;
        for (double along = -1500; along <= 1500; along += step) sum += exact_pressure(3, ricker, speed, std::hypot(distance, along), time) * step;
        EXPECT_NEAR(exact_pressure(2, ricker, speed, distance, time), sum, 1e-7) << time;
    }
    EXPECT_EQ(exact_pressure(3, ricker, speed, distance, ricker.delay() + distance / speed), 1 / (4 * std::numbers::pi * distance));
}

}  // namespace
}  // namespace hone::solvers::seismic::ricker_test
