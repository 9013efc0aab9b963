#pragma once

#include <string>

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// A family as `hone families --json` and hone_session_families of hone.h print it: name, summary,
/// source, example, what its range counts, and each parameter of a problem with what is allowed
/// (`words`, or `low` and `high`).
std::string to_json(const Family& family);

}  // namespace hone::inline v0_1
