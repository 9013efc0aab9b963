#include "tuner/sharing/greenup.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hone::greenup_test {
namespace {

TEST(Greenup, IsPowerupTimesSpeedUpAndTheRatioOfEnergies) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(0.1, 1000);
    for (int repetition = 0; repetition < 100; ++repetition) {
        const double cpu_watts = value(random);
        const double gpu_watts = value(random);
        const TimeAndPower cpu{value(random), cpu_watts};
        const TimeAndPower hybrid{value(random), cpu_watts + gpu_watts};
        const Gains gains = gains_over(cpu, hybrid);
        EXPECT_DOUBLE_EQ(gains.powerup, cpu_watts / (cpu_watts + gpu_watts)) << "seed " << seed;
        EXPECT_DOUBLE_EQ(gains.speed_up, cpu.seconds / hybrid.seconds) << "seed " << seed;
        EXPECT_NEAR(gains.greenup / (cpu.joules() / hybrid.joules()), 1, 1e-12) << "seed " << seed;
    }
}

TEST(Greenup, OfTheReferenceItselfIsOne) {
    const Gains gains = gains_over({2, 100}, {2, 100});
    EXPECT_EQ(gains.speed_up, 1);
    EXPECT_EQ(gains.powerup, 1);
    EXPECT_EQ(gains.greenup, 1);
}

TEST(Greenup, OfAFasterAndHungrierDeviceWeighsBoth) {
    const Gains gains = gains_over({1.0, 200}, {0.1, 800});
    EXPECT_DOUBLE_EQ(gains.speed_up, 10);
    EXPECT_DOUBLE_EQ(gains.powerup, 0.25);
    EXPECT_DOUBLE_EQ(gains.greenup, 2.5);
}

}  // namespace
}  // namespace hone::greenup_test
