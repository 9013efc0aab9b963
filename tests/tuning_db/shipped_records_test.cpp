// The records that hone brings along must answer for the devices that they were measured on,
// however old they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tuner/disturbance.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/device_models.hpp"
#include "tuning_db/record_json.hpp"
#include "tuning_db/todays_names.hpp"

namespace hone::shipped_records_test {
namespace {

TEST(ShippedRecords, EachAnswersForItsOwnDevice) {
    const auto database = Database::load(test::source_path("tuning_db/records"), built_in_families());
    int cuda = 0, beaten = 0;
    for (const Record& record : database.records()) {
        if (!record.purpose.empty() || record.device.target != Target::cuda) continue;  // a processor's limits are the machine's own
        ++cuda;
        const Match match = database.best(record.problem, record.device, generous_limits(record.device));
        // But for those that are slower than what runs untuned today.
        EXPECT_EQ(match.grade == Grade::exact, !beaten_by_safe(record)) << record.problem.key() << " with " << record.config.key();
        beaten += beaten_by_safe(record) ? 1 : 0;
    }
    EXPECT_GT(cuda, 40);
    EXPECT_LT(20 * beaten, cuda) << "search them again";
}

// The ceilings that a record was measured beside, as far as it tells: the one that binds.
Ceilings ceilings_of(const Record& record) {
    Ceilings ceilings;
    const double least_seconds = record.ceiling_fraction * record.step.median;
    if (record.ceiling == "memory") ceilings.copy_bytes_per_second = record.counts.bytes / least_seconds;
    if (record.ceiling == "arithmetic") ceilings.fma_f32 = ceilings.fma_f64 = record.counts.operations / least_seconds;
    return ceilings;
}

// 'hone db merge tuning_db/records tuning_db/records' writes today's.
TEST(ShippedRecords, NoneHasAFormerName) {
    const auto database = Database::load(test::source_path("tuning_db/records"), built_in_families());
    ASSERT_FALSE(database.records().empty());
    for (const Record& record : database.records()) EXPECT_EQ(to_json(record), to_json(with_todays_names(record, built_in_families())));
}

TEST(ShippedRecords, NoneIsDisturbed) {
    const auto database = Database::load(test::source_path("tuning_db/records"), built_in_families());
    for (const Record& record : database.records()) {
        EXPECT_EQ(record.disturbed, "") << record.problem.key();
        if (record.device.target == Target::cpu) continue;  // a processor's caches, which hold some problems, are the machine's own, too
        constexpr std::int64_t second_cache = 50 << 20;     // of the cards that ship; what it holds may pass the memory's ceiling
        const std::int64_t cache = record.counts.bytes <= second_cache ? second_cache : 0;
        EXPECT_EQ(disturbance(record, record.counts.operations, cache, ceilings_of(record)), "") << record.problem.key();
    }
}

// What is needed to judge a result. `hone db stats` counts what is not said.
std::vector<std::string> missing_in(const Record& record) {
    std::vector<std::string> missing;
    const auto need = [&](bool there, const char* what) {
        if (!there) missing.emplace_back(what);
    };
    // No setting of an exchange changes a bit.
    need(record.verified() && (record.tolerance > 0 || record.exchange), "verification");
    need(record.step.samples > 1 && record.step.low > 0 && record.step.low <= record.step.high, "interval");
    need(!record.versions.hone.empty() && record.versions.source_hash.size() == 64, "version and kernel");
    const bool processor = record.device.target == Target::cpu;  // which has no driver, and often a host that hides its clocks
    need((processor || !record.device.driver.empty()) && !record.device.compiler.empty(), "driver and compiler");
    need(!record.strategy.empty() && record.evaluations > 1, "search");
    need(!record.date.empty(), "date");
    // Of a step that several devices share neither clocks of one nor the ceiling of one tells much:
    // they are not taken.
    if (record.of_several_devices()) return missing;
    need(record.seed.has_value(), "seed");  // before 2026-11-24 records did not keep it: theirs are those of the commands that the results list
    need(record.safe_seconds > 0, "safe configuration");
    need(record.ceiling_fraction > 0, "ceiling");
    if (processor) return missing;
    need(record.conditions.sm_megahertz && record.conditions.memory_megahertz && record.conditions.temperature_celsius, "clocks and temperature");
    return missing;
}

TEST(ShippedRecords, EachSaysWhatItTakesToJudgeIt) {
    const auto database = Database::load(test::source_path("tuning_db/records"), built_in_families());
    for (const Record& record : database.records()) {
        EXPECT_THAT(missing_in(record), testing::IsEmpty()) << record.problem.key();
    }
}

}  // namespace
}  // namespace hone::shipped_records_test
