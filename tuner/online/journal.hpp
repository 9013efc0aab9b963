#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "tuner/journal.hpp"
#include "tuner/online/policy.hpp"

namespace hone::inline v0_1 {

/// The files of online tuning of a problem, and how it continues from them: a journal
/// `<journal_path>` with "-online" before its ending, in the format of an offline run's, and
/// records in the database.
struct OnlineNotes {
    std::filesystem::path folder;
    std::filesystem::path file;
    RunDescription run;
    SearchSpace space;
    std::optional<OnlinePolicy> policy;
    std::optional<Journal> journal;
    std::string why_none;             ///< why there is no policy
    std::atomic<bool> opened{false};  ///< the above is there
    bool failed = false;              ///< of the background alone

    /// Writing failed: nothing more is written.
    void fail(const std::string& reason);
};

/// Opens the journal and makes a policy that knows what the journal knows. Another run's, or a
/// damaged one, is put aside. What goes wrong is `why_none`. Once `stop` says so it returns, with
/// notes that are of no use.
void open_notes(OnlineNotes& notes, const std::filesystem::path& folder, const Family& family, const Problem& problem, const Device& device,
                const Config& incumbent, const OnlineRules& rules, const std::string& strategy, std::uint64_t seed,
                const std::function<bool()>& stop);

/// Appends events; throws Error when the disk refuses.
void append(OnlineNotes& notes, const std::vector<OnlineEvent>& events, double elapsed);

/// Merges the record of an incumbent into the database. Throws Error when the disk refuses, or when
/// another process keeps the database locked for half a second: the application may be waiting for
/// this.
void keep_record(const OnlineNotes& notes, const Families& families, const Problem& problem, const Device& device, const Config& config,
                 const Outcome& outcome, double safe_seconds, int evaluations);

/// Marks what was found wrong in the database, as a running application finds it (mark_wrong).
/// Throws Error as `keep_record` does.
void mark_found_wrong(const OnlineNotes& notes, const Families& families, const Problem& problem, const Device& device, const Config& config,
                      const std::string& reason);

}  // namespace hone::inline v0_1
