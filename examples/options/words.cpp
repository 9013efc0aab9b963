#include "examples/options/words.hpp"

#include <fmt/format.h>

#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <numeric>
#include <sstream>

namespace hone::examples {

std::pair<std::string, std::string> named_value(const std::string& option, const std::string& word) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos) throw Error(option, "\"" + word + "\" has no =", "write " + option + " NAME=...");
    return {word.substr(0, at), word.substr(at + 1)};
}

std::vector<double> numbers(const std::string& option, const std::string& word, std::size_t count) {
    std::vector<double> result;
    std::istringstream stream(word + ",");
    for (std::string part; std::getline(stream, part, ',');) {
        std::size_t used = 0;
        result.push_back(number_at_head(part, &used).value_or(0));
        if (part.empty() || used != part.size()) throw Error(option, "\"" + part + "\" is not a number", "write a number");
    }
    if (result.size() != count)
        throw Error(option, fmt::format("\"{}\" has {} of {} numbers", word, result.size(), count), "write all, with commas between them");
    return result;
}

std::vector<int> range_of(const std::string& option, const std::string& word, int low, int high) {
    const std::size_t dots = word.find("..");
    const double first = numbers(option, word.substr(0, dots), 1).front();
    const double last = dots == std::string::npos ? first : numbers(option, word.substr(dots + 2), 1).front();
    if (!(low <= first && first <= last && last <= high) || first != static_cast<int>(first) || last != static_cast<int>(last))
        throw Error(option, "it is " + word, fmt::format("use {0} to {1}, or a range such as {0}..{1}", low, high));
    std::vector<int> result(static_cast<std::size_t>(last - first) + 1);
    std::iota(result.begin(), result.end(), static_cast<int>(first));
    return result;
}

}  // namespace hone::examples
