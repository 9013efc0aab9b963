#include "tuning_db/record.hpp"

#include <gtest/gtest.h>

#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::record_test {
namespace {

Record base() {
    return test::make_record("volume order=5 elements=1000", "unroll=2", 1e-3);
}

Record with_times(double low, double median, double high) {
    Record record = base();
    record.step = {median, low, high, low, 40};
    return record;
}

// Both ways, so that no rule can hold by accident of the order of the arguments.
void expect_better(const Record& a, const Record& b) {
    EXPECT_TRUE(better(a, b));
    EXPECT_FALSE(better(b, a));
}

TEST(Record, IsVerifiedWhenItsErrorIsWithinItsTolerance) {
    EXPECT_FALSE(Record().verified()) << "nothing is verified unless somebody says so";
    Record record = base();
    EXPECT_TRUE(record.verified());
    record.verification_error = record.tolerance;
    EXPECT_TRUE(record.verified());
    record.verification_error = 2 * record.tolerance;
    EXPECT_FALSE(record.verified());
    record.verification_error = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(record.verified());
}

TEST(Record, RatesComeFromCountsAndMedian) {
    const Record record = base();
    EXPECT_DOUBLE_EQ(record.gigabytes_per_second(), 16.0);
    EXPECT_DOUBLE_EQ(record.gigaflops(), 53.0);
    EXPECT_DOUBLE_EQ(record.gigaupdates_per_second(), 1.0);
}

TEST(Better, VerifiedBeatsAFasterUnverifiedOne) {
    Record wrong = with_times(1e-6, 1e-6, 1e-6);
    wrong.verification_error = 1;
    wrong.versions.hone = "9.0.0";
    expect_better(base(), wrong);
}

TEST(Better, UndisturbedBeatsAFasterDisturbedOneButNotAVerifiedOne) {
    Record disturbed = with_times(1e-6, 1e-6, 1e-6);
    disturbed.disturbed = "faster than its memory";
    disturbed.versions.hone = "9.0.0";
    expect_better(base(), disturbed);
    Record wrong = base();
    wrong.verification_error = 1;
    expect_better(disturbed, wrong);
}

TEST(Record, AGainIsPlausibleUpToWhatWasSeenOnAQuietDevice) {
    Record record = base();
    const auto with_gain = [&](Target target, double times) {
        record.device.target = target;
        record.safe_seconds = times * record.step.median;
        return implausible_gain(record);
    };
    EXPECT_EQ(with_gain(Target::cpu, 19), "");
    EXPECT_EQ(with_gain(Target::cpu, 7367), "a gain of 7367x over the safe configuration is beyond 20x");
    EXPECT_EQ(with_gain(Target::cuda, 56), "");
    EXPECT_NE(with_gain(Target::cuda, 101), "");
    EXPECT_EQ(with_gain(Target::cpu, 0), "") << "not measured";
}

TEST(Record, ThreadsAreThoseOfProcessorsAlone) {
    DeviceFingerprint host{Target::cpu, "AMD EPYC", "x86-64-avx2", 4, "", "GCC 12"};
    Record record = base();
    record.device = host;
    EXPECT_EQ(other_threads(record, host), "");
    host.units = 2;
    EXPECT_EQ(other_threads(record, host), "measured with 4 threads, here are 2");
    record.device.units = 1;
    EXPECT_EQ(other_threads(record, host), "measured with 1 thread, here are 2");
    DeviceFingerprint other = test::h200();
    other.units = 114;
    EXPECT_EQ(other_threads(base(), other), "");
    EXPECT_TRUE(team_of(host));
    EXPECT_FALSE(team_of(test::h200()));
}

TEST(Record, TheGreenupIsOfWhatWasMetered) {
    Record record = base();
    EXPECT_EQ(greenup_over_safe(record), 0);
    record.safe_joules = 0.75;
    EXPECT_EQ(greenup_over_safe(record), 0) << "the winner was not metered";
    record.energy = Energy{{0.5, 0.5, 0.5, 0.5, 40}, 500, 0, "nvml", 10, 0, 0};
    EXPECT_EQ(greenup_over_safe(record), 1.5);
    record.safe_joules = 0;
    EXPECT_EQ(greenup_over_safe(record), 0);
}

TEST(Better, TheNewerVersionBeatsAFasterOlderOne) {
    for (const auto& [older, newer] : {std::pair{"0.1.0", "0.2.0"}, {"0.9.0", "0.10.0"}, {"1.2.3", "1.2.4"}, {"", "0.1.0"}, {"0.1", "0.1.1"}}) {
        Record old_and_fast = with_times(1e-5, 1e-5, 1e-5);
        old_and_fast.versions.hone = older;
        Record recent = base();
        recent.versions.hone = newer;
        expect_better(recent, old_and_fast);
    }
}

TEST(Better, FasterBeyondTheNoiseWins) {
    Record slow = with_times(0.99e-3, 1e-3, 1.01e-3);
    slow.date = "2020-01-01T00:00:00Z";
    expect_better(with_times(0.9e-3, 0.95e-3, 0.96e-3), slow);
    Record noisy = with_times(0.5e-3, 0.95e-3, 1.5e-3);
    expect_better(slow, noisy);
}

TEST(Better, ATieKeepsTheOlder) {
    Record older = with_times(1.0005e-3, 1.0006e-3, 1.0007e-3);
    Record recent = with_times(1.0001e-3, 1.0002e-3, 1.0003e-3);
    older.date = "2026-11-20T00:00:00Z";
    expect_better(older, recent);
}

// What `hone verify --update` completed is measured later, and stays.
TEST(Better, OfATieTheOneThatSaysTheClockWins) {
    Record silent = with_times(1.0001e-3, 1.0002e-3, 1.0003e-3);
    Record completed = with_times(1.0005e-3, 1.0006e-3, 1.0007e-3);
    silent.date = "2026-11-20T00:00:00Z";
    completed.conditions.sm_megahertz = 1980;
    expect_better(completed, silent);
    silent.conditions.temperature_celsius = 40;
    expect_better(completed, silent);
    silent.conditions.sm_megahertz = 1755;
    expect_better(silent, completed);
    silent.conditions = {};
    expect_better(with_times(0.9e-3, 0.9e-3, 0.9e-3), completed);
}

TEST(Better, NothingReplacesItself) {
    EXPECT_FALSE(better(base(), base()));
}

TEST(Better, IsAStrictTotalOrder) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::RandomRecords random(seed);
    std::vector<Record> records;
    for (int i = 0; i < 40; ++i) {
        records.push_back(random());
        records.back().problem = base().problem;
        records.back().device = base().device;
    }
    records.push_back(records.front());  // an equal one
    records.back().further.emplace_back("note", "1");
    for (const auto& a : records)
        for (const auto& b : records) {
            const bool equal = to_json(a) == to_json(b);
            EXPECT_EQ(better(a, b) + better(b, a), equal ? 0 : 1);
            if (!better(a, b)) continue;
            for (const auto& c : records) EXPECT_TRUE(!better(b, c) || better(a, c));
        }
}

TEST(StandsBefore, SortsByFamilyThenByValueThenByPurpose) {
    const std::vector<std::string> sorted{"sweep precision=f32 nx=8 ny=100", "sweep precision=f32 nx=64 ny=8", "sweep precision=f64 nx=1 ny=1",
                                          "volume order=2 elements=1000",    "volume order=2 elements=20000",  "volume order=10 elements=10"};
    for (std::size_t i = 0; i < sorted.size(); ++i)
        for (std::size_t j = 0; j < sorted.size(); ++j)
            EXPECT_EQ(stands_before(test::make_record(sorted[i], "", 1), test::make_record(sorted[j], "", 1)), i < j)
                << sorted[i] << " " << sorted[j];
    // Choices among numbers are kept as words.
    const auto of_choice = [](const std::string& word) {
        Record record = base();
        record.problem = Problem("volume", {{"order", word}}, {});
        return record;
    };
    const std::vector<std::string> words{"4", "8", "16", "auto"};
    for (std::size_t i = 0; i < words.size(); ++i)
        for (std::size_t j = 0; j < words.size(); ++j)
            EXPECT_EQ(stands_before(of_choice(words[i]), of_choice(words[j])), i < j) << words[i] << " " << words[j];
    Record cold = base();
    cold.purpose = "cold";
    EXPECT_TRUE(stands_before(base(), cold));
    EXPECT_FALSE(stands_before(cold, base()));
    EXPECT_NE(subject(cold), subject(base()));
}

Record with_joules(const char* purpose, double joules, double seconds) {
    Record record = with_times(seconds, seconds, seconds);
    record.purpose = purpose;
    record.energy = Energy{{joules, joules, joules, joules, 40}, joules / seconds, 0, "nvml", 10, 0, 0};
    return record;
}

TEST(Better, ComparesWhatWasTunedFor) {
    expect_better(with_joules("", 3, 1e-3), with_joules("", 1, 2e-3));
    expect_better(with_joules("energy", 1, 2e-3), with_joules("energy", 3, 1e-3));
    expect_better(with_joules("energy", 1, 1e-3), with_joules("energy", 1.5, 2e-3));
    expect_better(with_joules("energy_delay", 1, 2e-3), with_joules("energy_delay", 3, 1e-3));
    expect_better(with_joules("energy_delay", 3, 1e-3), with_joules("energy_delay", 2, 2e-3));
    expect_better(with_joules("weighted_0.9", 1, 2e-3), with_joules("weighted_0.9", 3, 1e-3));
    expect_better(with_joules("weighted_0.1", 3, 1e-3), with_joules("weighted_0.1", 1, 2e-3));
    Record unmetered = with_joules("energy", 1, 1e-4);
    unmetered.energy.reset();
    expect_better(with_joules("energy", 5, 1), unmetered);
}

TEST(Record, ASharedStepIsAboutTwoDevicesAndTwoConfigurations) {
    test::RandomRecords random(1);
    const Record record = random.shared();
    EXPECT_EQ(subject(record), subject(record));
    Record plain = record;
    plain.purpose.clear();
    plain.hybrid.reset();
    EXPECT_NE(subject(plain), subject(record));
    Record other_share = record;
    other_share.hybrid->share = record.hybrid->share / 2;
    EXPECT_EQ(subject(other_share), subject(record)) << "the share is the answer, not the question";
    for (const auto& change : {+[](Record& r) { r.hybrid->partner.name = "another"; },
                               +[](Record& r) {
                                   r.config = Config({{"unroll", 9}});
                               },
                               +[](Record& r) {
                                   r.hybrid->partner_config = Config({{"unroll", 9}});
                               }}) {
        Record changed = record;
        change(changed);
        EXPECT_NE(subject(changed), subject(record));
        EXPECT_NE(stands_before(changed, record), stands_before(record, changed));
    }
}

}  // namespace
}  // namespace hone::record_test
