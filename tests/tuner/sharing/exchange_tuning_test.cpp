// The search for the settings of exchanges, among ranks in threads whose times are made up.
#include "tuner/sharing/exchange_tuning.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>

#include "foundation/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuning_db/database.hpp"

namespace hone::exchange_tuning_test {
namespace {

const ExchangeSpace space{
    {MessageWay::copies, MessageWay::stores, MessageWay::host}, {EdgePlace::ahead, EdgePlace::before, EdgePlace::serial}, {1, 2, 4}, {1, 2}};

// Seconds of a step of rank 1, which is the slower one; and digits.
using Times = std::function<double(const ExchangeSettings&)>;
using Digits = std::function<double(const ExchangeSettings&)>;

ExchangeTuning tuned(const Times& seconds, const Digits& digits) {
    ExchangeTuning result;
    std::mutex mutex;
    std::vector<ExchangeSettings> chosen;
    run_thread_ranks(2, [&](Communicator& ranks) {
        const auto run = [&]() -> ExchangePeriod {
            const double own = seconds(ranks.exchange_settings()) * (ranks.rank() == 0 ? 0.5 : 1);
            return {std::vector<double>(7, own), digits(ranks.exchange_settings())};
        };
        const ExchangeTuning own = tune_exchange(ranks, space, run);
        const std::lock_guard lock(mutex);
        chosen.push_back(ranks.exchange_settings());
        result = own;
    });
    EXPECT_EQ(chosen.size(), 2U);
    EXPECT_EQ(chosen.front(), chosen.back());
    EXPECT_EQ(chosen.front(), result.best.settings);
    return result;
}

// Each tunable counts by itself.
double separable(const ExchangeSettings& settings) {
    return 1e-3 * (settings.messages == MessageWay::stores ? 0.8 : 1) * (settings.edges == EdgePlace::before ? 0.7 : 1) *
           (1 + 0.1 * std::abs(std::log2(settings.depth / 2.0))) * settings.every;
}
double same(const ExchangeSettings&) {
    return 0.1;
}

TEST(ConcurrentExchangeTuning, FindsTheFastestByTheSlowestRank) {
    const ExchangeTuning tuning = tuned(separable, same);
    EXPECT_EQ(tuning.best.settings, (ExchangeSettings{MessageWay::stores, EdgePlace::before, 2, 1}));
    EXPECT_TRUE(tuning.verified());
    EXPECT_DOUBLE_EQ(tuning.best.step.median, separable(tuning.best.settings));
    EXPECT_DOUBLE_EQ(tuning.usual.step.median, separable(space.usual()));
    EXPECT_EQ(tuning.trials.front().settings, space.usual());
    EXPECT_LE(tuning.trials.size(), 1U + 2 * 7 + 2) << "no settings are searched twice";
}

TEST(ConcurrentExchangeTuning, KeepsTheUsualWhereNothingGainsAPercent) {
    const ExchangeTuning tuning = tuned([](const ExchangeSettings& settings) { return settings.depth == 4 ? 0.995e-3 : 1e-3; }, same);
    EXPECT_EQ(tuning.best.settings, space.usual());
    // Fast by chance, once.
    std::atomic<int> calls = 0;
    const ExchangeTuning lucky =
        tuned([&](const ExchangeSettings& settings) { return settings.messages == MessageWay::host && calls++ < 2 ? 0.5e-3 : 1e-3; }, same);
    EXPECT_EQ(lucky.best.settings, space.usual());
}

TEST(ConcurrentExchangeTuning, RefusesOtherDigits) {
    const auto other_with_stores = [](const ExchangeSettings& settings) { return settings.messages == MessageWay::stores ? 0.1 + 1e-17 * 2 : 0.1; };
    const ExchangeTuning tuning = tuned(separable, other_with_stores);
    EXPECT_EQ(tuning.best.settings, (ExchangeSettings{MessageWay::copies, EdgePlace::before, 2, 1}));
    // Not a number is a digit like others.
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(tuned(separable, [&](const ExchangeSettings&) { return none; }).best.settings.messages, MessageWay::stores);
}

TEST(ConcurrentExchangeTuning, ThrowsOnAllRanksForOtherNumbersOfSamples) {
    EXPECT_THROW(run_thread_ranks(2,
                                  [&](Communicator& ranks) {
                                      const auto run = [&]() -> ExchangePeriod {
                                          return {std::vector<double>(static_cast<std::size_t>(ranks.rank()), 1.0), 0};
                                      };
                                      tune_exchange(ranks, space, run);
                                  }),
                 Error);
}

TEST(ConcurrentExchangeTuning, GivesARecordThatADatabaseHandsOut) {
    const Families families = test::axpy_families();
    const Problem problem = families.parse_problem("axpy precision=f64 n=100");
    const Family& family = families.of(problem);
    const Device device{.fingerprint = {Target::cpu, "a processor", "x86-64-avx512", 2, "", "g++ 12.2"}, .limits = cpu_limits()};
    const Exchange about{.program = "smoother", .link = "host memory, between threads", .ranks = 2, .config = {}};
    const Record record = exchange_record(family, problem, family.space(problem, device.limits).safe(), device, about, space, tuned(separable, same));
    EXPECT_TRUE(record.verified());
    Database database(families);
    database.add(record);
    const test::TemporaryFolder folder;
    database.merge_into(folder.path());
    const ExchangeMatch match = Database::load(folder.path(), families).best_exchange(problem, device.fingerprint, about);
    ASSERT_EQ(match.grade, Grade::exact);
    EXPECT_EQ(match.record->exchange->config.key(), "messages=stores,edges=before,depth=2,every=1");
    EXPECT_DOUBLE_EQ(match.record->exchange->usual_seconds, separable(space.usual()));
    EXPECT_EQ(exchange_settings(match.record->exchange->config, "record"), (ExchangeSettings{MessageWay::stores, EdgePlace::before, 2, 1}));
}

}  // namespace
}  // namespace hone::exchange_tuning_test
