#pragma once

#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"

namespace hone::tools {

/// What `hone tune` tunes when no problem is named: a few problems of every kind of work (bandwidth-bound, data-heavy, arithmetic-bound), so large
/// that the device is busy and so small that they fit a quarter of its memory.
std::vector<Problem> default_problems(const Device& device, const Families& families);

}  // namespace hone::tools
