#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "generator/families.hpp"
#include "generator/limits.hpp"
#include "tuning_db/prediction.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// How well a database's answer fits the question: tuned for it, measured at its first use
/// (tuner/online/first_use.hpp), or less.
enum class Grade { exact, measured, nearest_size, same_architecture, predicted, other_architecture, none };

/// The grades in words, in their order: the same on the command line, in JSON, C, Fortran and
/// Python.
inline constexpr std::array<const char*, 7> grade_words{"exact",     "measured",           "nearest_size", "same_architecture",
                                                        "predicted", "other_architecture", "none"};

inline std::string to_string(Grade grade) {
    return grade_words.at(static_cast<std::size_t>(grade));
}

/// The answer to a look-up. With Grade::predicted no record fits, and what neighbouring problems of
/// the family suggest is handed out (predict). With Grade::other_architecture it is what was found
/// on devices of other architectures: a record of this problem whose configuration this space has,
/// or what several suggest. With Grade::none the configuration is the family's safe one, so that
/// there is always something that runs.
struct Match {
    Grade grade = Grade::none;
    Config config;
    std::optional<Record> record;      ///< what it was taken from, by the names of today; none where several suggest it
    std::filesystem::path folder;      ///< that this was read from; empty for one that was added
    std::string note = {};             ///< what may make it less fit, beside its grade: "measured with 16 threads, here are 4"
    std::vector<Source> sources = {};  ///< where several suggest it
};

/// How two devices should share every step of a problem.
struct Share {
    Grade grade = Grade::none;  ///< exact, nearest_size, or none: nothing is known about this pair
    double share = 1;           ///< of the device that was named first, 0..1
    Config config;              ///< that it should run
    Config partner_config;
    std::optional<Record> record;  ///< what it was taken from; its own device may be the one named second
    std::optional<Hybrid> known;   ///< what the record says, with the device named first as the own one
};

/// How the ranks of a program should exchange what they share.
struct ExchangeMatch {
    Grade grade = Grade::none;     ///< exact, nearest_size, or none: nothing is known of this program on this link
    std::optional<Record> record;  ///< what it was taken from; its `exchange` has the configuration
};

/// A device with what it allows.
struct DeviceSide {
    DeviceFingerprint fingerprint;
    Limits limits;
};

/// A configuration that was verified, and found to compute something else than the reference.
struct WrongResult {
    Problem problem;
    Config config;            ///< a member of the problem's space
    std::string source_hash;  ///< kernel_hash of what was found wrong
    std::string reason;       ///< in words: what differs, by how much, and who found it
};

/// Counts of the records that were merged into a folder.
struct MergeCounts {
    int added = 0;     ///< the folder had none about the subject
    int replaced = 0;  ///< better than the folder's
    int kept = 0;      ///< the folder's is as good or better, or it knows that this one is wrong
};

/// Tuned results by device model: a folder with one JSON file per device (`<device_key>.json`),
/// sorted and diff-friendly.
///
/// A record that was proved wrong stands in it as a mark (Record::wrong). Marks and records of the
/// same refutation_key, from whatever folder and in whatever order they come, leave the mark alone:
/// no look-up meets the record again, and no merge brings it back.
///
/// Only typed values that are members of the family's search space are ever handed out. A file that
/// cannot be read, a schema version that is newer than this program, or a value outside its range
/// throws Error with file, line, place and remedy; nothing is overwritten then. Records of families
/// that are not in `families` are kept, written back as they were, and passed over by look-ups. A
/// value: copies are independent; look-ups from several threads are safe.
///
///     const Database database = Database::load("tuning_db/records", built_in_families());
///     const Match match = database.best(problem, device, limits);
class Database {
  public:
    /// `families` must outlive the database.
    explicit Database(const Families& families) : families_(&families) {}

    /// All files of a folder; an absent folder is an empty database. Older schema versions are
    /// migrated in memory.
    static Database load(const std::filesystem::path& folder, const Families& families);
    /// Opens several folders. Their records stand side by side, also where they are about the same
    /// subject: a look-up takes the nearest answer that fits, and among equally near ones (the same
    /// grade and distance) one that is not disturbed, then that of the folder that was named first.
    /// So a shipped record never displaces what was measured on this machine in quiet, whatever
    /// times it promises, and answers where that is stale.
    static Database load(const std::vector<std::filesystem::path>& folders, const Families& families);

    /// The records of known families, in the order of their arrival: the first folder's first.
    const std::vector<Record>& records() const { return known_.records; }
    /// Those of them that are the first about their subject; one that is disturbed gives way to one
    /// that is not.
    std::vector<Record> first_records() const;
    /// The marks of configurations that were found wrong, in the order of their arrival.
    const std::vector<Record>& marks() const { return marks_.records; }
    /// The records of other families.
    const std::vector<Record>& foreign_records() const { return foreign_.records; }

    /// The same with the names of tunables of today (tuning_db/todays_names.hpp), for what shows
    /// records. Look-ups translate only those that answer.
    Database with_todays_names() const;

    /// Adds a record, or replaces the one about the same subject if the new one is `better`
    /// (tuning_db/record.hpp). Throws Error naming the field for a record that a file could not
    /// hold: a median of 0, an unknown date, a problem that its family refuses.
    void add(const Record& record);
    /// Adds all of another database's.
    void add(const Database& other);

    /// Best configuration for a problem: the exact problem on this device (Grade::measured where it
    /// was measured at first use only), the nearest size on this
    /// device, that on another device of the same target and architecture, else what other problems
    /// of the family on these devices suggest, else what was found on another architecture, unless
    /// it is expected to be slower than the safe configuration here, else safe. Among equally near
    /// sizes one that is not disturbed goes first, then the first folder, then what loses least
    /// time relative to its ceiling; what was found for another `arithmetic` answers where it is of
    /// a better grade, or faster. A candidate that is not verified, or that the space at this
    /// problem's own extents and `limits` rejects, is passed over. So is one whose size is not near
    /// (ScaleDistance::near), and one that its own safe configuration beats (beaten_by_safe): these
    /// have a say in what is suggested. A record of the very problem that was verified at a smaller
    /// size only (Record::verified_on) counts as one of another size. What is marked wrong at any
    /// size is handed out for those sizes alone at which it was verified itself.
    Match best(const Problem& problem, const DeviceFingerprint& device, const Limits& limits) const;

    /// The results that a problem on a device can learn from (neighbour_distance), the nearest
    /// first; where there are none, those that are up to four times as far.
    std::vector<Neighbour> neighbours(const Problem& problem, const DeviceFingerprint& device) const;

    /// Best share of a problem between two devices, whichever of them the record names first: of
    /// the exact problem, else of the nearest size that is near (ScaleDistance::near); among
    /// several pairs of configurations one that is not disturbed, then that of the first folder,
    /// then the fastest verified one whose members both spaces have. With Grade::none the share is
    /// 1 and both configurations are those of `best`.
    Share best_share(const Problem& problem, const DeviceSide& device, const DeviceSide& partner) const;

    /// What was measured for the exchanges of a program's step on so many devices of one model over
    /// a link: of the exact problem, else of the nearest size; of equally near ones as for
    /// `best_share`. A record with another number of ranks answers only where there is none with
    /// this one.
    ExchangeMatch best_exchange(const Problem& problem, const DeviceFingerprint& device, const Exchange& about) const;

    /// Merges this database's records into the folder's files, making the folder when absent: under
    /// the folder's lock all files are read again, merged, and those that change are replaced
    /// atomically, all or none (replace_files). Several processes may do so at once: they queue. A
    /// file that is written has today's layout and names.
    /// Throws Error, with the folder's files as they were, when one of them cannot be read or
    /// replaced, or when one holder keeps the lock for longer than `patience`.
    MergeCounts merge_into(const std::filesystem::path& folder, std::chrono::milliseconds patience = std::chrono::seconds(60)) const;

    /// Takes the records that `chosen` picks out of the folder's files, also those of families that
    /// are not known here, and returns them in the order of the files. Under the folder's lock, all
    /// files or none; each that changes is kept beside as `<name>.json.previous`, in place of the
    /// one before. An absent folder has none. Throws as `merge_into` does.
    static std::vector<Record> remove_from(const std::filesystem::path& folder, const Families& families,
                                           const std::function<bool(const Record&)>& chosen,
                                           std::chrono::milliseconds patience = std::chrono::seconds(60));

    /// Marks what was found wrong on a device in the folder: the records of the same problem,
    /// device model and configuration that this database has, whatever they were tuned for and in
    /// whatever folder; and what its other records would be handed out for. Returns the number of
    /// marks. There is none of what no look-up would hand out. Throws Error as `merge_into` does.
    int mark_wrong(const std::filesystem::path& folder, const DeviceSide& device, const std::vector<WrongResult>& results,
                   std::chrono::milliseconds patience = std::chrono::seconds(60)) const;

    /// Puts each `second` in place of the record that is its `first` in the folder's files, and
    /// leaves alone what is no longer as `first` says: it was replaced by somebody else meanwhile.
    /// For measurements of the same result that say more than those before, whichever was `better`.
    /// Under the folder's lock, all files or none. Returns how many were replaced. Throws Error as
    /// `merge_into` does, and for a pair about two subjects.
    static int replace_in(const std::filesystem::path& folder, const Families& families, const std::vector<std::pair<Record, Record>>& replacements,
                          std::chrono::milliseconds patience = std::chrono::seconds(60));

  private:
    // Records with one per subject and folder, found by a key.
    struct Table {
        std::vector<Record> records;
        std::vector<std::string> devices;                                      // device_key of each
        std::vector<std::size_t> places;                                       // of each: position of its folder
        std::vector<std::unordered_map<std::string, std::size_t>> by_subject;  // by position of the folder
        std::unordered_map<std::string, std::vector<std::size_t>> by_class;    // Problem::class_key
        std::unordered_map<std::string, std::vector<std::size_t>> by_family;

        MergeCounts add(Record record, std::size_t place);
        /// Takes out what is `chosen`, and returns how many that were.
        int erase(const std::function<bool(const Record&)>& chosen);
    };
    struct Candidate;
    std::vector<Candidate> candidates(const Problem& problem, const DeviceFingerprint& device) const;
    MergeCounts insert(Record record, std::size_t place = 0);
    MergeCounts insert_mark(Record mark, std::size_t place);
    std::vector<Record> marks_of(const WrongResult& result, const DeviceSide& device) const;
    /// Whether a configuration is marked wrong at some size of this problem, on a device of this
    /// target. A mark no longer counts where a record of its problem is about a changed source:
    /// that was verified.
    bool is_refuted(const SearchSpace& space, const Problem& problem, Target target, const Config& config) const;
    /// Whether a mark is about this record, whose configuration is `config` by the names of today:
    /// one of the two may have former names, and so another refutation_key.
    bool is_refuted(const SearchSpace& space, const Record& record, const Config& config) const;
    /// What other architectures' records of the problem say, `near` of all problems; nothing where
    /// none says anything.
    std::optional<Match> of_other_architecture(const Problem& problem, const DeviceFingerprint& device, const Limits& limits,
                                               const SearchSpace& space, const std::vector<Neighbour>& near) const;
    Match match(Grade grade, Config config, std::size_t index, const DeviceFingerprint& device) const;

    const Families* families_;
    std::vector<std::filesystem::path> folders_;
    Table known_;
    Table foreign_;
    Table marks_;                              ///< of known families and of others
    std::unordered_set<std::string> refuted_;  ///< refutation_key of each
};

}  // namespace hone::inline v0_1
