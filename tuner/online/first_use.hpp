#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "tuning_db/database.hpp"

namespace hone::inline v0_1 {

/// The answer to a problem that nobody tuned on this device: what results of others suggest, or
/// what is the fastest of several suggestions when they are measured.
enum class FirstUse { predicted, measured };

/// The value of a word, "predicted" or "measured". Throws Error naming `what` for another one.
FirstUse parse_first_use(const std::string& word, const std::string& what);
/// What HONE_FIRST_USE says; predicted where it is not set. Throws Error for another word.
FirstUse usual_first_use();

/// How a problem is measured at its first use.
struct FirstUseSettings {
    double seconds = 2;               ///< for each problem, until the best of what was measured is used
    int proposals = 8;                ///< configurations at most, the safe one among them
    std::filesystem::path folder;     ///< that the result is written to; empty: own_records()
    std::filesystem::path cache;      ///< of compiled code; empty: DiskCache::default_folder()
    std::vector<std::string> worker;  ///< command that starts a worker; empty: find_worker_command()
};

/// Measures the configurations that `database` suggests for a problem: the one that a look-up would
/// answer with, those of the nearest neighbours (promising_members), and the safe one. Worker
/// processes compile and verify them, and time steps on random data, as `hone tune` does. The best
/// goes into the folder, found "first_use", and answers with Grade::measured from then on.
///
/// Nothing where nothing was compared within the seconds. `why` then says the reason in words.
/// Throws Error when there is no worker program, or when the folder cannot be written.
std::optional<Match> measured_match(const Database& database, const Families& families, const Device& device, const Problem& problem,
                                    const FirstUseSettings& settings, std::string& why);

}  // namespace hone::inline v0_1
