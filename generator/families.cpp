#include "generator/families.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

// The value of a parameter, checked against its declaration.
Value checked(const ProblemParameter& parameter, const Value& value, const std::string& where) {
    const std::string found = fmt::format("{} is {}", parameter.name, to_string(value));
    if (!parameter.words.empty()) {
        const std::string word = to_string(value);
        if (std::find(parameter.words.begin(), parameter.words.end(), word) == parameter.words.end())
            throw Error(where, found, did_you_mean(word, parameter.words) + fmt::format("use one of {}", fmt::join(parameter.words, ", ")));
        return word;
    }
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < parameter.low || *number > parameter.high)
        throw Error(where, found, fmt::format("use a whole number from {} to {}", parameter.low, parameter.high));
    return value;
}

// `1..10` as ten values, `a,b` as two.
std::vector<Value> expand(std::string_view text, const std::string& where) {
    constexpr std::int64_t longest = 10000;
    std::vector<Value> values;
    for (const auto item : split(text, ',')) {
        const std::size_t dots = item.find("..");
        if (dots == std::string_view::npos) {
            values.push_back(parse_value(item));
            continue;
        }
        const Value low = parse_value(item.substr(0, dots));
        const Value high = parse_value(item.substr(dots + 2));
        const auto* first = std::get_if<std::int64_t>(&low);
        const auto* last = std::get_if<std::int64_t>(&high);
        // No extent reaches 2^61, and below it the difference of two ends cannot overflow.
        constexpr std::int64_t end = std::int64_t{1} << 61;
        if (first == nullptr || last == nullptr || *first < -end || *last > end || *first > *last || *last - *first >= longest)
            throw Error(where, fmt::format("\"{}\" is not a range", item), "write a range as 1..10, the smaller number first");
        for (std::int64_t number = *first; number <= *last; ++number) values.emplace_back(number);
    }
    return values;
}

struct Words {
    std::string family;
    std::vector<std::pair<std::string, std::string_view>> assignments;
};

Words split_words(std::string_view text) {
    Words words;
    for (const auto word : split(text, ' ')) {
        if (word.empty()) continue;
        if (words.family.empty()) {
            words.family = word;
            continue;
        }
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos || equals == 0)
            throw Error(fmt::format("problem \"{}\"", text), fmt::format("\"{}\" is not name=value", word),
                        "write a problem as: family name=value ...");
        words.assignments.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    if (words.family.empty()) throw Error("problem", "it is empty", "write a problem as: family name=value ...");
    return words;
}

// Whether a parameter has the number that its fallback stands for.
bool is_meant(const std::string& family, const ProblemParameter& parameter, std::vector<Assignment> values, const Value& fallback,
              const std::vector<std::string>& extents) {
    const auto own = std::find_if(values.begin(), values.end(), [&](const Assignment& a) { return a.name == parameter.name; });
    if (own->value == fallback) return false;
    const Value given = std::exchange(own->value, fallback);
    try {
        return given == Value(parameter.meaning({family, std::move(values), extents}));
    } catch (const Error&) {  // a problem that cannot be: whoever asks for its arrays is told why
        return false;
    }
}

}  // namespace

bool Families::has(std::string_view name) const {
    return std::any_of(families_.begin(), families_.end(), [&](const Family& family) { return family.name == name; });
}

const Family& Families::find(std::string_view name) const {
    const auto found = std::find_if(families_.begin(), families_.end(), [&](const Family& f) { return f.name == name; });
    if (found != families_.end()) return *found;
    // "jacobi" for "jacobi:3fa91c02", where there is no other of that name.
    const auto is_version = [&](const Family& family) { return family.name.starts_with(std::string(name) + ":"); };
    if (std::count_if(families_.begin(), families_.end(), is_version) == 1) return *std::find_if(families_.begin(), families_.end(), is_version);
    std::vector<std::string> names;
    for (const auto& family : families_) names.push_back(family.name);
    throw Error("problem", fmt::format("there is no family \"{}\"", name),
                did_you_mean(name, names) + fmt::format("the families are {}", fmt::join(names, ", ")));
}

Problem Families::make_problem(std::string_view family_name, const std::vector<Assignment>& given) const {
    const Family& family = find(family_name);
    const std::string where = fmt::format("problem \"{}{}{}\"", family_name, given.empty() ? "" : " ", assignments_text(given, " "));
    std::vector<std::string> names;
    std::vector<std::string> extents;
    for (const auto& parameter : family.parameters) {
        names.push_back(parameter.name);
        if (parameter.extent) extents.push_back(parameter.name);
    }
    for (const auto& assignment : given) {
        if (std::find(names.begin(), names.end(), assignment.name) == names.end())
            throw Error(where, fmt::format("{} has no parameter \"{}\"", family.name, assignment.name),
                        did_you_mean(assignment.name, names) + fmt::format("its parameters are {}", fmt::join(names, ", ")));
        if (std::count_if(given.begin(), given.end(), [&](const Assignment& other) { return other.name == assignment.name; }) > 1)
            throw Error(where, fmt::format("{} is given twice", assignment.name), "give it once");
    }
    std::vector<Assignment> values;
    for (const auto& parameter : family.parameters) {
        const auto found = std::find_if(given.begin(), given.end(), [&](const Assignment& a) { return a.name == parameter.name; });
        if (found == given.end() && parameter.fallback.empty())
            throw Error(where, fmt::format("{} is missing", parameter.name),
                        fmt::format("add {}=..., for example: {}", parameter.name, family.example));
        values.push_back({parameter.name, checked(parameter, found == given.end() ? parse_value(parameter.fallback) : found->value, where)});
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        if (const ProblemParameter& parameter = family.parameters[i]; parameter.meaning)
            if (const Value fallback = parse_value(parameter.fallback); is_meant(family.name, parameter, values, fallback, extents))
                values[i].value = fallback;
    return {family.name, std::move(values), std::move(extents)};
}

Problem Families::parse_problem(std::string_view text) const {
    const std::vector<Problem> problems = parse_problems(text);
    if (problems.size() != 1)
        throw Error(fmt::format("problem \"{}\"", text), fmt::format("it means {} problems", problems.size()), "name one problem here");
    return problems.front();
}

std::vector<Problem> Families::parse_problems(std::string_view text) const {
    constexpr std::size_t most = 100000;
    const Words words = split_words(text);
    const std::string where = fmt::format("problem \"{}\"", text);
    std::vector<std::vector<Assignment>> combinations(1);
    for (const auto& [name, list] : words.assignments) {
        std::vector<std::vector<Assignment>> longer;
        const std::vector<Value> values = expand(list, where);
        if (combinations.size() * values.size() > most) throw Error(where, fmt::format("it means over {} problems", most), "name fewer values");
        for (const auto& combination : combinations)
            for (const auto& value : values) {
                longer.push_back(combination);
                longer.back().push_back({name, value});
            }
        combinations = std::move(longer);
    }
    std::vector<Problem> problems;
    problems.reserve(combinations.size());
    for (const auto& combination : combinations) problems.push_back(make_problem(words.family, combination));
    return problems;
}

}  // namespace hone::inline v0_1
