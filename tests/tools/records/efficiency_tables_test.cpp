#include "tools/records/efficiency_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generator/families/built_in_families.hpp"

namespace hone::tools::efficiency_tables_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Record record_of(Target target, double seconds, double watts, bool hybrid = false) {
    Record record;
    record.problem = built_in_families().parse_problem(built_in_families().begin()->example);
    record.device = {target, target == Target::cpu ? "Example CPU" : "Example GPU", "none", 8, "", ""};
    record.step = {seconds, seconds, seconds, seconds, 40};
    const double joules = seconds * watts;
    record.energy = Energy{{joules, joules, joules, joules, 5}, watts, 0, "nvml", 200, 0.1, 0.001};
    if (hybrid) record.hybrid = Hybrid{};
    return record;
}

TEST(GreenupTable, ComparesEveryWayWithTheProcessorAlone) {
    const std::string text =
        greenup_table({record_of(Target::cuda, 0.1, 400), record_of(Target::cpu, 1.0, 200), record_of(Target::cuda, 0.08, 625, true)});
    for (const char* part : {"processor alone", "GPU alone", "together", "10.00x", "0.50x", "5.00x", "12.50x", "0.32x", "4.00x", "50.0 J", "625 W"})
        EXPECT_THAT(text, HasSubstr(part)) << text;
}

TEST(GreenupTable, SaysWhatIsNotKnown) {
    EXPECT_EQ(greenup_table({}), "");
    Record unmetered = record_of(Target::cpu, 1, 200);
    unmetered.energy.reset();
    EXPECT_EQ(greenup_table({unmetered}), "");
    EXPECT_EQ(greenup_table({unmetered, record_of(Target::cuda, 0.1, 400)}), "") << "nothing to compare with";
    const std::string text = greenup_table({unmetered, record_of(Target::cuda, 0.1, 400), record_of(Target::cuda, 0.08, 625, true)});
    EXPECT_THAT(text, HasSubstr("GPU alone"));
    EXPECT_THAT(text, Not(HasSubstr("0x")));
    EXPECT_THAT(text, Not(HasSubstr("processor alone")));
}

TEST(GreenupTable, TakesTheFastestRecordOfAWay) {
    const std::string text = greenup_table({record_of(Target::cpu, 1, 200), record_of(Target::cpu, 0.5, 300), record_of(Target::cuda, 0.25, 300)});
    EXPECT_THAT(text, HasSubstr("500 ms"));
    EXPECT_THAT(text, HasSubstr("2.00x"));
    EXPECT_THAT(text, Not(HasSubstr("1.00 s")));
}

TEST(ParetoFront, IsWhatNobodyBeatsInBoth) {
    EXPECT_THAT(pareto_front({{"a", 1, 10}, {"b", 2, 5}, {"c", 2, 6}, {"d", 3, 5}, {"e", 0.5, 20}, {"f", 4, 1}}),
                ElementsAre(TimeAndEnergy{"e", 0.5, 20}, TimeAndEnergy{"a", 1, 10}, TimeAndEnergy{"b", 2, 5}, TimeAndEnergy{"f", 4, 1}));
    EXPECT_TRUE(pareto_front({}).empty());
}

TEST(ParetoFront, OfRandomPointsDominatesAllOthers) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::vector<TimeAndEnergy> points;
    for (int i = 0; i < 300; ++i)
        points.push_back({std::to_string(i), 1.0 + static_cast<double>(random() % 50), 1.0 + static_cast<double>(random() % 50)});
    const auto front = pareto_front(points);
    const auto beats = [](const TimeAndEnergy& a, const TimeAndEnergy& b) {
        return a.seconds <= b.seconds && a.joules <= b.joules && (a.seconds < b.seconds || a.joules < b.joules);
    };
    for (const auto& member : front)
        EXPECT_TRUE(std::none_of(points.begin(), points.end(), [&](const auto& other) { return beats(other, member); })) << "seed " << seed;
    for (const auto& point : points)
        EXPECT_TRUE(std::any_of(
            front.begin(), front.end(),
            [&](const auto& member) { return beats(member, point) || (member.seconds == point.seconds && member.joules == point.joules); }))
            << "seed " << seed;
}

TEST(ParetoTable, ShowsWhatEachStepBackInTimeSaves) {
    const std::string text = pareto_table({{"block=64", 1e-3, 0.5}, {"block=128", 1.1e-3, 0.4}, {"block=256", 2e-3, 0.6}});
    for (const char* part : {"block=64", "block=128", "500 W", "10.0 %", "20.0 %"}) EXPECT_THAT(text, HasSubstr(part)) << text;
    EXPECT_THAT(text, Not(HasSubstr("block=256")));
    EXPECT_EQ(pareto_table({}), "");
}

TEST(ParetoTable, TakesTheLastMeasurementOfWhatWasMetered) {
    std::vector<JournalEntry> entries(4);
    for (auto& entry : entries) entry.config = "t=1";
    entries[0].outcome = {.step = {2, 2, 2, 2, 9}, .energy = Energy{{8, 8, 8, 8, 4}, 4}};
    entries[1].outcome = {.step = {1, 1, 1, 1, 9}, .energy = Energy{{3, 3, 3, 3, 4}, 3}};
    entries[2].outcome = {.step = {9, 9, 9, 9, 9}};
    entries[3].kind = JournalEntry::Kind::done;
    EXPECT_THAT(metered_points(entries), ElementsAre(TimeAndEnergy{"t=1", 1, 3}));
}

}  // namespace
}  // namespace hone::tools::efficiency_tables_test
