#pragma once

#include <string>

#include "generator/problem.hpp"
#include "generator/search_space.hpp"

namespace hone::tools {

/// The configuration that `--config` means: what is left out is taken from the safe one, nothing at
/// all means the safe one. Throws Error for an unknown name or value, and with the constraint's
/// reason when it is not a member of the space.
Config member(const SearchSpace& space, const std::string& text, const Problem& problem);

}  // namespace hone::tools
