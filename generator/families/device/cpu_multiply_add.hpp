#pragma once

#include "foundation/value.hpp"
#include "generator/block.hpp"

namespace hone::inline v0_1 {

/// `multiply_add(a, b, c)` of a CPU kernel whose digits must not depend on its configuration: a b +
/// c, rounded once where the processor can. The text calls its word `real`.
Block multiply_add_function(Precision precision);

}  // namespace hone::inline v0_1
