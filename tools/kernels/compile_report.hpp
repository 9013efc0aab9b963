#pragma once

#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "tools/console/json.hpp"

namespace hone::tools {

/// A table of the compiler's report about each entry point: registers, shared and local memory,
/// spills.
std::string resources_table(const std::vector<EntryResources>& resources);

/// The report as an array of objects, as `hone compile --json` has it under "entries".
Json json_of(const std::vector<EntryResources>& resources);

}  // namespace hone::tools
