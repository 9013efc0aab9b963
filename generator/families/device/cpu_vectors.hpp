#pragma once

#include "generator/limits.hpp"
#include "generator/search_space.hpp"

namespace hone {

/// Refuses vectors (the tunable `vector_bytes`) that are wider than the processor's.
Constraint vector_width(const Limits& limits);

}  // namespace hone
