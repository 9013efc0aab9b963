#include "examples/options/sharing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::examples::sharing_test {
namespace {

// Speeds of three ranks on devices of these names, each of which measures its number plus ten.
std::vector<double> speeds(const std::string& option, const std::vector<std::string>& devices, int* measured = nullptr) {
    std::vector<double> result(devices.size());
    std::atomic<int> measurements = 0;
    run_thread_ranks(static_cast<int>(devices.size()), [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        result[rank] = speed_of_rank({.speeds = option}, ranks, devices[rank], [&] {
            ++measurements;
            return ranks.rank() + 10.0;
        });
    });
    if (measured != nullptr) *measured = measurements;
    return result;
}

TEST(SpeedOfRank, IsMeasuredWhereDevicesDiffer) {
    int measured = 0;
    EXPECT_EQ(speeds("best", {"a", "a", "a"}, &measured), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(measured, 0);
    EXPECT_EQ(speeds("best", {"a", "a", "b"}), (std::vector<double>{10, 11, 12}));
    EXPECT_EQ(speeds("measured", {"a", "a", "a"}), (std::vector<double>{10, 11, 12}));
    EXPECT_EQ(speeds("equal", {"a", "b", "c"}, &measured), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(measured, 0);
    EXPECT_EQ(speeds("3,1.5", {"a", "b", "c"}), (std::vector<double>{3, 1.5, 3}));
    EXPECT_EQ(speeds("rubbish", {"a"}), (std::vector<double>{1})) << "one rank has no speed to be compared";
}

TEST(SpeedOfRank, RefusesWhatIsNone) {
    for (const char* const option : {"fast", "1,0", "1,-2", "1,2x", ""}) EXPECT_THROW(speeds(option, {"a", "b"}), Error) << option;
}

}  // namespace
}  // namespace hone::examples::sharing_test
