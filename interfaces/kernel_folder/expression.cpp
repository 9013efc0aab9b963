#include "interfaces/kernel_folder/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "foundation/error.hpp"

namespace hone::inline v0_1::kernel_folder {
namespace {

constexpr std::size_t longest_text = 1 << 18;  // of a rule that lists what it allows

struct LimitName {
    const char* name;
    int Limits::*member;
};
constexpr std::array limits_by_name{LimitName{"architecture", &Limits::architecture},
                                    LimitName{"max_threads_per_block", &Limits::max_threads_per_block},
                                    LimitName{"max_threads_per_multiprocessor", &Limits::max_threads_per_multiprocessor},
                                    LimitName{"registers_per_multiprocessor", &Limits::registers_per_multiprocessor},
                                    LimitName{"shared_bytes_per_block", &Limits::shared_bytes_per_block},
                                    LimitName{"shared_bytes_per_multiprocessor", &Limits::shared_bytes_per_multiprocessor},
                                    LimitName{"multiprocessors", &Limits::multiprocessors},
                                    LimitName{"threads_per_core", &Limits::threads_per_core},
                                    LimitName{"vector_bytes", &Limits::vector_bytes},
                                    LimitName{"cache_bytes", &Limits::cache_bytes}};

double real_of(const PythonValue& value, const std::string& where, const std::string& text) {
    if (const auto* whole = std::get_if<std::int64_t>(&value.held)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value.held)) return *real;
    throw Error(where, fmt::format("{} is {}", text, value.text()), "a number belongs here");
}

}  // namespace

PythonValue python_value(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return {*number};
    return {std::get<std::string>(value)};
}

const std::vector<std::string>& limit_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        all.reserve(limits_by_name.size());
        for (const LimitName& limit : limits_by_name) all.emplace_back(limit.name);
        return all;
    }();
    return names;
}

PythonValue Values::operator()(const std::string& name) const {
    for (const Assignment& parameter : problem_->parameters())
        if (parameter.name == name) return python_value(parameter.value);
    if (name == "word_bytes") return {std::int64_t{bytes_per_word(problem_->precision())}};
    if (name == "roundoff") return {problem_->precision() == Precision::f32 ? 0x1p-24 : 0x1p-53};
    if (config_ != nullptr) {
        for (const LimitName& limit : limits_by_name)
            if (name == limit.name) return {std::int64_t{limits_->*limit.member}};
        // By the configuration's own look-ups, which tell a search space how much of it was asked
        // for.
        for (const Tunable& tunable : *tunables_)
            if (name == tunable.name)
                return std::holds_alternative<std::string>(tunable.values.front()) ? PythonValue{config_->word(name)}
                                                                                   : PythonValue{config_->integer(name)};
    }
    throw Error(where(), "there is no " + name, "name a parameter");
}

std::string Values::where() const {
    return config_ == nullptr ? problem_->key() : fmt::format("{} with {}", problem_->key(), config_->key());
}

Expression::Expression(const JsonPlace& place, const std::vector<std::string>& names)
    : Expression(
          place.node().kind == JsonNode::Kind::integer || place.node().kind == JsonNode::Kind::real ? place.node().text : place.string(longest_text),
          place.where(), names) {
}

Expression::Expression(const std::string& text, const std::string& where, const std::vector<std::string>& names)
    : text_(text), where_(where), expression_(std::make_shared<const PythonExpression>(text, where)) {
    for (const std::string& name : expression_->names())
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw Error(where, fmt::format("\"{}\" asks for {}, which is not known here", text, name),
                        did_you_mean(name, names) + fmt::format("it may use {}", fmt::join(names, ", ")));
}

PythonValue Expression::value(const Values& values) const {
    return expression_->evaluate([&](const std::string& name) { return values(name); });
}

std::int64_t Expression::integer(const Values& values, std::int64_t low, std::int64_t high) const {
    const PythonValue found = value(values);
    std::int64_t number = 0;
    if (const auto* truth = std::get_if<bool>(&found.held)) {
        number = *truth ? 1 : 0;
    } else if (const auto* whole = std::get_if<std::int64_t>(&found.held)) {
        number = *whole;
    } else {
        throw Error(where_, fmt::format("\"{}\" is {} for {}", text_, found.text(), values.where()),
                    "a whole number belongs here; // divides to one");
    }
    if (number < low || number > high)
        throw Error(where_, fmt::format("\"{}\" is {} for {}", text_, number, values.where()),
                    fmt::format("a whole number from {} to {} belongs here", low, high));
    return number;
}

double Expression::number(const Values& values, double low, double high) const {
    const double number = real_of(value(values), where_, text_);
    if (!(number >= low && number <= high))
        throw Error(where_, fmt::format("\"{}\" is {} for {}", text_, number, values.where()),
                    fmt::format("a number from {} to {} belongs here", low, high));
    return number;
}

bool Expression::truth(const Values& values) const {
    return value(values).truth();
}

std::string Expression::told(const Values& values) const {
    return value(values).text();
}

Sentence::Sentence(const JsonPlace& place, const std::vector<std::string>& names) {
    std::string_view rest = place.string(longest_text);
    while (!rest.empty()) {
        const std::size_t open = rest.find('{');
        Piece& piece = pieces_.emplace_back();
        piece.text = rest.substr(0, open);
        if (open == std::string_view::npos) break;
        const std::size_t close = rest.find('}', open);
        if (close == std::string_view::npos) place.fail("has a { without its }", "close it");
        piece.expression = Expression(std::string(rest.substr(open + 1, close - open - 1)), place.where(), names);
        rest.remove_prefix(close + 1);
    }
}

std::string Sentence::told(const Values& values) const {
    std::string text;
    for (const Piece& piece : pieces_) text += piece.text + (piece.expression.given() ? piece.expression.told(values) : "");
    return text;
}

std::vector<std::string> Sentence::names() const {
    std::vector<std::string> names;
    for (const Piece& piece : pieces_)
        for (const std::string& name : piece.expression.names()) names.push_back(name);
    return names;
}

}  // namespace hone::inline v0_1::kernel_folder
