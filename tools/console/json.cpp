#include "tools/console/json.hpp"

#include "runtime/device_list.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {

Json json_of(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    return std::get<std::string>(value);
}

Json json_of(const std::vector<Assignment>& assignments) {
    Json object = Json::object();
    for (const auto& [name, value] : assignments) object[name] = json_of(value);
    return object;
}

Json json_of(const Problem& problem) {
    return {{"key", problem.key()}, {"family", problem.family()}, {"parameters", json_of(written_parameters(problem))}};
}

Json json_of(const Config& config) {
    return {{"key", config.key()}, {"values", json_of(config.assignments())}};
}

Json json_of(const Limits& limits) {
    return Json::parse(limits_json(limits));
}

Json json_of(const Counts& counts) {
    return {{"updates", counts.updates}, {"unit", counts.unit}, {"operations", counts.operations}, {"bytes", counts.bytes}};
}

void print(Console& console, const Json& document) {
    // Text from drivers and compilers need not be UTF-8: a replacement character is better than no
    // answer.
    console.print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace hone::tools
