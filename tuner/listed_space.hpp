#pragma once

#include "generator/search_space.hpp"

namespace hone {

/// The same space with its members enumerated once and for all: nobody who asks for them afterwards walks through the product, which takes seconds of
/// a processor where millions of configurations are to be checked. It has no constraints: `check` says of those that are no members just that.
SearchSpace listed_space(const SearchSpace& space);

}  // namespace hone
