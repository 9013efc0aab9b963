#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "generator/config.hpp"
#include "generator/kernel_source.hpp"
#include "generator/limits.hpp"
#include "generator/problem.hpp"
#include "tools/console/console.hpp"

namespace hone::tools {

/// JSON that keeps the order in which members were added, so that people can read it too.
using Json = nlohmann::ordered_json;

Json json_of(const Value& value);
Json json_of(const std::vector<Assignment>& assignments);  ///< an object
/// {"key": "...", "family": "...", "parameters": {...}}
Json json_of(const Problem& problem);
/// {"key": "...", "values": {...}}
Json json_of(const Config& config);
Json json_of(const Limits& limits);
Json json_of(const Counts& counts);

/// Prints one document, indented by two.
void print(Console& console, const Json& document);

}  // namespace hone::tools
