#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "generator/families.hpp"
#include "generator/limits.hpp"
#include "tuning_db/record.hpp"

namespace hone {

/// How well a database's answer fits the question.
enum class Grade { exact, nearest_size, same_architecture, none };

std::string to_string(Grade grade);

/// The answer to a look-up. With Grade::none the configuration is the family's safe one, so that there is always something that runs.
struct Match {
    Grade grade = Grade::none;
    Config config;
    std::optional<Record> record;  ///< what it was taken from
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

/// A device with what it allows.
struct DeviceSide {
    DeviceFingerprint fingerprint;
    Limits limits;
};

/// What became of the records that were merged into a folder.
struct MergeCounts {
    int added = 0;     ///< the folder had none about the subject
    int replaced = 0;  ///< better than the folder's
    int kept = 0;      ///< the folder's is as good or better
};

/// Tuned results by device model: a folder with one JSON file per device (`<device_key>.json`), sorted and diff-friendly.
///
/// Only typed values that are members of the family's search space are ever handed out. A file that cannot be read, a schema version that is
/// newer than this program, or a value outside its range throws Error with file, line, place and remedy; nothing is overwritten then.
/// Records of families that are not in `families` are kept, written back as they were, and passed over by look-ups.
/// A value: copies are independent; look-ups from several threads are safe.
///
///     const Database database = Database::load("tuning_db/records", built_in_families());
///     const Match match = database.best(problem, device, limits);
class Database {
  public:
    /// `families` must outlive the database.
    explicit Database(const Families& families) : families_(&families) {}

    /// All files of a folder; an absent folder is an empty database. Older schema versions are migrated in memory.
    static Database load(const std::filesystem::path& folder, const Families& families);

    /// The records of known families, in the order of their arrival.
    const std::vector<Record>& records() const { return known_.records; }
    /// The records of other families.
    const std::vector<Record>& foreign_records() const { return foreign_.records; }

    /// Adds a record, or replaces the one about the same subject if the new one is `better` (tuning_db/record.hpp). Throws Error naming the field
    /// for a record that a file could not hold: a median of 0, an unknown date, a problem that its family refuses.
    void add(const Record& record);
    /// Adds all of another database's.
    void add(const Database& other);

    /// Best configuration for a problem: the exact problem on this device, the nearest size (extent_distance in generator/problem.hpp) on this
    /// device, the nearest size on another device of the same target and architecture, else safe. Among equally near sizes the result that loses
    /// least time relative to its ceiling goes first. A candidate that is not verified, or that the space at this problem's own extents and
    /// `limits` rejects, is passed over.
    Match best(const Problem& problem, const DeviceFingerprint& device, const Limits& limits) const;

    /// Best share of a problem between two devices, whichever of them the record names first: of the exact problem, else of the nearest size; among
    /// several pairs of configurations the fastest verified one whose members both spaces have. With Grade::none the share is 1 and both
    /// configurations are those of `best`.
    Share best_share(const Problem& problem, const DeviceSide& device, const DeviceSide& partner) const;

    /// Merges this database's records into the folder's files, making the folder when absent: under the folder's lock all files are read again,
    /// merged, and those that change are replaced atomically. Several processes may do so at once. Throws Error before anything is
    /// written when one of the files to be merged into cannot be read.
    MergeCounts merge_into(const std::filesystem::path& folder) const;

  private:
    // Records with one per subject, found by a key.
    struct Table {
        std::vector<Record> records;
        std::vector<std::string> devices;  // device_key of each
        std::unordered_map<std::string, std::size_t> by_subject;
        std::unordered_map<std::string, std::vector<std::size_t>> by_class;  // Problem::class_key

        MergeCounts add(const Record& record);
    };
    struct Candidate;
    std::vector<Candidate> candidates(const Problem& problem, const DeviceFingerprint& device) const;
    MergeCounts insert(const Record& record);

    const Families* families_;
    Table known_;
    Table foreign_;
};

}  // namespace hone
