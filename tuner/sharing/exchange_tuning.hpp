#pragma once

#include <functional>
#include <vector>

#include "generator/family.hpp"
#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// The values that a program's exchanges may have, the usual ones first; none where there is
/// nothing to choose.
struct ExchangeSpace {
    std::vector<MessageWay> messages;  ///< message_ways in runtime/ranks/link_name.hpp
    std::vector<EdgePlace> edges;
    std::vector<int> depth, every;

    ExchangeSettings usual() const;
    /// With a value of each tunable that has some.
    Config configuration(const ExchangeSettings& settings) const;
};

/// What a program measured of its steps on one rank.
struct ExchangePeriod {
    std::vector<double> seconds;  ///< of a step: some samples, as many on all ranks
    double digits = 0;            ///< something that the steps came to, which no setting may change
};

/// Settings with what their steps took the slowest rank.
struct ExchangeTrial {
    ExchangeSettings settings;
    Statistics step;
    bool same_digits = true;  ///< as with what is usual, on all ranks
};

struct ExchangeTuning {
    ExchangeTrial best, usual;
    std::vector<ExchangeTrial> trials;  ///< all, in their order

    bool verified() const;
};

/// Finds the fastest settings, one tunable after the other from the usual ones until a round
/// changes nothing. What is chosen beats the usual by 1 % in a last comparison, in turns, or is the
/// usual. `run` makes a program's exchanges anew, by the communicator's settings, and measures some
/// of its steps. All ranks call it, and get the same settings; the communicator has them then.
ExchangeTuning tune_exchange(Communicator& communicator, const ExchangeSpace& space, const std::function<ExchangePeriod()>& run,
                             const std::function<void(const ExchangeTrial&)>& tell = {});

/// Of purpose "exchange": for a database. `config` is what the problem's kernel ran with.
Record exchange_record(const Family& family, const Problem& problem, const Config& config, const Device& device, Exchange about,
                       const ExchangeSpace& space, const ExchangeTuning& tuning);

}  // namespace hone::inline v0_1
