#include "runtime/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cuda/fake_machine.hpp"

namespace hone::nvml_test {
namespace {

using test::FakeMachine;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(DeviceMonitor, ReadsPowerClocksTemperatureAndThrottling) {
    FakeMachine machine;
    const DeviceMonitor monitor(0, FakeMachine::candidates());
    EXPECT_EQ(monitor.missing(), "");
    EXPECT_EQ(monitor.driver_version(), "580.1");
    EXPECT_THAT(monitor.library(), testing::EndsWith("libnvidia-ml.so.1"));
    const DeviceReading reading = monitor.read();
    EXPECT_EQ(reading.power_watts, 512.5);
    EXPECT_EQ(reading.sm_megahertz, 1980);
    EXPECT_EQ(reading.memory_megahertz, 3201);
    EXPECT_EQ(reading.temperature_celsius, 45);
    EXPECT_THAT(reading.throttle_reasons, ElementsAre("software power cap"));
    EXPECT_EQ(machine.state().contexts, 0);
    EXPECT_EQ(machine.state().total_pushes, 0);
}

TEST(DeviceMonitor, ReadsEnergyAndPowerAtTheMomentWhereTheDeviceTellsThem) {
    FakeMachine machine;
    const DeviceMonitor monitor(0, FakeMachine::candidates());
    machine.nvml().millijoules = 1234;
    EXPECT_EQ(monitor.total_joules(), 1.234);
    EXPECT_EQ(monitor.instant_watts(), 600.25);
    machine.nvml().counts_energy = false;
    machine.nvml().tells_instant = false;
    EXPECT_EQ(monitor.total_joules(), std::nullopt);
    EXPECT_EQ(monitor.instant_watts(), std::nullopt);
}

TEST(DeviceMonitor, SaysWhatLeadsToAnotherDevice) {
    FakeMachine machine;
    const DeviceMonitor monitor(0, FakeMachine::candidates());
    EXPECT_EQ(monitor.place(), "0000:01:00.0");
    EXPECT_EQ(monitor.link_to("0000:02:00.0"), "") << "a device that it does not know";
    machine.nvml().knows_second = true;
    EXPECT_EQ(monitor.link_to("0000:02:00.0"), "PCIe");
    machine.nvml().links = 1;
    EXPECT_EQ(monitor.link_to("0000:02:00.0"), "NVLink, 1 link");
    machine.nvml().links = 18;
    EXPECT_EQ(monitor.link_to("0000:02:00.0"), "NVLink, 18 links");
}

void expect_nothing(const DeviceMonitor& monitor, const char* why) {
    EXPECT_THAT(monitor.missing(), HasSubstr(why));
    const DeviceReading reading = monitor.read();
    EXPECT_FALSE(reading.power_watts || reading.sm_megahertz || reading.memory_megahertz || reading.temperature_celsius);
    EXPECT_TRUE(reading.throttle_reasons.empty());
    EXPECT_FALSE(monitor.total_joules() || monitor.instant_watts());
    EXPECT_EQ(monitor.link_to("0000:01:00.0"), "");
}

TEST(DeviceMonitor, ReadsNothingWhereSomethingIsMissing) {
    FakeMachine machine;
    auto candidates = FakeMachine::candidates();
    candidates.nvml = {"/absent/libnvidia-ml.so.1"};
    expect_nothing(DeviceMonitor(0, candidates), "no NVML (/absent/libnvidia-ml.so.1");
    candidates.nvml = candidates.driver;
    expect_nothing(DeviceMonitor(0, candidates), "has no nvmlInit_v2");
    expect_nothing(DeviceMonitor(1, FakeMachine::candidates()), "there is no device cuda:1");
    machine.state().devices = 2;
    expect_nothing(DeviceMonitor(1, FakeMachine::candidates()), "NVML does not know the device at 0000:02:00.0");
    machine.state().devices = 0;
    expect_nothing(DeviceMonitor(0, FakeMachine::candidates()), "finds no device");
}

TEST(DeviceMonitor, CanBeMoved) {
    FakeMachine machine;
    DeviceMonitor monitor(0, FakeMachine::candidates());
    const DeviceMonitor moved = std::move(monitor);
    EXPECT_EQ(moved.read().sm_megahertz, 1980);
}

}  // namespace
}  // namespace hone::nvml_test
