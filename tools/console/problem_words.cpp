#include "tools/console/problem_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "foundation/error.hpp"
#include "foundation/text.hpp"

namespace hone::tools {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = text.find(separator, begin);
        if (std::string part = text.substr(begin, end - begin); !part.empty()) parts.push_back(std::move(part));
    }
    return parts;
}

std::vector<std::string> family_names(const Families& families) {
    std::vector<std::string> names;
    for (const auto& family : families) names.push_back(family.name);
    return names;
}

// A family's whole name, or without what tells versions of a user's kernel apart.
bool is_family(const std::string& word, const Families& families) {
    return std::any_of(families.begin(), families.end(),
                       [&](const Family& family) { return family.name == word || family.name.starts_with(word + ":"); });
}

// Every word of all arguments: one argument may hold a whole quoted problem.
std::vector<std::string> single_words(const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    for (const auto& argument : arguments)
        for (auto& word : split(argument, ' ')) words.push_back(std::move(word));
    return words;
}

// A word among assignments that has no "=" was meant as a family, or its "=" was forgotten.
void check_shape(const std::string& word, const Families& families) {
    if (word.find('=') != std::string::npos) return;
    if (is_family(word, families)) throw Error("problem", fmt::format("the family {} follows its values", word), "write the family first");
    throw Error("problem", fmt::format("\"{}\" is neither a family nor key=value", word),
                did_you_mean(word, family_names(families)) + fmt::format("the families are {}", fmt::join(family_names(families), ", ")));
}

// The declarations of a parameter in the given family, or in all of them.
std::vector<const ProblemParameter*> declarations(const std::string& name, const std::string& family_name, const Families& families) {
    std::vector<const ProblemParameter*> found;
    std::vector<std::string> names;
    for (const auto& family : families) {
        if (!family_name.empty() && family.name != family_name) continue;
        for (const auto& parameter : family.parameters) {
            names.push_back(parameter.name);
            if (parameter.name == name) found.push_back(&parameter);
        }
    }
    if (found.empty()) {
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        throw Error("problem", fmt::format("there is no parameter \"{}\"", name),
                    did_you_mean(name, names) + fmt::format("the parameters are {}", fmt::join(names, ", ")));
    }
    return found;
}

void check_word(const std::string& name, const std::string& value, const std::vector<const ProblemParameter*>& parameters) {
    std::vector<std::string> allowed;
    for (const auto* parameter : parameters) {
        if (parameter->words.empty()) return;
        allowed.insert(allowed.end(), parameter->words.begin(), parameter->words.end());
    }
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
        throw Error("problem", fmt::format("{} is {}", name, value),
                    did_you_mean(value, allowed) + fmt::format("use one of {}", fmt::join(allowed, ", ")));
}

// Notes a parameter of a family that is known from its records alone, and its value where all
// values are words.
void learn(Family& family, const Assignment& assignment) {
    auto& parameters = family.parameters;
    auto found = std::find_if(parameters.begin(), parameters.end(), [&](const ProblemParameter& one) { return one.name == assignment.name; });
    if (found == parameters.end()) {
        found = parameters.insert(found, ProblemParameter{});
        found->name = assignment.name;
    }
    const auto* word = std::get_if<std::string>(&assignment.value);
    found->extent = found->extent || word == nullptr;  // what holds a number once is taken for a size
    if (found->extent)
        found->words.clear();
    else if (std::find(found->words.begin(), found->words.end(), *word) == found->words.end())
        found->words.push_back(*word);
}

// "7" or "1..10": does the number lie in it? Anything else is compared as a word.
bool lies_in(const Value& value, const std::string& text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos) return to_string(value) == text;
    const Value low = parse_value(text.substr(0, dots));
    const Value high = parse_value(text.substr(dots + 2));
    const auto* number = std::get_if<std::int64_t>(&value);
    const auto* first = std::get_if<std::int64_t>(&low);
    const auto* last = std::get_if<std::int64_t>(&high);
    if (first == nullptr || last == nullptr) throw Error("problem", fmt::format("\"{}\" is not a range", text), "write a range as 1..10");
    return number != nullptr && *first <= *number && *number <= *last;
}

// Why a problem cannot be computed on a device, or an empty string.
std::string impossible(const Problem& problem, const Families& families, const Device& device) {
    try {
        families.of(problem).space(problem, device.limits);
        const std::int64_t bytes = array_bytes(problem, families);
        if (bytes <= device.memory_bytes) return "";
        return fmt::format("problem \"{}\": its arrays have {}, {} has {}; make it smaller", problem.key(), text::bytes(static_cast<double>(bytes)),
                           device.fingerprint.name, text::bytes(static_cast<double>(device.memory_bytes)));
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

std::vector<Problem> problems_of(const std::vector<std::string>& arguments, const Families& families) {
    std::vector<std::string> texts;
    for (const auto& word : single_words(arguments)) {
        if (texts.empty() || is_family(word, families)) {
            texts.push_back(word);
            continue;
        }
        check_shape(word, families);
        texts.back() += " " + word;
    }
    if (texts.empty())
        throw Error("problem", "none is given",
                    fmt::format("write a problem as: family key=value ...; the families are {}", fmt::join(family_names(families), ", ")));
    std::vector<Problem> problems;
    for (const auto& text : texts)
        for (auto& problem : families.parse_problems(text)) problems.push_back(std::move(problem));
    return problems;
}

Problem problem_of(const std::vector<std::string>& words, const Families& families) {
    std::vector<Problem> problems = problems_of(words, families);
    if (problems.size() != 1)
        throw Error("problem", fmt::format("the arguments match {} problems", problems.size()), "name one problem here, without lists and ranges");
    return std::move(problems.front());
}

std::int64_t array_bytes(const Problem& problem, const Families& families) {
    std::int64_t words = 0;
    for (const auto& array : families.of(problem).arrays(problem)) words += array.words;
    return words * bytes_per_word(problem.precision());
}

void require_possible(const std::vector<Problem>& problems, const Families& families, const Device& device) {
    constexpr std::size_t most_named = 10;
    std::vector<std::string> reasons;
    for (const auto& problem : problems)
        if (std::string reason = impossible(problem, families, device); !reason.empty()) reasons.push_back(std::move(reason));
    if (reasons.empty()) return;
    if (problems.size() == 1) throw Error(reasons.front());
    std::string text;
    for (std::size_t i = 0; i < std::min(reasons.size(), most_named); ++i) text += "\n  " + reasons[i];
    if (reasons.size() > most_named) text += fmt::format("\n  and {} more", reasons.size() - most_named);
    throw Error("problems", fmt::format("{} of {} cannot be computed here:{}", reasons.size(), problems.size(), text),
                "leave these out; nothing was measured yet");
}

std::string short_key(const Problem& problem, const Families& families) {
    if (!is_family(problem.family(), families)) return problem.key();
    const auto& parameters = families.of(problem).parameters;
    std::vector<Assignment> told;
    for (const auto& assignment : problem.parameters()) {
        const bool is_default = std::any_of(parameters.begin(), parameters.end(), [&](const ProblemParameter& parameter) {
            return parameter.extent && parameter.name == assignment.name && parameter.fallback == to_string(assignment.value);
        });
        if (!is_default) told.push_back(assignment);
    }
    return problem.family() + " " + assignments_text(told, " ");
}

std::string told_briefly(const Problem& problem, const std::string& but) {
    constexpr std::array<std::string_view, 6> of_anything{"none", "yes", "no", "on", "off", "all"};
    std::string text = problem.family();
    const auto& sizes = problem.extents();
    for (const Assignment& assignment : problem.parameters()) {
        if (assignment.name == but || std::find(sizes.begin(), sizes.end(), assignment.name) != sizes.end()) continue;
        const std::string value = to_string(assignment.value);
        // Choices among numbers are kept as words.
        const bool alone =
            std::holds_alternative<std::string>(parse_value(value)) && std::find(of_anything.begin(), of_anything.end(), value) == of_anything.end();
        text += alone ? " " + value : fmt::format(" {}={}", assignment.name, value);
    }
    return text;
}

Families with_families_of(std::span<const Record> records, const Families& families) {
    std::vector<Family> all(families.begin(), families.end());
    const auto known = std::ssize(all);
    for (const Record& record : records) {
        const Problem& problem = record.problem;
        if (is_family(problem.family(), families)) continue;
        auto found = std::find_if(all.begin() + known, all.end(), [&](const Family& family) { return family.name == problem.family(); });
        if (found == all.end()) {
            found = all.insert(found, Family{});
            found->name = problem.family();
        }
        for (const Assignment& assignment : problem.parameters()) learn(*found, assignment);
    }
    return Families(std::move(all));
}

ProblemFilter::ProblemFilter(const std::vector<std::string>& arguments, const Families& families) {
    for (const auto& word : single_words(arguments)) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos && (choices_.empty() || (!choices_.front().family.empty() && is_family(word, families)))) {
            choices_.push_back({families.find(word).name, {}});
            continue;
        }
        check_shape(word, families);
        if (choices_.empty()) choices_.emplace_back();
        Rule rule{word.substr(0, equals), split(word.substr(equals + 1), ',')};
        const auto parameters = declarations(rule.name, choices_.back().family, families);
        for (const auto& value : rule.values) check_word(rule.name, value, parameters);
        choices_.back().rules.push_back(std::move(rule));
    }
}

bool ProblemFilter::matches(const Problem& problem) const {
    return choices_.empty() || std::any_of(choices_.begin(), choices_.end(), [&](const Choice& choice) { return choice.matches(problem); });
}

bool ProblemFilter::Choice::matches(const Problem& problem) const {
    if (!family.empty() && problem.family() != family) return false;
    return std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) {
        return std::any_of(problem.parameters().begin(), problem.parameters().end(), [&](const Assignment& assignment) {
            return assignment.name == rule.name &&
                   std::any_of(rule.values.begin(), rule.values.end(), [&](const std::string& text) { return lies_in(assignment.value, text); });
        });
    });
}

}  // namespace hone::tools
