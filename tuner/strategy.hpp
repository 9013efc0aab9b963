#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/search_space.hpp"

namespace hone {

/// Which candidate next. Ask and tell; no clock, no device, all randomness from the seed, so that equal tells give equal asks.
///
/// Strategies see members of the space only, by index (SearchSpace::at). Several asks may be pending (asked, not told) at a time; a strategy copes
/// with tells in any order, and learns most when they come in the order of asks. Members that were never asked may be told too, at any time: what is
/// known of them from elsewhere. They are not asked then. The first ask is the safe configuration, unless it was told.
///
/// A strategy never stops before all members are known: when to stop is for whoever pays.
class Strategy {
  public:
    virtual ~Strategy() = default;
    /// A member that was neither asked nor told before, or nothing when there is none.
    virtual std::optional<std::int64_t> ask() = 0;
    /// The cost in seconds (or of another objective) of a member; infinity for one that failed. What is told of a member after the first time is
    /// ignored.
    virtual void tell(std::int64_t index, double cost) = 0;
};

/// One row of the table of strategies.
struct StrategyEntry {
    std::string name;
    std::string summary;
    /// `members` are all members of `space`, ascending.
    std::unique_ptr<Strategy> (*make)(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed);
};

/// The table; the first row is the default.
std::span<const StrategyEntry> strategies();

/// Throws Error, naming the nearest, for an unknown name.
const StrategyEntry& find_strategy(const std::string& name);

}  // namespace hone
