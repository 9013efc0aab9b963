#pragma once

#include "generator/families/corner_force/forms.hpp"

namespace hone::inline v0_1::corner {

/// A form of passes on processors. Over whole zones, neighbouring zones are the lanes of a vector,
/// so that every sum and all of the physics fill vectors at any order; a thread keeps their
/// half-way results in its cache. In the paper's dense products rows of F are the lanes.
Form cpu_passes(const PassForm& form, const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::corner
