#pragma once

#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "tools/json.hpp"

namespace hone::tools {

/// What the compiler says of each entry point as a table: registers, shared and local memory, spills.
std::string resources_table(const std::vector<EntryResources>& resources);

/// The same as an array of objects, as `hone compile --json` has it under "entries".
Json json_of(const std::vector<EntryResources>& resources);

}  // namespace hone::tools
