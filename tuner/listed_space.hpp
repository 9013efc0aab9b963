#pragma once

#include "generator/search_space.hpp"

namespace hone::inline v0_1 {

/// A space with its members enumerated once. Asking for them later does not walk the product again,
/// which takes seconds where millions of configurations have to be checked. The result has no
/// constraints: `check` only says that a configuration is no member.
SearchSpace listed_space(const SearchSpace& space);

}  // namespace hone::inline v0_1
