#include "runtime/power.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/fake_powercap.hpp"

namespace hone::power_test {
namespace {

using test::FakeMachine;
using test::FakePowercap;
using testing::HasSubstr;

Device device_of(Target target) {
    Device device;
    device.limits.target = target;
    return device;
}

PowerSource made_up(PowerSource::Kind kind, double lag) {
    return {"made up", "made up", kind, lag, 1e-3, [] { return std::optional(1.0); }};
}

/// Readings every 5 ms, with some jitter, of a counter that is renewed every `update` seconds by a
/// power that is `watts` after a ramp of 50 ms.
std::vector<PowerReading> counted(double watts, double seconds, double update, std::mt19937_64& random) {
    std::vector<PowerReading> readings;
    std::uniform_real_distribution<double> jitter(0, 0.002);
    const auto joules = [&](double t) { return t < 0.05 ? 0.5 * watts * t * t / 0.05 : watts * (t - 0.025); };
    const double phase = update * jitter(random) / 0.002;
    for (double t = 0; t < seconds; t += 0.005 + jitter(random)) readings.push_back({t, joules(std::floor((t + phase) / update) * update - phase)});
    return readings;
}

TEST(MeanPower, OfASlowCounterIsKnownToAReadingInterval) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (int repetition = 0; repetition < 100; ++repetition) {
        const double watts = 50 + static_cast<double>(random() % 600);
        const double update = repetition % 2 == 0 ? 0.1 : 0.02;
        const auto power = mean_power(made_up(PowerSource::Kind::joules, 0.1), counted(watts, 1.0, update, random));
        ASSERT_TRUE(power) << "seed " << seed;
        // Each end of the period is known to the 7 ms between two readings.
        EXPECT_NEAR(power->watts / watts, 1, 0.014 / power->seconds) << "seed " << seed;
        EXPECT_GE(power->seconds, 0.6) << "seed " << seed;
        EXPECT_NEAR(power->resolution_seconds, update, 0.3 * update) << "seed " << seed;
        EXPECT_NEAR(power->samples_per_second, 1 / 0.006, 20) << "seed " << seed;
        EXPECT_DOUBLE_EQ(power->resolution_watts, 1e-3 / power->seconds);
        EXPECT_LE(power->windows.size(), 8U);
        for (const double window : power->windows) EXPECT_NEAR(window / watts, 1, 0.6) << "seed " << seed;
    }
}

TEST(MeanPower, OfMomentaryPowerIsIntegratedWithoutItsStart) {
    std::vector<PowerReading> readings;
    for (int i = 0; i <= 100; ++i) readings.push_back({3 + 0.01 * i, i < 50 ? 100.0 : i < 75 ? 400.0 : 500.0});
    const auto power = mean_power(made_up(PowerSource::Kind::watts, 0.4999), readings);
    ASSERT_TRUE(power);
    EXPECT_NEAR(power->seconds, 0.5, 1e-9);
    EXPECT_NEAR(power->watts, 451, 1e-6) << "24 intervals of 400 W, one of 450 W, 25 of 500 W";
    EXPECT_EQ(power->windows.size(), 8U);
    EXPECT_NEAR(power->windows.front(), 400, 1e-9);
    EXPECT_NEAR(power->windows.back(), 500, 1e-9);
    EXPECT_NEAR(power->samples_per_second, 100, 1e-6);
    EXPECT_NEAR(power->resolution_seconds, 0.5, 1e-9) << "it changed once";
    EXPECT_EQ(power->resolution_watts, 1e-3);
}

TEST(MeanPower, IsNothingWhenTheMeterSaidTooLittle) {
    const PowerSource counter = made_up(PowerSource::Kind::joules, 0.1);
    EXPECT_FALSE(mean_power(counter, {}));
    std::vector<PowerReading> readings;
    for (int i = 0; i < 50; ++i) readings.push_back({0.01 * i, i < 30 ? 7.0 : 8.0});
    EXPECT_FALSE(mean_power(counter, readings)) << "it changed once";
    readings.push_back({0.5, 9});
    EXPECT_TRUE(mean_power(counter, readings));
    EXPECT_FALSE(mean_power(made_up(PowerSource::Kind::watts, 1), readings)) << "the period is its start";
}

TEST(PowerSources, OfAGpuAreTriedFromTheBestOn) {
    FakeMachine machine;
    PowerPlaces places;
    places.libraries = FakeMachine::candidates();
    std::string missing;
    const auto counter = find_power_source(device_of(Target::cuda), missing, places);
    ASSERT_TRUE(counter) << missing;
    EXPECT_EQ(counter->name, "nvml");
    EXPECT_THAT(counter->detail, HasSubstr("energy counter of cuda:0"));
    EXPECT_EQ(counter->kind, PowerSource::Kind::joules);
    EXPECT_EQ(counter->read(), 5000);
    machine.nvml().counts_energy = false;
    const auto moment = find_power_source(device_of(Target::cuda), missing, places);
    ASSERT_TRUE(moment) << missing;
    EXPECT_EQ(moment->kind, PowerSource::Kind::watts);
    EXPECT_EQ(moment->read(), 600.25);
    machine.nvml().tells_instant = false;
    const auto mean = find_power_source(device_of(Target::cuda), missing, places);
    ASSERT_TRUE(mean) << missing;
    EXPECT_EQ(mean->read(), 512.5);
    EXPECT_GE(mean->lag, 1) << "it remembers a second";
    machine.nvml().tells_power = false;
    EXPECT_FALSE(find_power_source(device_of(Target::cuda), missing, places));
    EXPECT_THAT(missing, HasSubstr("neither energy nor power of cuda:0"));
    places.libraries.nvml = {"/absent/libnvidia-ml.so.1"};
    EXPECT_FALSE(find_power_source(device_of(Target::cuda), missing, places));
    EXPECT_THAT(missing, HasSubstr("no NVML"));
}

TEST(PowerSources, OfTheProcessorAreItsCounters) {
    FakePowercap powercap;
    PowerPlaces places;
    places.powercap = powercap.path();
    std::string missing;
    EXPECT_FALSE(find_power_source(device_of(Target::cpu), missing, places));
    EXPECT_THAT(missing, HasSubstr("virtual machines"));
    powercap.zone("intel-rapl:0", "package-0", 5);
    const auto source = find_power_source(device_of(Target::cpu), missing, places);
    ASSERT_TRUE(source) << missing;
    EXPECT_EQ(source->name, "rapl");
    EXPECT_THAT(source->detail, HasSubstr("package-0"));
    powercap.set("intel-rapl:0", 2'000'005);
    EXPECT_EQ(source->read(), 2);
}

TEST(ConcurrentPowerMeter, ReadsUntilItIsStopped) {
    std::atomic<int> calls = 0;
    PowerSource source{"made up", "", PowerSource::Kind::watts, 0, 1, [&]() -> std::optional<double> {
                           const int call = ++calls;
                           return call % 7 == 3 ? std::nullopt : std::optional(250.0);  // some readings fail
                       }};
    PowerMeter meter(source, 1e-4);
    // On a busy machine two readings may lie 20 ms apart: some of them are waited for, too.
    while (meter.seconds() < 0.02 || calls < 10) std::this_thread::yield();
    const auto power = meter.stop();
    ASSERT_TRUE(power);
    EXPECT_NEAR(power->watts, 250, 1e-9);
    EXPECT_GE(power->seconds, 0.02);
    EXPECT_EQ(power->resolution_seconds, 0) << "it never changed";
    const int read = calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(calls, read) << "nobody reads any more";
}

TEST(ConcurrentPowerMeter, MayBeGivenUp) {
    for (int i = 0; i < 20; ++i) PowerMeter(made_up(PowerSource::Kind::watts, 0), 1e-4);
    PowerMeter silent({"made up", "", PowerSource::Kind::joules, 0, 1, []() -> std::optional<double> { return std::nullopt; }}, 1e-4);
    EXPECT_EQ(silent.seconds(), 0);
    EXPECT_FALSE(silent.stop());
}

}  // namespace
}  // namespace hone::power_test
