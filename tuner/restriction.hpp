#pragma once

#include <functional>
#include <string>

#include "generator/search_space.hpp"

namespace hone {

/// Which members of a space `text` leaves: "block_x=32,block_x=64,form=rows" means that block_x is 32 or 64 and form is rows. Empty text leaves all,
/// and gives an empty function. Throws Error, naming the nearest, for an unknown tunable or value.
std::function<bool(const Config&)> parse_restriction(const SearchSpace& space, const std::string& text);

}  // namespace hone
