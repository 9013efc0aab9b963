// What a neighbour's results are worth, on two recorded spaces: the same kernel, published for GPUs
// of two makers, with different values and, in part, different tunables. So these are far
// neighbours; what they save is a lower bound for another order or size on one device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/community_spaces.hpp"
#include "tuner/prior.hpp"
#include "tuner/replay/recorded_space.hpp"
#include "tuner/replay/simulation.hpp"

namespace hone::prior_simulation_test {
namespace {

/// The best four configurations of one space as members of another.
std::vector<std::int64_t> promising(const RecordedSpace& neighbour, const SearchSpace& own, const SearchSpace& space) {
    std::vector<std::int64_t> best = neighbour.members();
    std::stable_sort(best.begin(), best.end(), [&](std::int64_t a, std::int64_t b) { return neighbour.cost(a) < neighbour.cost(b); });
    std::vector<std::int64_t> members;
    for (std::size_t i = 0; i < 4; ++i)
        if (const auto member = nearest_member(space, own.at(best[i]))) members.push_back(space.index_of(*member));
    return members;
}

/// Evaluations until the best is within `part` of the optimum.
int evaluations_to(const RecordedSpace& recorded, const SearchSpace& space, std::uint64_t seed, std::vector<std::int64_t> members, double part) {
    constexpr int most = 2000;
    Tuner tuner(space, strategies().front(), seed, {.window = 1}, {.promising = std::move(members)});
    for (int evaluations = 1; evaluations <= most; ++evaluations) {
        const auto candidate = tuner.next();
        if (!candidate || candidate->finalist) return most;
        const RecordedConfiguration found = recorded.at(candidate->index);
        if (found.cost <= recorded.optimum() * (1 + part)) return evaluations;
        tuner.report(*candidate, found.outcome);
    }
    return most;
}

TEST(SlowPrior, SavesEvaluationsEvenFromAnotherMakersDevice) {
    const std::string turing_file = test::community_space("convolution__RTX_2080_Ti.json.gz");
    const std::string cdna_file = test::community_space("convolution_milo__MI250X.json.gz");
    if (turing_file.empty() || cdna_file.empty()) GTEST_SKIP() << test::no_community_spaces;
    const RecordedSpace turing = read_recorded_space(turing_file);
    const RecordedSpace cdna = read_recorded_space(cdna_file);
    constexpr int repetitions = 100;
    for (const auto& [own, neighbour] : {std::pair{&turing, &cdna}, std::pair{&cdna, &turing}}) {
        for (const double part : {0.5, 0.25, 0.1}) {
            double without = 0;
            double with = 0;
            for (int repetition = 0; repetition < repetitions; ++repetition) {
                const std::uint64_t seed = repetition_seed(1, repetition);
                const SearchSpace space = own->space(seed);
                without += evaluations_to(*own, space, seed, {}, part) / double{repetitions};
                with += evaluations_to(*own, space, seed, promising(*neighbour, neighbour->space(seed), space), part) / double{repetitions};
            }
            std::printf("%s, to within %.0f %%: %.0f evaluations without, %.0f with the best four of %s\n", own->title().name.c_str(), 100 * part,
                        without, with, neighbour->title().name.c_str());
            EXPECT_LT(with, 0.9 * without) << "measured when this was written: 0.2 to 0.82";
        }
    }
}

}  // namespace
}  // namespace hone::prior_simulation_test
