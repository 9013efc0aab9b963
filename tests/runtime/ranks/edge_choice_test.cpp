#include "runtime/ranks/edge_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "generator/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"

namespace hone::edge_choice_test {
namespace {

class EdgeChoiceTest : public ::testing::Test {
  protected:
    // What two ranks choose, of which each takes so many seconds for a step of each way; and how many steps that took.
    struct Chosen {
        EdgePlace place;
        int steps;
        bool operator==(const Chosen&) const = default;
    };
    std::vector<Chosen> chosen(const std::array<std::map<EdgePlace, double>, 2>& seconds_of_a_step) {
        std::vector<Chosen> result(2);
        run_thread_ranks(2, [&](Communicator& communicator) {
            const auto rank = static_cast<std::size_t>(communicator.rank());
            double clock = 0;
            EdgeChoice choice(communicator, *backend_, {EdgePlace::beside, EdgePlace::together, EdgePlace::before}, [&] { return clock; });
            int steps = 0;
            for (; !choice.has_chosen() && steps < 1000; ++steps) {
                clock += seconds_of_a_step[rank].at(choice.place());
                choice.step_is_queued();
            }
            result[rank] = {choice.place(), steps};
            choice.step_is_queued();
            EXPECT_EQ(choice.place(), result[rank].place);
        });
        EXPECT_EQ(result[0], result[1]);
        return result;
    }

    test::EnvironmentVariable nothing_{"HONE_EDGES", {}};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(EdgeChoiceTest, TakesWhatTheSlowestRankIsFastestWith) {
    using enum EdgePlace;
    EXPECT_EQ(chosen({{{{beside, 1}, {together, 2}, {before, 2}}, {{beside, 5}, {together, 3}, {before, 4}}}})[0].place, together);
    EXPECT_EQ(chosen({{{{beside, 3}, {together, 3}, {before, 1}}, {{beside, 1}, {together, 1}, {before, 2}}}})[0].place, before);
    // Of equals the first one.
    const Chosen equal = chosen({{{{beside, 1}, {together, 1}, {before, 1}}, {{beside, 1}, {together, 1}, {before, 1}}}})[0];
    EXPECT_EQ(equal.place, beside);
    EXPECT_EQ(equal.steps, 48);
}

TEST_F(EdgeChoiceTest, DoesWhatItIsAskedFor) {
    using enum EdgePlace;
    const std::map<EdgePlace, double> times{{beside, 1}, {together, 1}, {before, 1}};
    for (const auto& [word, place] : {std::pair("before", before), {"together", together}, {"beside", beside}}) {
        const test::EnvironmentVariable wish("HONE_EDGES", word);
        EXPECT_EQ(chosen({times, times})[0], (Chosen{place, 0}));
    }
    const test::EnvironmentVariable nonsense("HONE_EDGES", "nowhere");
    EXPECT_THROW(chosen({times, times}), Error);
    EXPECT_THROW(run_thread_ranks(1, [&](Communicator& communicator) { EdgeChoice(communicator, *backend_, {}); }), Error);
}

}  // namespace
}  // namespace hone::edge_choice_test
