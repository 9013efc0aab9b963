#include "tuner/system_load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace hone::system_load_test {
namespace {

using testing::HasSubstr;

class SystemLoadTest : public testing::Test {
  protected:
    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((folder.path() / path).parent_path());
        std::ofstream(folder.path() / path) << text;
    }

    /// The files of a machine whose counters stand as given, read at a moment counted from the
    /// first.
    LoadReading reading(double second, const std::string& load, int idle_ticks, int stolen_ticks, int waiting_microseconds, int throttled,
                        int processors = 1) const {
        write("proc/loadavg", load + " 0.50 0.40 1/234 5678\n");
        std::string lines;
        for (int number = 0; number < processors; ++number) lines += "cpu" + std::to_string(number) + " 1 2 3\n";
        write("proc/stat",
              "cpu  100 0 100 " + std::to_string(idle_ticks) + " 0 0 0 " + std::to_string(stolen_ticks) + " 50 0\n" + lines + "intr 5 0\nctxt 7\n");
        write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(waiting_microseconds) +
                                       "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
        write("proc/self/cgroup", "0::/user/job\n");
        write("sys/fs/cgroup/user/job/cpu.stat", "usage_usec 9\nnr_throttled 1\nthrottled_usec " + std::to_string(throttled) + "\n");
        LoadReading reading = SystemLoad(folder.path()).read();
        reading.at = std::chrono::steady_clock::time_point(std::chrono::microseconds(static_cast<std::int64_t>(1e6 * second)));
        return reading;
    }

    test::TemporaryFolder folder;
};

TEST_F(SystemLoadTest, ReadsWhatTheSystemSays) {
    const LoadReading now = reading(0, "1.25", 700, 100, 2'500'000, 300'000);
    EXPECT_EQ(now.load, 1.25);
    EXPECT_EQ(now.processor_ticks, 1000) << "guests' time is in user's";
    EXPECT_EQ(now.idle_ticks, 700);
    EXPECT_EQ(now.processors, 1);
    EXPECT_EQ(now.stolen_ticks, 100);
    EXPECT_EQ(now.waiting_seconds, 2.5);
    EXPECT_EQ(now.throttled_seconds, 0.3);
}

TEST_F(SystemLoadTest, AQuietMachineIsNotBusy) {
    const LoadReading before = reading(0, "3.90", 0, 100, 1000, 0);
    EXPECT_EQ(SystemLoad::busy(before, reading(10, "4.10", 2000, 110, 500'000, 50'000), 2), "");
}

TEST_F(SystemLoadTest, NamesEverySignOfABusyOne) {
    const LoadReading before = reading(0, "1.00", 0, 0, 0, 0);
    const std::string busy = SystemLoad::busy(before, reading(10, "7.20", 700, 300, 4'000'000, 2'000'000), 2);
    EXPECT_THAT(busy, HasSubstr("the load was 7.2 on 2 processors"));
    EXPECT_THAT(busy, HasSubstr("30.0 % of the processors' time was stolen"));
    EXPECT_THAT(busy, HasSubstr("waited for a processor 40.0 % of the time"));
    EXPECT_THAT(busy, HasSubstr("throttled for 2 s of 10 s"));
}

TEST_F(SystemLoadTest, ALoadOfBeforeDoesNotCountWhereTheOtherProcessorsAreIdle) {
    LoadReading before = reading(0, "14.00", 0, 0, 0, 0, 16);
    const auto with_idle = [&](double processors) {  // of 16, for ten seconds
        LoadReading after = before;
        after.at += std::chrono::seconds(10);
        after.load = 12;
        *after.processor_ticks += 16000;
        *after.idle_ticks += 1000 * processors;
        return after;
    };
    EXPECT_EQ(SystemLoad::busy(before, with_idle(13.9), 2), "") << "what was not idle may be ours";
    EXPECT_THAT(SystemLoad::busy(before, with_idle(12), 2), HasSubstr("the load was 12.0 on 2 processors")) << "four ran, two of them ours";
    EXPECT_EQ(SystemLoad::busy(before, with_idle(12), 4), "");
    before.idle_ticks.reset();
    EXPECT_THAT(SystemLoad::busy(before, reading(10, "12.00", 16000, 0, 0, 0, 16), 4), HasSubstr("the load was 12.0 on 4 processors"));
}

TEST_F(SystemLoadTest, WhatProcessorsDoBesideAGpuIsNotSaidOfItsTimes) {
    const LoadReading before = reading(0, "1.00", 0, 0, 0, 0);
    const LoadReading after = reading(10, "1.20", 700, 300, 0, 0);
    Device device;
    device.limits.target = Target::cuda;
    EXPECT_EQ(SystemLoad::busy_beside(device, before, after), "");
    device.limits.target = Target::cpu;
    EXPECT_THAT(SystemLoad::busy_beside(device, before, after), HasSubstr("30.0 % of the processors' time was stolen"));
}

TEST_F(SystemLoadTest, ReadsVersionOneOfControlGroups) {
    write("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 5\nthrottled_time 1500000000\n");
    EXPECT_EQ(SystemLoad(folder.path()).read().throttled_seconds, 1.5);
}

TEST_F(SystemLoadTest, ASystemThatSaysNothingIsNotBusy) {
    write("proc/stat", "nonsense");
    write("proc/loadavg", "");
    const LoadReading nothing = SystemLoad(folder.path()).read();
    EXPECT_FALSE(nothing.load || nothing.processor_ticks || nothing.stolen_ticks || nothing.waiting_seconds || nothing.throttled_seconds);
    EXPECT_EQ(SystemLoad::busy(nothing, nothing, 2), "");
}

}  // namespace
}  // namespace hone::system_load_test
