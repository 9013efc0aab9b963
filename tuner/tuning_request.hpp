#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone::inline v0_1 {

/// What a tuning run searches, and how: what `hone tune` is asked, what a run does (TuningOptions), and what its journal says (RunDescription).
/// What is not said is the default, or on resumption what the journal says.
struct TuningRequest {
    std::string strategy;               ///< empty: the default
    std::optional<std::uint64_t> seed;  ///< of the search
    std::string objective;              ///< empty: time
    std::string only;                   ///< members that may be chosen (tuner/restriction.hpp); empty: all
    std::int64_t among = 0;             ///< choose among so many members only, drawn with the seed (drawn_members); 0: all

    /// Takes over whatever another one says.
    void take(const TuningRequest& other) {
        if (!other.strategy.empty()) strategy = other.strategy;
        if (other.seed) seed = other.seed;
        if (!other.objective.empty()) objective = other.objective;
        if (!other.only.empty()) only = other.only;
        if (other.among > 0) among = other.among;
    }
};

}  // namespace hone::inline v0_1
