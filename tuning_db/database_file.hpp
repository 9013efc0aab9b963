#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "generator/families.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// Version of the files that this program writes. It is raised whenever a known field changes its
/// meaning or a file its structure; a record may gain fields without that (Record::further).
/// tuning_db/schema/ describes every version.
constexpr int schema_version = 3;

/// The results of one device model, as one file holds them.
struct DatabaseFile {
    std::string device;            ///< device_key of all records
    int version = schema_version;  ///< that it was read with, before migration
    std::vector<Record> records;   ///< in the order of the file; also those of families that are not known here
    std::string text;              ///< as it was read
};

/// Reads a file's text: older versions are migrated, a newer one is refused. Strict (see
/// record_from_json); every record must be of the file's device. `file` is for messages. Throws
/// Error.
DatabaseFile parse_database_file(std::string_view text, const std::string& file, const Families& families);

/// Reads `<device>.json`. Also throws Error when the name is not that of the device inside, or
/// beyond 64 MiB.
DatabaseFile read_database_file(const std::filesystem::path& path, const Families& families);

/// The database files of a folder in order of their names: every `*.json` that is not hidden. An
/// absent folder has none.
std::vector<std::filesystem::path> database_files(const std::filesystem::path& folder);

/// Text of a file of the newest version: records sorted, one a line, so that differences and merges
/// are by record. Throws Error beyond 20000 records, which could not be read back.
std::string database_file_text(const std::string& device, const std::vector<Record>& records);

}  // namespace hone::inline v0_1
