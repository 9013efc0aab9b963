#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/early_expression.hpp"
#include "generator/search_space.hpp"
#include "generator/value_lists.hpp"

namespace hone::test {

/// Eight tunables of 1 to 10 and some loose rules: over 9 * 10^7 members of 10^8 configurations.
inline SearchSpace large_space() {
    auto names = std::make_shared<std::vector<EarlyName>>();
    std::vector<Tunable> tunables;
    std::vector<Assignment> safe;
    for (int i = 0; i < 8; ++i) {
        const std::string name = "t" + std::to_string(i);
        tunables.push_back({name, "", numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})});
        EarlyName& early = names->emplace_back();
        early.name = name;
        for (std::int64_t value = 1; value <= 10; ++value) early.values.emplace_back().held = value;
        safe.push_back({name, std::int64_t{1}});
    }
    std::vector<Constraint> constraints;
    for (const char* const rule : {"t0 * t1 <= 90", "t2 + t3 != 3", "t4 + t5 + t6 + t7 <= 38", "t0 + t7 < 20 or t3 == 1"}) {
        const PythonExpression expression(rule, rule);
        constraints.push_back({rule,
                               [expression](const Config& config) -> std::optional<std::string> {
                                   const auto value = [&](const std::string& name) { return PythonValue{config.integer(name)}; };
                                   if (expression.evaluate(value).truth()) return std::nullopt;
                                   return "it is broken";
                               },
                               expression.names(),
                               [expression, names] { return std::make_unique<EarlyExpression>(expression, names, PythonExpression::Lookup()); }});
    }
    return {std::move(tunables), std::move(constraints), std::move(safe)};
}

}  // namespace hone::test
