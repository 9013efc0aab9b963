#include "tuner/replay/outcome_columns.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tuner/random.hpp"
#include "tuner/replay/formats/parameter_values.hpp"

namespace hone::outcome_columns_test {
namespace {

Outcome random_outcome(Random& random) {
    if (random.below(4) == 0) return failure(random.below(2) == 0 ? Status::wrong : Status::crashed, fmt::format("reason {}", random.below(3)));
    Outcome outcome = measurement(random.real(), std::vector<double>(random.below(4), random.real()));
    if (random.below(3) == 0) outcome.compile_seconds = random.real();
    if (random.below(5) == 0) outcome.energy.emplace().watts = random.real();
    if (random.below(5) == 0) outcome.tolerance = random.real();
    if (random.below(5) == 0) outcome.samples.clear();
    return outcome;
}

TEST(OutcomeColumns, GiveEveryOutcomeBackAsItWasAdded) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    OutcomeColumns columns;
    std::vector<Outcome> outcomes;
    for (int i = 0; i < 500; ++i) {
        outcomes.push_back(random_outcome(random));
        columns.add(outcomes.back());
    }
    ASSERT_EQ(columns.size(), outcomes.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(columns[i], outcomes[i]) << i;
}

}  // namespace
}  // namespace hone::outcome_columns_test
