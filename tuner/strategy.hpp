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
/// Strategies see members of the space only, by index (SearchSpace::at).
class Strategy {
  public:
    virtual ~Strategy() = default;
    /// A member that was not asked before, or nothing: exhausted, or waiting for pending tells.
    virtual std::optional<std::int64_t> ask() = 0;
    /// The cost in seconds of a member asked before; infinity for one that failed.
    virtual void tell(std::int64_t index, double cost) = 0;
    /// No further ask will give a candidate, whatever is told.
    virtual bool exhausted() const = 0;
};

/// One row of the table of strategies.
struct StrategyEntry {
    std::string name;
    std::string summary;
    std::unique_ptr<Strategy> (*make)(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed);
};

/// The table; the first row is the default.
std::span<const StrategyEntry> strategies();

/// Throws Error, naming the nearest, for an unknown name.
const StrategyEntry& find_strategy(const std::string& name);

}  // namespace hone
