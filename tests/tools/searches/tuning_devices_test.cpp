#include "tools/searches/tuning_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "foundation/processors.hpp"

namespace hone::tools::tuning_devices_test {
namespace {

std::string list_of(int parts) {
    std::string list = "cpu";
    for (int part = 1; part < parts; ++part) list += ",cpu";
    return list;
}

TEST(TuningDevices, OneDeviceHasNoPlaces) {
    const TuningDevices found = find_tuning_devices("cpu");
    EXPECT_TRUE(found.places.empty());
    EXPECT_FALSE(found.team);
    EXPECT_EQ(found.device.limits.multiprocessors, processors().threads);
}

TEST(TuningDevices, PartsOfTheCpuHaveProcessorsOfTheirOwn) {
    const int parts = processors().threads;
    if (parts < 2) GTEST_SKIP() << "this process has one thread";
    const TuningDevices found = find_tuning_devices(list_of(parts));
    ASSERT_EQ(std::ssize(found.places), parts);
    EXPECT_EQ(found.device.fingerprint.units, 1);
    EXPECT_EQ(found.device.limits.multiprocessors, 1);
    std::vector<int> used;
    for (const WorkerPlace& place : found.places) {
        EXPECT_EQ(place.name, "processors " + processor_list(place.processors));
        used.insert(used.end(), place.processors.begin(), place.processors.end());
    }
    std::sort(used.begin(), used.end());
    EXPECT_EQ(std::adjacent_find(used.begin(), used.end()), used.end()) << "no processor is in two parts";
    ASSERT_TRUE(found.team);
    EXPECT_EQ(found.team->processors, processor_list(found.places.front().processors));
}

TEST(TuningDevices, RefusesWhatMakesNoSense) {
    EXPECT_THROW(find_tuning_devices(list_of(processors().threads + 1)), Error);
    EXPECT_THROW(find_tuning_devices("cpu,"), Error);
    EXPECT_THROW(find_tuning_devices(""), Error);
    EXPECT_THROW(find_tuning_devices("cpu,toaster"), Error);
}

}  // namespace
}  // namespace hone::tools::tuning_devices_test
