#pragma once

#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"

namespace hone::tools {

/// The problems that `hone tune` tunes when none is named: one problem of each of several families,
/// from bandwidth-bound to arithmetic-bound, so large that the device is busy, so small that all of
/// them are set up and searched within a minute or two, and that they fit a quarter of its memory.
std::vector<Problem> default_problems(const Device& device, const Families& families);

}  // namespace hone::tools
