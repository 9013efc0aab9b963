#include <algorithm>
#include <array>

#include "generator/error.hpp"
#include "tuner/strategies/exhaustive.hpp"
#include "tuner/strategies/local_search.hpp"
#include "tuner/strategies/random_search.hpp"
#include "tuner/strategy.hpp"

namespace hone {

std::span<const StrategyEntry> strategies() {
    static const std::array<StrategyEntry, 3> table{{
        {"local_search", "guided local search over valid neighbours, with restarts", make_local_search},
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

}  // namespace hone
