#include <algorithm>
#include <array>

#include "foundation/error.hpp"
#include "tuner/strategies/annealing.hpp"
#include "tuner/strategies/exhaustive.hpp"
#include "tuner/strategies/genetic.hpp"
#include "tuner/strategies/local_search.hpp"
#include "tuner/strategies/random_search.hpp"
#include "tuner/strategies/surrogate.hpp"
#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

std::span<const StrategyEntry> strategies() {
    // Never destroyed: online tuning may be beginning while the program exits.
    static const auto& table = *new const std::array<StrategyEntry, 6>{{
        {"surrogate", "where a model of the costs so far expects the most; for every space", make_surrogate, true},
        {"local_search", "greedy descent over neighbours, kicked out of local optima", make_local_search},
        {"annealing", "a walk over neighbours that cools down", make_annealing},
        {"genetic", "children of the best", make_genetic},
        {"random", "members in random order", make_random_search},
        {"exhaustive", "every member in order; for small spaces", make_exhaustive},
    }};
    return table;
}

const StrategyEntry& find_strategy(const std::string& name) {
    std::vector<std::string> names;
    for (const StrategyEntry& entry : strategies()) {
        if (entry.name == name) return entry;
        names.push_back(entry.name);
    }
    std::string list;
    for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
    throw Error("strategy", "there is none named \"" + name + "\"", did_you_mean(name, names) + "the strategies are " + list);
}

}  // namespace hone::inline v0_1
