#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone::inline v0_1 {

/// The request for a tuning run: `hone tune` reads it, a run obeys it (TuningOptions), and the
/// journal keeps it (RunDescription). Absent members have their defaults, or on resumption the
/// journal's values.
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
