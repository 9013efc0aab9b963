#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/error.hpp"
#include "tuner/tuner.hpp"
#include "tuner/tuning_request.hpp"
#include "tuning_db/device.hpp"

namespace hone::inline v0_1 {

/// Of the journals that this hone writes and reads.
constexpr int journal_version = 1;

/// The description of a tuning run, which is the first line of its journal. The run's candidates
/// follow from it and from their outcomes. Of the request nothing is left open: it has a strategy,
/// a seed and an objective.
struct RunDescription : TuningRequest {
    RunDescription() { seed = 0, objective = "time"; }

    std::string problem;  ///< key, with the extents
    DeviceFingerprint device;
    std::string space;         ///< hash of the search space (see space_hash)
    std::int64_t members = 0;  ///< that it has; 0: not said (journals of older versions)
    std::string version;       ///< of hone
    TunerSettings settings;
    std::vector<std::string> prior;  ///< keys of the promising members, in their order
};

/// The journal that is there is of another run than the one to be resumed.
class OtherRunError : public Error {
  public:
    using Error::Error;
};

/// SHA-256 of tunables, values, safe configuration and `members` (what the constraints leave), as
/// 64 hexadecimal digits.
std::string space_hash(const SearchSpace& space, const Members& members);

/// A further line of a journal.
struct JournalEntry {
    enum class Kind {
        evaluation,  ///< `candidate` came to `outcome`
        finish,      ///< the budget was spent, so Tuner::finish was called
        done         ///< the run is complete
    };
    Kind kind = Kind::evaluation;
    double elapsed = 0;      ///< seconds of the run so far
    std::int64_t index = 0;  ///< the candidate, in the search space
    Candidate::Purpose purpose = Candidate::Purpose::search;
    std::string config;  ///< key, for people and as a check
    Outcome outcome;
};

inline bool is_finalist(const JournalEntry& entry) {
    return entry.purpose == Candidate::Purpose::finalist;
}

/// The contents of a journal.
struct JournalText {
    RunDescription run;
    std::vector<JournalEntry> entries;
};

/// Reads a whole journal, as strictly as `Journal::resume`, without a file or a lock; `where` is
/// for messages. A last line that was cut is left out.
JournalText parse_journal(std::string_view text, const std::string& where);

/// The inverse.
std::string journal_text(const JournalText& journal);

/// The journal of one tuning run: JSON lines that are only appended. Each is written at once, and
/// is on the disk before the run goes on. However a run ends (`kill -9`, power), its journal has
/// every finished evaluation. A resumed run repeats at most the evaluations in flight.
///
///     Journal journal = Journal::resume(path, description);       // or Journal::start
///     for (const auto& entry : journal.entries()) replay(entry);  // what was there
///     journal.append(entry);                                      // what is new
///
/// A last line without its end (the write was cut) is dropped. Any other damage throws Error naming
/// file and line. One process at a time holds a journal: a second one gets an Error. So does a file
/// system without locks, saying so.
class Journal {
  public:
    /// An empty journal. One that is there already is kept as `<name>.previous`, the one before as
    /// `<name>.previous-2` and so on, nine in all.
    static Journal start(const std::filesystem::path& file, const RunDescription& description);
    /// Goes on with the journal that is there, or starts one when there is none. Throws
    /// OtherRunError when it differs in anything of its description, naming both.
    static Journal resume(const std::filesystem::path& file, const RunDescription& description);
    /// Takes from the existing journal what a run needs to continue it: strategy, seed, settings,
    /// objective, restriction, promising members. False, changing nothing, when there is none.
    static bool peek(const std::filesystem::path& file, RunDescription& description);

    ~Journal();
    Journal(Journal&&) noexcept;
    Journal& operator=(Journal&&) noexcept;

    const std::vector<JournalEntry>& entries() const;  ///< as they were found
    bool complete() const;                             ///< the run was done
    void append(const JournalEntry& entry);

  private:
    struct State;
    explicit Journal(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Where the journal of a problem on a device lies: `FOLDER/journals/<device_key>-<16 digits of the
/// problem's hash>.jsonl`.
std::filesystem::path journal_path(const std::filesystem::path& folder, const Problem& problem, const DeviceFingerprint& device);

}  // namespace hone::inline v0_1
