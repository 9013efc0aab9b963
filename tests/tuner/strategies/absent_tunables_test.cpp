// What it costs a search that forms do not have all tunables: the measured spaces of tests/spaces
// as today's families have them, unions of forms, and the same members as one flat product, in
// which a tunable that a form does not have keeps its first value.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tuner/replay/recorded_space.hpp"
#include "tuner/strategy.hpp"

namespace hone::absent_tunables_test {
namespace {

// Members of a space with their costs.
struct Measured {
    std::vector<FormSpace> forms;
    std::vector<std::int64_t> members;  // as they were read; `sorted` for strategies
    std::map<std::int64_t, double> cost;

    std::shared_ptr<const std::vector<std::int64_t>> sorted() const {
        auto all = members;
        std::sort(all.begin(), all.end());
        return std::make_shared<const std::vector<std::int64_t>>(std::move(all));
    }
};

struct Pair {
    Measured by_forms, flat;
};

Pair read_both(const std::filesystem::path& file) {
    const RecordedSpace recorded = read_recorded_space(file);
    const Problem problem = built_in_families().parse_problem(recorded.title().kernel);
    const SearchSpace today = built_in_families().of(problem).space(problem, cuda_limits(90));
    const SearchSpace former = recorded.space(1);
    std::vector<Assignment> first;
    for (const Tunable& tunable : today.tunables()) first.push_back({tunable.name, tunable.values.front()});
    const SearchSpace product(today.tunables(), {}, first);
    Pair pair{{today.forms(), {}, {}}, {product.forms(), {}, {}}};
    for (const std::int64_t index : recorded.members()) {
        const Config config = today.completed(former.at(index));
        std::vector<Assignment> filled = first;
        for (Assignment& assignment : filled)
            if (const Value* const value = config.find(assignment.name)) assignment.value = *value;
        for (const auto& [measured, member] :
             {std::pair{&pair.by_forms, today.index_of(config)}, std::pair{&pair.flat, product.index_of(Config(filled))}}) {
            measured->members.push_back(member);
            measured->cost[member] = recorded.cost(index);
        }
    }
    return pair;
}

// The best cost after so many evaluations of a search that starts from member number `start`.
std::vector<double> best_after(const Measured& measured, const StrategyEntry& entry, std::size_t start, std::uint64_t seed,
                               const std::vector<int>& evaluations) {
    const auto members = measured.sorted();
    const SearchSpace space = SearchSpace::of_members(measured.forms, members, measured.members.at(start));
    const auto strategy = entry.make(space, *members, seed);
    std::vector<double> result;
    double best = std::numeric_limits<double>::infinity();
    for (int done = 1; done <= evaluations.back(); ++done) {
        const auto member = strategy->ask();
        if (!member) ADD_FAILURE() << entry.name << " ends after " << done - 1 << " evaluations";
        if (!member) break;
        strategy->tell(*member, measured.cost.at(*member));
        best = std::min(best, measured.cost.at(*member));
        if (std::find(evaluations.begin(), evaluations.end(), done) != evaluations.end()) result.push_back(best);
    }
    return result;
}

TEST(SlowAbsentTunables, CostNoSearchAnything) {
    constexpr int searches = 10;    // of each space and strategy
    constexpr double worse = 0.01;  // of the optimum's rate, in the mean: five standard errors of a hundred searches by the default
    const std::vector<int> evaluations{25, 50, 100};
    std::random_device device;
    const std::uint64_t seed = device();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::map<std::string, std::vector<double>> sums[2];
    int spaces = 0, of_several_forms = 0;
    for (const auto& file : std::filesystem::directory_iterator(test::source_path("tests/spaces"))) {
        if (file.path().extension() != ".gz") continue;
        ++spaces;
        const Pair pair = read_both(file.path());
        of_several_forms += pair.by_forms.forms.size() > 1 ? 1 : 0;
        double optimum = std::numeric_limits<double>::infinity();
        for (const auto& [member, cost] : pair.flat.cost) optimum = std::min(optimum, cost);
        for (const StrategyEntry& entry : strategies()) {
            if (entry.name == "exhaustive") continue;
            for (int search = 0; search < searches; ++search) {
                std::mt19937_64 random(seed + static_cast<std::uint64_t>(search));
                const std::size_t start = random() % pair.flat.members.size();
                const std::uint64_t of_search = random();
                for (const int flat : {0, 1}) {
                    const auto best = best_after(flat == 1 ? pair.flat : pair.by_forms, entry, start, of_search, evaluations);
                    auto& sum = sums[flat][entry.name];
                    sum.resize(evaluations.size());
                    for (std::size_t i = 0; i < best.size(); ++i) sum[i] += std::isfinite(best[i]) ? optimum / best[i] : 0;
                }
            }
        }
    }
    EXPECT_GE(spaces, 10);
    EXPECT_GE(of_several_forms, 4);
    for (const auto& [name, by_forms] : sums[0])
        for (std::size_t i = 0; i < evaluations.size(); ++i) {
            const double ours = by_forms[i] / (spaces * searches), flat = sums[1][name][i] / (spaces * searches);
            fmt::print("{:<12} after {:>3} evaluations: by forms {:.4f} of the optimum, flat {:.4f}\n", name, evaluations[i], ours, flat);
            if (name != "random") EXPECT_GT(ours, flat - worse) << name << " after " << evaluations[i];
        }
}

}  // namespace
}  // namespace hone::absent_tunables_test
