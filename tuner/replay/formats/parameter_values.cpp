#include "tuner/replay/formats/parameter_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "foundation/number_text.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1 {
namespace {

// How many of a unit make a second, by the unit's name in small letters.
constexpr std::array<std::pair<std::string_view, double>, 16> units{{{"s", 1},
                                                                     {"sec", 1},
                                                                     {"second", 1},
                                                                     {"seconds", 1},
                                                                     {"ms", 1e3},
                                                                     {"millisecond", 1e3},
                                                                     {"milliseconds", 1e3},
                                                                     {"milisecond", 1e3},
                                                                     {"miliseconds", 1e3},
                                                                     {"us", 1e6},
                                                                     {"\xc2\xb5s", 1e6},
                                                                     {"microsecond", 1e6},
                                                                     {"microseconds", 1e6},
                                                                     {"ns", 1e9},
                                                                     {"nanosecond", 1e9},
                                                                     {"nanoseconds", 1e9}}};

bool is_word(const std::string& written) {
    return written.starts_with('"');
}

bool is_truth(const std::string& written) {
    return written == "true" || written == "false";
}

// A number's value, with true and false as 1 and 0; nothing for a word.
std::optional<double> json_number_of(const std::string& written) {
    if (is_word(written)) return std::nullopt;
    if (written == "true") return 1;
    if (written == "false") return 0;
    return number_at_head(written).value_or(0);
}

// The same text for equal values. Whole numbers stay as they are: not all of them are doubles.
std::string canonical(const std::string& written) {
    if (std::holds_alternative<std::int64_t>(parse_value(written))) return written;
    const auto number = json_number_of(written);
    return number ? fmt::format("{}", *number) : written;
}

bool is_whole(const std::string& written) {
    return std::holds_alternative<std::int64_t>(parse_value(written));
}

}  // namespace

std::string written_value(const JsonPlace& place) {
    switch (place.node().kind) {
        case JsonNode::Kind::null:
        case JsonNode::Kind::array:
        case JsonNode::Kind::object:
            place.fail("is not a single value", "a parameter's value is a number, true, false or a word");
        default:
            return write_json(place.node());
    }
}

std::string plain_value(const std::string& written) {
    return is_word(written) ? parse_json(written, "a value").text : written;
}

std::string python_value(const std::string& written) {
    if (written == "true") return "True";
    if (written == "false") return "False";
    return plain_value(written);
}

std::string written_of(const std::string& plain) {
    if (std::holds_alternative<std::int64_t>(parse_value(plain)) || plain == "true" || plain == "false") return plain;
    if (!plain.empty() && plain.find_first_not_of("0123456789.eE+-") == std::string::npos) {
        try {
            return write_json(parse_json(plain, "a value"));
        } catch (const Error&) {
            return json_string(plain);  // 1.2.3, say
        }
    }
    return json_string(plain);
}

ValuePositions::ValuePositions(const RecordedParameter& parameter) {
    for (std::size_t i = 0; i < parameter.written.size(); ++i) {
        as_written_.try_emplace(parameter.written[i], i);
        equal_.try_emplace(canonical(parameter.written[i]), i);
    }
}

std::optional<std::size_t> ValuePositions::find(const std::string& written) const {
    if (const auto found = as_written_.find(written); found != as_written_.end()) return found->second;
    const auto found = equal_.find(canonical(written));
    return found == equal_.end() ? std::nullopt : std::optional(found->second);
}

void add_value(RecordedParameter& parameter, const std::string& written) {
    const auto same = [&](const std::string& other) { return is_truth(other) == is_truth(written) && canonical(other) == canonical(written); };
    if (std::none_of(parameter.written.begin(), parameter.written.end(), same)) parameter.written.push_back(written);
}

void check_product(const std::vector<RecordedParameter>& parameters, const std::string& where) {
    if (parameters.empty()) throw Error(where, "it has no parameters", "a search space has at least one");
    std::int64_t product = 1;
    for (const auto& parameter : parameters) {
        const auto count = static_cast<std::int64_t>(parameter.written.size());
        if (count == 0) throw Error(where, "parameter " + parameter.name + " has no values", "give it at least one");
        if (parameter.written.size() > most_values_of_a_tunable)
            throw Error(where, fmt::format("parameter {} has {} values", parameter.name, count),
                        fmt::format("at most {} can be searched", most_values_of_a_tunable));
        if (product > largest_product / count) throw Error(where, "the product of all values passes 2^62", "leave some parameters out");
        product *= count;
    }
}

Tunable tunable_of(const RecordedParameter& parameter) {
    Tunable tunable{parameter.name, "", {}};
    const bool whole = std::all_of(parameter.written.begin(), parameter.written.end(), is_whole);
    std::set<std::string> seen;
    for (const auto& written : parameter.written) {
        std::string plain = plain_value(written);
        if (!seen.insert(plain).second) throw Error("parameter " + parameter.name, "two of its values read " + plain, "spell them apart");
        tunable.values.push_back(whole ? parse_value(plain) : Value(std::move(plain)));
    }
    return tunable;
}

RecordedIndex::RecordedIndex(const std::vector<RecordedParameter>& parameters)
    : parameters_(&parameters), positions_(parameters.begin(), parameters.end()) {
}

std::int64_t RecordedIndex::of(const std::vector<std::string>& written, const std::string& where) const {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < positions_.size(); ++d) {
        const RecordedParameter& parameter = (*parameters_)[d];
        const auto position = positions_[d].find(written[d]);
        if (!position) throw Error(where, fmt::format("{} is {}", parameter.name, plain_value(written[d])), "it is not among the parameter's values");
        index = index * static_cast<std::int64_t>(parameter.written.size()) + static_cast<std::int64_t>(*position);
    }
    return index;
}

void RecordedRows::add(const std::vector<std::string>& written, double cost, const Outcome& outcome, const std::string& where) {
    for (std::size_t d = 0; d < names_.size(); ++d) {
        const auto [found, added] = found_[d].try_emplace(written[d], static_cast<std::uint16_t>(values_[d].size()));
        if (added) values_[d].push_back(written[d]);
        if (values_[d].size() > most_values_of_a_tunable)
            throw Error(where, fmt::format("parameter {} has over {} values", names_[d], most_values_of_a_tunable), "no more can be searched");
        places_.push_back(found->second);
    }
    columns_.add(0, cost, outcome);
}

std::vector<RecordedParameter> RecordedRows::parameters() const {
    std::vector<RecordedParameter> parameters;
    for (std::size_t d = 0; d < names_.size(); ++d) {
        RecordedParameter parameter{names_[d], {}};
        std::set<std::pair<bool, std::string>> seen;
        for (const auto& written : values_[d])
            if (seen.emplace(is_truth(written), canonical(written)).second) parameter.written.push_back(written);
        if (std::none_of(parameter.written.begin(), parameter.written.end(), is_word))
            std::stable_sort(parameter.written.begin(), parameter.written.end(),
                             [](const std::string& a, const std::string& b) { return *json_number_of(a) < *json_number_of(b); });
        parameters.push_back(std::move(parameter));
    }
    return parameters;
}

RecordedColumns RecordedRows::columns(const std::vector<RecordedParameter>& parameters) && {
    std::vector<std::vector<std::int64_t>> positions(names_.size());
    for (std::size_t d = 0; d < names_.size(); ++d) {
        const ValuePositions found(parameters[d]);
        for (const auto& written : values_[d]) positions[d].push_back(static_cast<std::int64_t>(*found.find(written)));
    }
    const std::uint16_t* place = places_.data();
    for (std::int64_t& index : columns_.indices) {
        for (std::size_t d = 0; d < names_.size(); ++d)
            index = index * static_cast<std::int64_t>(parameters[d].written.size()) + positions[d][*place++];
    }
    return std::move(columns_);
}

Outcome measurement(double seconds, std::vector<double> samples) {
    Outcome outcome;
    if (samples.empty()) samples = {seconds};
    outcome.step = summarise(samples);
    outcome.samples = std::move(samples);
    return outcome;
}

std::string milliseconds_json(double seconds) {
    const double product = seconds * 1e3;
    for (const double candidate : {product, std::nextafter(product, 0.0), std::nextafter(product, std::numeric_limits<double>::max())})
        if (candidate / 1e3 == seconds) return json_number(candidate);
    return json_number(product);
}

std::optional<double> units_per_second(std::string unit) {
    std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const auto& [name, count] : units)
        if (unit == name) return count;
    return std::nullopt;
}

}  // namespace hone::inline v0_1
