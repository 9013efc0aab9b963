#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "generator/search_space.hpp"

namespace hone::inline v0_1 {

/// Which members of a space `text` leaves: "block_x=32,block_x=64,form=rows" means that block_x is
/// 32 or 64 and form is rows. A member whose form does not have a tunable is not bound by its
/// values. Empty text leaves all,
/// and gives an empty function. Throws Error, naming the nearest, for an unknown tunable or value.
std::function<bool(const Config&)> parse_restriction(const SearchSpace& space, const std::string& text);

/// Those of a space's members that `text` leaves.
Members restricted_members(const SearchSpace& space, const Members& members, const std::string& text);

/// Indices, ascending, of `count` of a space's members, drawn at random; of all where there are no
/// more. A member's lot follows from its key and the seed alone: in the space of a device that
/// allows a little more or less, nearly the same are drawn. Of over a million members others are.
std::vector<std::int64_t> drawn_members(const SearchSpace& space, const Members& members, std::int64_t count, std::uint64_t seed);

}  // namespace hone::inline v0_1
