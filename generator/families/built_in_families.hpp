#pragma once

#include "generator/families.hpp"

namespace hone::inline v0_1 {

/// The table of all families that hone has. An application's own stand beside them
/// (docs/own-family.md).
const Families& built_in_families();

}  // namespace hone::inline v0_1
