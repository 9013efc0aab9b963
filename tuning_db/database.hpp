#pragma once

#include <filesystem>
#include <optional>
#include <string>
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

/// Tuned results by device model: a folder with one JSON file per device (`<device_key>.json`), sorted and diff-friendly.
///
/// Only typed values that are members of the family's search space are ever handed out. A file that cannot be read, a schema version that is
/// newer than this program, or a value outside its range throws Error with file, place and remedy; nothing is overwritten then.
///
///     const Database database = Database::load("tuning_db/records", built_in_families());
///     const Match match = database.best(problem, device, limits);
class Database {
  public:
    explicit Database(const Families& families) : families_(&families) {}

    /// All files of a folder; an absent folder is an empty database. Older schema versions are migrated in memory.
    static Database load(const std::filesystem::path& folder, const Families& families);

    const std::vector<Record>& records() const { return records_; }

    /// Adds a record, or replaces the one of the same problem (with extents) and device if the new one is better (see `better`).
    void add(Record record);

    /// Best configuration for a problem: the exact problem on this device, the nearest size (generator/problem.hpp) on this device, another
    /// device of the same target and architecture, else safe. A candidate that the space at this problem's own extents rejects is passed over.
    Match best(const Problem& problem, const DeviceFingerprint& device, const Limits& limits) const;

    /// Merges this database's records into the folder's files: each under a lock, read again, merged, and replaced atomically. Several processes may
    /// do so.
    void merge_into(const std::filesystem::path& folder) const;

  private:
    const Families* families_;
    std::vector<Record> records_;
};

/// True when `a` should replace `b`: verified within its tolerance, measured with the newer source, faster beyond the noise. A total, documented
/// rule.
bool better(const Record& a, const Record& b);

}  // namespace hone
