#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/console/console.hpp"
#include "tools/console/options.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools {

/// Where a command writes results: `--db DIR` when it is given, else own_records().
std::filesystem::path database_folder(const std::string& given);

/// Makes the folder of results where it is absent. Throws Error where it cannot be written.
void make_database_folder(const std::filesystem::path& folder);

/// Where a command reads them, for people: the folder or file that was given, else all of
/// record_places().
std::string database_places(const std::string& given, const std::string& device_file = "");

/// Where the records of a folder lie: itself, or tuning_db/records of a checkout of hone, whose own
/// JSON files are none of records.
std::filesystem::path records_folder(const std::filesystem::path& folder);

/// The journals that lie in a folder of results, without those of runs that were begun anew; none
/// where there is no such folder.
std::set<std::filesystem::path> journal_files(const std::filesystem::path& folder);

/// Reads a journal's file, or what another tuner measured of a space (read_recorded_space) as the
/// journal of an exhaustive run, by the names that tunables have today. Throws Error naming file
/// and line.
JournalText read_journal(const std::filesystem::path& file);

/// The same of a journal that was found beside results: where it cannot be read (a full disk leaves
/// an empty one) the console is told that it is left out, because the others are no worse for it.
std::optional<JournalText> journal_if_readable(const std::filesystem::path& file, Console& console);

/// Declares `--db` of a command that reads.
void declare_database(Options& options, std::string& folder);
/// Declares `--db` of a command that writes.
void declare_own_database(Options& options, std::string& folder);

/// The database that a command reads: from one device's file or from the folder that was given,
/// else what every application gets (known_records). Throws Error when the folder was named on the
/// command line and is not there, so that a misspelt name does not look like an empty database; a
/// missing one in HONE_DB is told to the console.
Database read_database(const std::string& given, const std::string& device_file, const Families& families, Console& console);

/// The same for what shows or compares records: by the names that tunables have today. Look-ups do
/// not need it.
Database shown_database(const std::string& given, const std::string& device_file, const Families& families, Console& console);

/// The records of a device's file, by the names that tunables have today.
std::vector<Record> shown_records(const std::filesystem::path& file, const Families& families);

}  // namespace hone::tools
