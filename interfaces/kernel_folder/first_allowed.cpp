#include "interfaces/kernel_folder/first_allowed.hpp"

#include <algorithm>
#include <memory>

#include "foundation/error.hpp"
#include "generator/census.hpp"
#include "generator/early_expression.hpp"

namespace hone::inline v0_1::kernel_folder {

bool allowed(const std::vector<Choice>& choices, const std::vector<std::size_t>& places, const std::vector<PythonExpression>& conditions) {
    const auto value_of = [&](const std::string& name) -> PythonValue {
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (choices[i].name == name) return choices[i].values[places[i]];
        throw Error("conditions", "one asks for " + name, "name one of the tunables");
    };
    return std::all_of(conditions.begin(), conditions.end(), [&](const PythonExpression& one) { return one.evaluate(value_of).truth(); });
}

std::optional<std::vector<std::size_t>> first_allowed(const std::vector<Choice>& choices, const std::vector<PythonExpression>& conditions) {
    std::vector<std::size_t> sizes;
    sizes.reserve(choices.size());
    for (const Choice& choice : choices) sizes.push_back(choice.values.size());
    const auto tunables = std::make_shared<const std::vector<Choice>>(choices);
    std::vector<std::unique_ptr<EarlyRule>> rules;
    rules.reserve(conditions.size());
    for (const PythonExpression& condition : conditions)
        rules.push_back(std::make_unique<EarlyExpression>(condition, tunables, [](const std::string& name) -> PythonValue {
            throw Error("conditions", "one asks for " + name, "name one of the tunables");
        }));
    const auto first = first_member(sizes, rules);
    if (!first) return std::nullopt;
    return std::vector<std::size_t>(first->begin(), first->end());
}

}  // namespace hone::inline v0_1::kernel_folder
