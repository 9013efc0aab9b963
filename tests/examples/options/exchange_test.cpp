// What programs do with --exchange and --tune-exchange, on ranks in threads of the processor whose
// times are made up.
#include "examples/options/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::examples::exchange_test {
namespace {

using testing::HasSubstr;

class ExchangeOptionsTest : public ::testing::Test {
  protected:
    // The settings that ranks come to with these options and the folder's records: the same on all.
    ExchangeSettings chosen(const ExchangeOptions& options, int ranks = 2) {
        std::vector<ExchangeSettings> settings(static_cast<std::size_t>(ranks));
        const Database database = Database::load(folder_.path(), built_in_families());
        const auto choose = [&](Communicator& communicator) {
            const auto run = [&]() -> ExchangePeriod {
                const ExchangeSettings& now = communicator.exchange_settings();
                return {std::vector<double>(6, (now.edges == EdgePlace::serial ? 1e-3 : 2e-3) / now.depth), 1};
            };
            choose_exchange(options, communicator, *backend_, database, folder_.path(), step_, run);
            settings[static_cast<std::size_t>(communicator.rank())] = communicator.exchange_settings();
        };
        run_thread_ranks(ranks, choose);
        for (const ExchangeSettings& of_rank : settings) EXPECT_EQ(of_rank, settings.front());
        return settings.front();
    }
    std::string refusal_of(const ExchangeOptions& options) {
        try {
            chosen(options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    test::TemporaryFolder folder_;
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    ExchangedStep step_{"smoother",
                        built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f64 nx=12 ny=11 nz=26"),
                        {{}, {EdgePlace::ahead, EdgePlace::beside, EdgePlace::serial}, {1, 2}, {}}};
    const ExchangeSettings best_{MessageWay::best, EdgePlace::serial, 2, 0};
};

TEST_F(ExchangeOptionsTest, WhatWasMeasuredIsFound) {
    EXPECT_EQ(chosen({}), ExchangeSettings()) << "nothing is known";
    EXPECT_EQ(chosen({.how = "auto", .tune = true}), best_);
    EXPECT_EQ(chosen({}), best_);
    EXPECT_EQ(chosen({}, 3), best_) << "of two ranks, the nearest number";
    EXPECT_EQ(chosen({.how = "usual"}), ExchangeSettings());
    EXPECT_EQ(chosen({.how = "edges=before,depth=4"}), (ExchangeSettings{MessageWay::best, EdgePlace::before, 4, 0}));
    EXPECT_EQ(chosen({.how = "auto", .tune = true}, 1), ExchangeSettings()) << "one rank exchanges nothing";
    step_.program = "another";
    EXPECT_EQ(chosen({}), ExchangeSettings());
}

TEST_F(ExchangeOptionsTest, RecordsOfTunablesThatAreNotKnownAreLeftAlone) {
    chosen({.how = "auto", .tune = true});
    const Database database = Database::load(folder_.path(), built_in_families());
    ASSERT_EQ(database.records().size(), 1U);
    Record newer = database.records().front();
    newer.exchange->config = Config({{"edges", std::string("folded")}});
    Database::replace_in(folder_.path(), built_in_families(), {{database.records().front(), newer}});
    EXPECT_EQ(chosen({}), ExchangeSettings());
}

TEST_F(ExchangeOptionsTest, RefusesWhatDoesNotFit) {
    EXPECT_THAT(refusal_of({.how = "fast"}), HasSubstr("\"fast\" has no ="));
    EXPECT_THAT(refusal_of({.how = "edges=nowhere"}), HasSubstr("\"nowhere\" is not a place for edges"));
    EXPECT_THAT(refusal_of({.how = ""}), HasSubstr("it is empty"));
    EXPECT_THAT(refusal_of({.how = "every=2"}), HasSubstr("smoother has no every"));
    EXPECT_THAT(refusal_of({.how = "edges=before,edges=ahead"}), HasSubstr("edges is given twice"));
    EXPECT_THAT(refusal_of({.how = "edges=before", .tune = true}), HasSubstr("--exchange says what to use"));
    step_.space = {};
    EXPECT_THAT(refusal_of({.how = "edges=before"}), HasSubstr("smoother has no edges on processors"));
    EXPECT_EQ(chosen({.how = "auto", .tune = true}), ExchangeSettings()) << "there is nothing to choose";
}

// As many steps with all settings, and the digits of the last one.
TEST_F(ExchangeOptionsTest, ATimerTakesAsManyStepsWhateverTheyTake) {
    run_thread_ranks(2, [&](Communicator& ranks) {
        StepTimer timer(ranks, *backend_);
        std::vector<int> taken;
        for (int setting = 0; setting < 3; ++setting) {
            int steps = 0;
            const ExchangePeriod period = timer.steps([&] { ++steps; }, [&] { return static_cast<double>(steps); });
            EXPECT_EQ(period.seconds.size(), 5U);
            EXPECT_EQ(period.digits, steps);
            taken.push_back(steps);
        }
        EXPECT_EQ(taken[1], taken[2]);
        EXPECT_GT(taken[0], 5 * 4);
    });
}

}  // namespace
}  // namespace hone::examples::exchange_test
