#include "tuner/replay/formats/space_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "foundation/error.hpp"
#include "tests/support/running_time.hpp"
#include "tuner/random.hpp"
#include "tuner/replay/formats/parameter_values.hpp"

namespace hone::space_file_test {
namespace {

using ::testing::HasSubstr;

const std::string header =
    R"({"hone_space": 1, "kernel": "k", "device": "d", "problem_size": [3, 4], "objective": "time", "cut": false, "chosen_by": "", "only": "", )"
    R"("members": 0, "parameters": {"x": [16, 32], "r": [0.5, 1, true]}, "failures": [["compile_failed", "too large"]], "configurations": 3})"
    "\n";
const std::string lines = "0 0.25\n3 !0\n5 0.5 0.25 0.75\n";

std::string error_of(const std::string& text) {
    try {
        parse_recorded_space(text, "some.space");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(SpaceFile, SaysWhatEveryConfigurationCameTo) {
    const RecordedSpace space = parse_recorded_space(header + lines, "folder/some.space.gz");
    EXPECT_EQ(space.title().name, "some");
    EXPECT_EQ(space.title().problem_size, "[3, 4]");
    EXPECT_EQ(space.members(), (std::vector<std::int64_t>{0, 3, 5}));
    EXPECT_EQ(space.cost(0), 0.25);
    EXPECT_EQ(space.at(0).outcome.samples, std::vector{0.25});
    EXPECT_EQ(space.at(3).outcome, failure(Status::compile_failed, "too large"));
    EXPECT_EQ(space.at(5).outcome.samples, (std::vector{0.25, 0.75}));
    EXPECT_EQ(space.parameters()[1].written, (std::vector<std::string>{"0.5", "1", "true"}));
    EXPECT_TRUE(space.whole());
    EXPECT_EQ(space_file_text(space), header + lines);
}

TEST(SpaceFile, CostsComeBackToTheLastBit) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::vector<RecordedConfiguration> configurations;
    for (std::int64_t index = 0; index < 300; index += 1 + static_cast<std::int64_t>(random.below(3))) {
        const double cost = 1e-6 * random.real() + 1e-9;
        configurations.push_back({index, cost, measurement(cost, std::vector<double>(random.below(3), cost))});
    }
    RecordedParameter parameter{"n", {}};
    for (int n = 0; n < 300; ++n) parameter.written.push_back(std::to_string(n));
    const RecordedSpace space({.name = "random", .chosen_by = "genetic", .only = "a=1", .members = 299}, {parameter}, configurations);
    const RecordedSpace again = parse_recorded_space(space_file_text(space), "again");
    EXPECT_EQ(again.members(), space.members());
    EXPECT_EQ(again.costs(), space.costs());
    for (const std::int64_t member : space.members()) EXPECT_EQ(again.at(member).outcome, space.at(member).outcome);
    EXPECT_EQ(again.title().chosen_by, "genetic");
    EXPECT_EQ(again.title().only, "a=1");
    EXPECT_EQ(again.coverage(), space.coverage());
}

TEST(SpaceFile, AMistakeIsNamedWithItsLine) {
    EXPECT_THAT(error_of(header + "0 0.25\n3 !0\n"), HasSubstr("it has 2 of 3 configurations"));
    EXPECT_THAT(error_of(header + "0 0.25\n3 !1\n5 1\n"), HasSubstr("some.space:3: "));
    EXPECT_THAT(error_of(header + "0 0.25\n0 1\n5 1\n"), HasSubstr("some.space:3: \"0 1\" does not begin with a number from 1 to 5"));
    EXPECT_THAT(error_of(header + "0 0.25\n3 1\n6 1\n"), HasSubstr("some.space:4: "));
    for (const char* line : {"0", "0 ", "0 x", "0 1x", "0 -1", "0 0", "0 nan", "0 inf", "0 !", "0 !0 1", "0  1", "", "x"})
        EXPECT_THAT(error_of(header + line + "\n3 1\n5 1\n"), HasSubstr("some.space:2: ")) << line;
    EXPECT_THAT(error_of(R"({"hone_space": 2})"), HasSubstr("hone_space"));
    EXPECT_THAT(error_of(header.substr(0, header.size() / 2)), HasSubstr("some.space"));
}

TEST(SlowSpaceFile, AMillionMembersAreReadWithinASecondAndTakeLittle) {
    if (mallinfo2().uordblks == 0) GTEST_SKIP() << "the memory in use is not counted under this sanitizer, which slows all down besides";
    constexpr std::int64_t members = 1'000'000;
    constexpr double most_bytes = 150e6;
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::string text = header;
    text.replace(text.find("\"configurations\": 3"), 19, "\"configurations\": " + std::to_string(members));
    std::string list = "[0";
    for (int value = 1; value < 1000; ++value) list += ", " + std::to_string(value);
    list += "]";
    text.replace(text.find("[16, 32]"), 8, list);
    text.replace(text.find("[0.5, 1, true]"), 14, list);
    for (std::int64_t index = 0; index < members; ++index) text += fmt::format("{} {:.8f}\n", index, 1 + random.real());
    const auto in_use = [] { return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); };
    const double before = in_use() - static_cast<double>(text.capacity());
    test::RunningTime loading;
    const RecordedSpace space = parse_recorded_space(text, "million.space");
    EXPECT_LT(loading.seconds(), 1);
    EXPECT_EQ(std::ssize(space.members()), members);
    EXPECT_LT(in_use() - before, most_bytes) << "with the text";
}

}  // namespace
}  // namespace hone::space_file_test
