#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/value.hpp"

namespace hone::inline v0_1 {

/// Lists of values for a Tunable, where search spaces are written. Applications that only use
/// spaces do without: <hone/hone.hpp> leaves these short names to them.
std::vector<Value> numbers(std::vector<std::int64_t> values);
std::vector<Value> words(std::vector<std::string> values);

}  // namespace hone::inline v0_1
