#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/search_space.hpp"
#include "runtime/backend.hpp"
#include "tuner/journal.hpp"
#include "tuner/objective.hpp"
#include "tuning_db/database.hpp"

namespace hone {

/// A member of a space that a tuned result of a neighbouring problem or device suggests.
struct Promising {
    Config config;
    std::string from;     ///< the record's problem and device, for people
    double distance = 0;  ///< of the record's problem and device from these
};

/// The distance of a result from a problem on a device. Every different word (precision, stencil) and another architecture count 1. A number such as
/// the order counts |log2| of the ratio, a size a quarter of that, another device of the same architecture a quarter. Nothing for another family or
/// target, for a step that two devices share, for a result that is not verified, and beyond a distance of 2, where little carries over.
std::optional<double> neighbour_distance(const Record& record, const Problem& problem, const DeviceFingerprint& device);

/// The member nearest to a configuration of another space: by name, numbers nearest on a logarithmic scale, what is missing as in the safe
/// configuration; where the constraints refuse that, the member with the fewest and smallest differences from it.
Config nearest_member(const SearchSpace& space, const Config& config);

/// At most `most` members, the nearest neighbours' first; each once, and never the safe configuration, which comes first anyway.
std::vector<Promising> promising_members(const Database& database, const Problem& problem, const Device& device, const SearchSpace& space,
                                         int most = 4);

/// The number of the first candidate in a run that costs at most `bound` (the safe configuration is number 1). Nothing when there is none.
std::optional<int> evaluations_to_reach(const std::vector<JournalEntry>& entries, const Objective& objective, double bound);

}  // namespace hone
