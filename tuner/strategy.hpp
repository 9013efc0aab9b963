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
/// Strategies see members of the space only, by index (SearchSpace::at). Several asks may be pending (asked, not told) at a time; tells come in the
/// order of asks. The first ask of every strategy is the safe configuration.
class Strategy {
  public:
    virtual ~Strategy() = default;
    /// A member that was not asked before, or nothing when every member has been asked.
    virtual std::optional<std::int64_t> ask() = 0;
    /// The cost in seconds of a member asked before; infinity for one that failed.
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
