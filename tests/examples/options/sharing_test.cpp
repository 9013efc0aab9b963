#include "examples/options/sharing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
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

TEST(PrintParts, TheFirstRankTellsOfAll) {
    const auto printed = [](int size) {
        testing::internal::CaptureStdout();
        run_thread_ranks(size,
                         [](Communicator& ranks) { print_parts(ranks, "elements of each (those at others)", 10.0 + ranks.rank(), ranks.rank()); });
        std::fflush(stdout);
        return testing::internal::GetCapturedStdout();
    };
    const std::string of_three = printed(3);
    EXPECT_EQ(of_three.find("3 ranks, by "), 0U) << of_three;
    EXPECT_NE(of_three.find("; elements of each (those at others): 10 (0) 11 (1) 12 (2)\n"), std::string::npos) << of_three;
    EXPECT_EQ(printed(1), "");
}

}  // namespace
}  // namespace hone::examples::sharing_test
