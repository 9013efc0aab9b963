#include "generator/family_json.hpp"

#include <fmt/format.h>

#include "foundation/json.hpp"

namespace hone::inline v0_1 {
namespace {

std::string value_json(const Value& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number != nullptr ? std::to_string(*number) : json_string(std::get<std::string>(value));
}

std::string words_json(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + json_string(word);
    return "[" + text + "]";
}

std::string parameter_json(const ProblemParameter& parameter) {
    std::string text =
        fmt::format(R"({{"name": {}, "help": {}, "extent": {})", json_string(parameter.name), json_string(parameter.help), parameter.extent);
    if (parameter.words.empty())
        text += fmt::format(R"(, "low": {}, "high": {})", parameter.low, parameter.high);
    else
        text += fmt::format(R"(, "words": {})", words_json(parameter.words));
    if (!parameter.fallback.empty()) text += fmt::format(R"(, "default": {})", value_json(parse_value(parameter.fallback)));
    return text + "}";
}

}  // namespace

std::string to_json(const Family& family) {
    std::string parameters;
    for (const ProblemParameter& parameter : family.parameters) parameters += (parameters.empty() ? "" : ", ") + parameter_json(parameter);
    return fmt::format(R"({{"name": {}, "summary": {}, "source": {}, "example": {}, "range_unit": {}, "parameters": [{}]}})",
                       json_string(family.name), json_string(family.summary), json_string(family.source), json_string(family.example),
                       json_string(family.range_unit), parameters);
}

}  // namespace hone::inline v0_1
