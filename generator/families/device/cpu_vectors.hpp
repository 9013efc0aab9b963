#pragma once

#include "generator/limits.hpp"
#include "generator/search_space.hpp"

namespace hone::inline v0_1 {

/// Refuses vectors (the tunable `vector_bytes`) that are wider than the processor's.
Constraint vector_width(const Limits& limits);

}  // namespace hone::inline v0_1
