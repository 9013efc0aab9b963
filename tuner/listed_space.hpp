#pragma once

#include <functional>

#include "foundation/error.hpp"
#include "generator/search_space.hpp"

namespace hone::inline v0_1 {

/// A space with its members enumerated once. Asking for them later does not walk the product again,
/// which takes seconds where millions of configurations have to be checked. The result has no
/// constraints: `check` only says that a configuration is no member. Throws ListingStopped once
/// `stop` has returned true, which this thread alone asks.
SearchSpace listed_space(const SearchSpace& space, const std::function<bool()>& stop = {});

/// A space was not enumerated to its end.
class ListingStopped : public Error {
  public:
    ListingStopped() : Error("search space", "its members were not all found in time", "give it a longer budget, or tighter constraints") {}
};

}  // namespace hone::inline v0_1
