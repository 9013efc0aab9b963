#include "examples/options/on_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "generator/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::examples::on_ranks_test {
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

// A program with one option; result: its code and what ran.
struct Ran {
    int code = 0;
    std::map<int, int> sizes;  ///< by rank
};
Ran ran(std::vector<std::string> words, int bad_rank = -1) {
    Ran result;
    std::mutex mutex;
    std::string devices = "one";
    CLI::App app;
    app.add_option("--device", devices);
    words.insert(words.begin(), "program");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    const auto names = [&] { return devices; };
    result.code = run_on_ranks("program", app, static_cast<int>(arguments.size()), arguments.data(), names, [&](Communicator& ranks) {
        const std::lock_guard lock(mutex);
        result.sizes[ranks.rank()] = ranks.size();
        if (ranks.rank() == bad_rank) throw Error("something", "it is wrong", "mend it");
        return ranks.rank() == 0 ? 7 : 0;
    });
    return result;
}

TEST(RunOnRanks, TakesAThreadForEachDevice) {
    const Ran alone = ran({});
    EXPECT_EQ(alone.code, 7);
    EXPECT_EQ(alone.sizes, (std::map<int, int>{{0, 1}}));
    const Ran several = ran({"--device", "a,b,c"});
    EXPECT_EQ(several.code, 7);
    EXPECT_EQ(several.sizes, (std::map<int, int>{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(RunOnRanks, EndsWithWhatIsWrong) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(ran({"--device", "a,b"}, 1).code, 2);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("program: rank 1 of 2: something: it is wrong"));
    ::testing::internal::CaptureStderr();
    EXPECT_NE(ran({"--devise", "a,b"}).code, 0);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("--devise"));
}

}  // namespace
}  // namespace hone::examples::on_ranks_test
