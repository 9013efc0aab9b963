#pragma once

#include <filesystem>
#include <string>

#include "tools/options.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools {

/// Where tuned results lie: `--db DIR` when it is given, else HONE_DB, else XDG_DATA_HOME/hone/db, else ~/.local/share/hone/db.
/// Throws Error when nothing of that is known.
std::filesystem::path database_folder(const std::string& given);

/// Declares `--db`.
void declare_database(Options& options, std::string& folder);

/// The database that a command reads, from a folder or from one device's file. Throws Error when the folder was named on the command line and is
/// not there, so that a misspelt name does not look like an empty database.
Database read_database(const std::string& given, const std::string& device_file, const Families& families);

}  // namespace hone::tools
