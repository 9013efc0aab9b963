#include "tools/records/record_refresh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/families/built_in_families.hpp"
#include "tools/records/database_stats.hpp"

namespace hone::tools::record_refresh_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string same_hash(64, 'a');

Outcome measured(double median, double half_width = 0.004) {
    Outcome outcome;
    outcome.step = {median, (1 - half_width) * median, (1 + half_width) * median, median, 40};
    outcome.verification_error = 1e-7;
    outcome.tolerance = 1e-6;
    outcome.device = DeviceReading{.sm_megahertz = 1965, .memory_megahertz = 3201, .temperature_celsius = 48};
    return outcome;
}

// As a shipped record of the H200: without clocks, temperature and seed.
Record old_record() {
    Record record;
    record.problem = built_in_families().parse_problem("dg_volume equation=maxwell_3d order=3 precision=f32 elements=1000000");
    const Family& family = built_in_families().of(record.problem);
    record.config = family.space(record.problem, cuda_limits(90)).safe();
    record.device = {Target::cuda, "NVIDIA H200", "sm_90", 132, "12.9", "NVRTC 13.0"};
    record.counts = family.counts(record.problem);
    record.step = measured(1e-3).step;
    record.verification_error = 2e-7;
    record.tolerance = 1e-6;
    record.safe_seconds = 2e-3;
    record.ceiling_fraction = 0.5;
    record.ceiling = "memory";
    record.strategy = "surrogate";
    record.evaluations = 71;
    record.date = "2026-11-21T00:00:00Z";
    record.versions = {"0.1.0", same_hash};
    return record;
}

Sitting sitting_with(const Record& record, const Outcome& winner) {
    Sitting sitting{
        .winner = winner, .safe = measured(2.2e-3), .now = {record.device, "0.1.0", std::string(64, 'b'), false, ""}, .limits = cuda_limits(90)};
    sitting.now.device.driver = "13.0";
    sitting.ceilings = {.copy_bytes_per_second = 4.2e12, .fma_f32 = 6.4e13, .fma_f64 = 3.3e13};
    sitting.counts = record.counts;
    return sitting;
}

RecordCheck refreshed(const Record& record, const Sitting& sitting) {
    RecordCheck check = judged(record, sitting.winner, sitting.now, 0.05);
    refresh(check, sitting);
    return check;
}

TEST(RecordRefresh, ChoosesWhatAMeasurementCompletes) {
    Record record = old_record();
    EXPECT_THAT(worth_measuring(record, true), ElementsAre("clocks", "temperature"));
    EXPECT_THAT(worth_measuring(record, false), ElementsAre("clocks", "temperature", "kernel"));
    record.conditions = conditions_of(measured(1e-3).device);
    EXPECT_TRUE(worth_measuring(record, true).empty()) << "nothing brings the seed back";
    record.ceiling_fraction = 0;
    EXPECT_THAT(worth_measuring(record, true), ElementsAre("ceiling"));
}

TEST(RecordRefresh, TakesWhatWasMeasuredAndKeepsHowItWasFound) {
    const Record record = old_record();
    const Sitting sitting = sitting_with(record, measured(1.01e-3));
    const RecordCheck check = refreshed(record, sitting);
    ASSERT_TRUE(check.update) << check.kept;
    const Record& now = *check.update;
    EXPECT_EQ(now.step, sitting.winner.step);
    EXPECT_EQ(now.conditions.sm_megahertz, 1965);
    EXPECT_EQ(now.conditions.temperature_celsius, 48);
    EXPECT_EQ(now.device.driver, "13.0");
    EXPECT_EQ(now.safe_seconds, 2.2e-3);
    EXPECT_EQ(now.verification_error, 1e-7);
    EXPECT_EQ(now.versions.source_hash, std::string(64, 'b'));
    EXPECT_GT(now.date, record.date);
    std::string binding;
    EXPECT_DOUBLE_EQ(now.ceiling_fraction, ceiling_seconds(record.counts, Precision::f32, sitting.ceilings, binding) / 1.01e-3);
    EXPECT_EQ(subject(now), subject(record));
    EXPECT_EQ(now.config, record.config);
    EXPECT_EQ(now.strategy, "surrogate");
    EXPECT_EQ(now.evaluations, 71);
    EXPECT_FALSE(now.seed) << "it is not known";
    EXPECT_THAT(lacking(now), ElementsAre("seed"));
    Record as_fast = now;
    as_fast.step = record.step;
    EXPECT_TRUE(better(as_fast, record)) << "a merge must not bring the old one back";
}

TEST(RecordRefresh, KeepsTheEnergyOfTheSafeConfigurationWithItsTime) {
    Record record = old_record();
    record.energy = Energy{measured(0.5).step, 500, 0, "nvml", 10, 0, 0};
    record.safe_joules = 1.5;
    Sitting sitting = sitting_with(record, measured(1e-3));
    sitting.winner.energy = Energy{measured(0.4).step, 400, 0, "nvml", 10, 0, 0};
    EXPECT_THAT(refreshed(record, sitting).kept, HasSubstr("energy of its safe configuration"));
    sitting.safe.energy = Energy{measured(1.2).step, 600, 0, "nvml", 10, 0, 0};
    const RecordCheck check = refreshed(record, sitting);
    ASSERT_TRUE(check.update) << check.kept;
    EXPECT_DOUBLE_EQ(check.update->safe_joules, 1.2);
    EXPECT_DOUBLE_EQ(greenup_over_safe(*check.update), 3);
}

TEST(RecordRefresh, NeverTakesAWorseMeasurement) {
    const Record record = old_record();
    const auto kept = [&](const Sitting& sitting) {
        const RecordCheck check = refreshed(record, sitting);
        EXPECT_FALSE(check.update);
        return check.kept;
    };
    EXPECT_EQ(kept(sitting_with(record, measured(1.2e-3))), "") << "the verdict says it: slower";
    EXPECT_EQ(kept(sitting_with(record, failure(Status::wrong, "differs"))), "") << "the verdict says it: fails";
    EXPECT_THAT(kept(sitting_with(record, measured(1e-3, 0.03))), HasSubstr("less sure: 3.0 %, before 0.4 %"));
    Sitting sitting = sitting_with(record, measured(1e-3));
    sitting.now.busy = "12.0 % of the processors' time was stolen";
    EXPECT_THAT(kept(sitting), HasSubstr("busy"));
    sitting = sitting_with(record, measured(1e-3));
    sitting.safe = failure(Status::compile_failed, "no such file");
    EXPECT_THAT(kept(sitting), HasSubstr("safe configuration"));
    sitting = sitting_with(record, measured(1e-3));
    sitting.ceilings = {};
    EXPECT_THAT(kept(sitting), HasSubstr("ceilings"));
    EXPECT_THAT(kept(sitting_with(record, measured(1e-6))), HasSubstr("%")) << "faster than memory allows";
    Record metered = record;
    metered.energy = Energy{.joules = record.step, .watts = 500, .source = "nvml"};
    EXPECT_THAT(refreshed(metered, sitting_with(metered, measured(1e-3))).kept, HasSubstr("energy"));
}

}  // namespace
}  // namespace hone::tools::record_refresh_test
