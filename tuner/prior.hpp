#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/search_space.hpp"
#include "runtime/backend.hpp"
#include "tuner/journal.hpp"
#include "tuner/objective.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/prediction.hpp"

namespace hone::inline v0_1 {

/// A member of a space that a tuned result of a neighbouring problem or device suggests.
struct Promising {
    Config config;
    std::string from;     ///< the record's problem and device, for people
    double distance = 0;  ///< of the record's problem and device from these
};

/// At most `most` members that neighbours propose (predict): the prediction first, then the nearest
/// neighbours'; each once, and never the safe configuration, which comes first anyway.
std::vector<Promising> promising_members(const Database& database, const Families& families, const Problem& problem, const Device& device,
                                         int most = 4);

/// The number of the first candidate in a run that costs at most `bound` (the safe configuration is
/// number 1). Nothing when there is none.
std::optional<int> evaluations_to_reach(const std::vector<JournalEntry>& entries, const Objective& objective, double bound);

}  // namespace hone::inline v0_1
