#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/search_space.hpp"

namespace hone::inline v0_1 {

/// A strategy's estimate of what is still to gain.
struct Outlook {
    double chance = 1;  ///< that a member which was not asked costs less than the best told by the part that was asked for
    double gain = 0;    ///< expected: by which part of the best's cost the best of all members is below it; 0.02 is 2 %
};

/// Which candidate next. Ask and tell; no clock, no device, all randomness from the seed, so that
/// equal tells give equal asks.
///
/// Strategies see members of the space only, by index (SearchSpace::at). Several asks may be
/// pending (asked, not told) at a time; a strategy copes with tells in any order, and learns most
/// when they come in the order of asks. Members that were never asked may be told too, at any time:
/// what is known of them from elsewhere. They are not asked then. The first ask is the safe
/// configuration, unless it was told.
///
/// A strategy never stops before all members are known: when to stop is for whoever pays.
class Strategy {
  public:
    virtual ~Strategy() = default;
    /// A member that was neither asked nor told before, or nothing when there is none.
    virtual std::optional<std::int64_t> ask() = 0;
    /// The cost in seconds (or of another objective) of a member; infinity for one that failed.
    /// What is told of a member after the first time is ignored.
    virtual void tell(std::int64_t index, double cost) = 0;
    /// The outlook on a gain of `part` (0.01: 1 %); nothing from strategies without a model, and
    /// from any before it has one.
    virtual std::optional<Outlook> outlook(double /*part*/) const { return std::nullopt; }
};

/// One row of the table of strategies.
struct StrategyEntry {
    std::string name;
    std::string summary;
    /// `members` are all members of `space`, ascending.
    std::unique_ptr<Strategy> (*make)(const SearchSpace& space, Members members, std::uint64_t seed);
    bool has_outlook = false;  ///< Strategy::outlook answers, once there is a model
};

/// The table; the first row is the default.
std::span<const StrategyEntry> strategies();

/// Throws Error, naming the nearest, for an unknown name.
const StrategyEntry& find_strategy(const std::string& name);

}  // namespace hone::inline v0_1
