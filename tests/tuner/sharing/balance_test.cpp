// The balancer over two backends of the processor: what it measures, verifies and writes down.
// Which share it finds depends on the machine.
#include "tuner/sharing/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "generator/families/built_in_families.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuning_db/database.hpp"

namespace hone::balance_test {
namespace {

class BalanceTest : public ::testing::Test {
  protected:
    HybridSide side(Backend& backend, const Problem& problem) const {
        const Family& family = built_in_families().of(problem);
        Match match;
        match.config = family.space(problem, backend.device().limits).safe();
        return {&backend, std::make_shared<const Kernel>(Kernel::reference(backend, family, problem, match, backend.device().limits))};
    }
    BalanceOutcome run(const Problem& problem) {
        return balance(built_in_families().of(problem), side(*one_, problem), side(*two_, problem), settings_);
    }

    TemporaryFolder folder_;
    DiskCache cache_{folder_.path()};
    std::unique_ptr<Backend> one_ = make_backend("cpu", cache_);
    std::unique_ptr<Backend> two_ = make_backend("cpu", cache_);
    Problem problem_ = built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f64 nx=12 ny=11 nz=26");
    BalanceSettings settings_;
};

TEST_F(BalanceTest, GivesAVerifiedRecordThatADatabaseHandsOut) {
    int told = 0;
    settings_.period = 6;
    settings_.most_periods = 60;
    settings_.sweep = 4;
    settings_.progress = [&](const BalancePeriod&) { ++told; };
    const BalanceOutcome outcome = run(problem_);
    EXPECT_EQ(told, static_cast<int>(outcome.periods.size() + outcome.sweep.size()));
    ASSERT_GE(outcome.periods.size(), 2U);
    EXPECT_EQ(outcome.periods[0].units, 26);
    EXPECT_EQ(outcome.periods[1].units, 0);
    ASSERT_EQ(outcome.sweep.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(outcome.sweep[i].share, 0.25 * static_cast<double>(i), 1.0 / 26);
    const Record& record = outcome.record;
    EXPECT_TRUE(record.verified()) << record.verification_error;
    ASSERT_TRUE(record.hybrid);
    EXPECT_EQ(record.purpose, "hybrid");
    EXPECT_EQ(record.hybrid->granularity, 2);
    EXPECT_GT(record.hybrid->own_seconds, 0);
    EXPECT_GT(record.hybrid->partner_seconds, 0);
    EXPECT_EQ(record.step, outcome.periods.back().step);

    Database database(built_in_families());
    database.add(record);
    const DeviceSide device{one_->device().fingerprint, one_->device().limits};
    const Share share = database.best_share(problem_, device, device);
    EXPECT_EQ(share.grade, Grade::exact);
    EXPECT_EQ(share.share, record.hybrid->share);

    // A second run begins there.
    settings_.known = share.known;
    settings_.sweep = 0;
    settings_.most_periods = 1;
    const BalanceOutcome again = run(problem_);
    EXPECT_EQ(again.periods_used, 1);
    EXPECT_NEAR(again.periods[0].share, share.share, 1.0 / 26);
}

TEST_F(BalanceTest, VerifiesAtTheShareFoundAfterASweepThatEndedElsewhere) {
    Hybrid known;
    known.share = 0.5;
    known.own_cost = known.partner_cost = {0, 1e-3, 0, 8};
    settings_.known = known;
    settings_.period = 3;
    settings_.most_periods = 1;
    settings_.sweep = 1;
    const BalanceOutcome outcome = run(problem_);
    EXPECT_NEAR(outcome.record.hybrid->share, 0.5, 1.0 / 26) << "one period, however far from the model, is no drift";
    EXPECT_TRUE(outcome.record.verified()) << outcome.record.verification_error;
}

TEST_F(BalanceTest, NamesTheWayOfEachDeviceUnderItsMeter) {
    settings_.period = 3;
    settings_.energy_seconds = 0.2;
    double clock = 0;
    // A counter that is renewed at every reading, as if the device drew a joule per reading.
    settings_.meters[0] = PowerSource{"nvml", "counter", PowerSource::Kind::joules, 0, 1e-3, [clock]() mutable { return std::optional(clock += 1); }};
    settings_.idle_watts = {5, 0};
    const BalanceOutcome outcome = run(problem_);
    ASSERT_EQ(outcome.metered.size(), 3U);
    EXPECT_FALSE(outcome.metered[0].takes_part[0]);
    EXPECT_FALSE(outcome.metered[0].watts()) << "the second device alone has no meter";
    EXPECT_FALSE(outcome.metered[1].takes_part[1]);
    EXPECT_TRUE(outcome.metered[1].watts());
    EXPECT_EQ(outcome.metered[2].units, static_cast<std::int64_t>(std::llround(outcome.record.hybrid->share * 26)));
    EXPECT_EQ(outcome.record.energy.has_value(), outcome.metered[2].watts().has_value());
}

TEST_F(BalanceTest, StopsWhenAsked) {
    settings_.period = 3;
    settings_.stop = [] { return true; };
    const BalanceOutcome outcome = run(problem_);
    EXPECT_FALSE(outcome.settled);
    EXPECT_EQ(outcome.periods.size(), 1U) << "a record needs a period";
}

TEST_F(BalanceTest, AWrongKernelGivesARecordThatIsNeverHandedOut) {
    Family wrong = built_in_families().of(problem_);
    const auto right = wrong.reference;
    wrong.reference = [right](const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
        right(problem, arrays, first, std::max(first, last - 1));
    };
    Match match;
    match.config = wrong.space(problem_, one_->device().limits).safe();
    const HybridSide bad{one_.get(), std::make_shared<const Kernel>(Kernel::reference(*one_, wrong, problem_, match, one_->device().limits))};
    settings_.period = 3;
    settings_.most_periods = 1;
    const BalanceOutcome outcome = balance(built_in_families().of(problem_), bad, side(*two_, problem_), settings_);
    EXPECT_FALSE(outcome.record.verified());
}

}  // namespace
}  // namespace hone::balance_test
