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

/// How far a result lies from a problem on a device: every different word (precision, stencil) and another architecture count 1, a number of another
/// size (the order) its |log2| of the ratio, sizes a quarter of theirs, another device of the same architecture a quarter. Nothing for another family
/// or target, for a step that two devices share, for what is not verified, and beyond 2, where little of a result can be expected to carry over.
std::optional<double> neighbour_distance(const Record& record, const Problem& problem, const DeviceFingerprint& device);

/// The member nearest to a configuration of another space: by name, numbers nearest on a logarithmic scale, what is missing as in the safe
/// configuration; where the constraints refuse that, the member with the fewest and smallest differences from it.
Config nearest_member(const SearchSpace& space, const Config& config);

/// At most `most` members, the nearest neighbours' first; each once, and never the safe configuration, which comes first anyway.
std::vector<Promising> promising_members(const Database& database, const Problem& problem, const Device& device, const SearchSpace& space,
                                         int most = 4);

/// How many candidates a run had evaluated when it first had one that costs at most `bound` (the safe configuration is number 1). Nothing when it
/// never had one.
std::optional<int> evaluations_to_reach(const std::vector<JournalEntry>& entries, const Objective& objective, double bound);

}  // namespace hone
