#include "runtime/kernel_folder/first_allowed.hpp"

#include <algorithm>
#include <cstdint>

#include "generator/error.hpp"

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
    constexpr std::int64_t most_tried = 1'000'000;
    std::vector<std::size_t> places(choices.size(), 0);
    for (std::int64_t tried = 0; tried < most_tried; ++tried) {
        if (allowed(choices, places, conditions)) return places;
        std::size_t i = choices.size();
        while (i > 0 && ++places[i - 1] == choices[i - 1].values.size()) places[--i] = 0;
        if (i == 0) break;
    }
    return std::nullopt;
}

}  // namespace hone::inline v0_1::kernel_folder
