#include "tools/database_folder.hpp"

#include <cstdlib>

#include "generator/error.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::tools {
namespace {

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path database_folder(const std::string& given) {
    if (!given.empty()) return given;
    if (const std::string folder = environment("HONE_DB"); !folder.empty()) return folder;
    if (const std::string data = environment("XDG_DATA_HOME"); !data.empty()) return std::filesystem::path(data) / "hone" / "db";
    if (const std::string home = environment("HOME"); !home.empty()) return std::filesystem::path(home) / ".local" / "share" / "hone" / "db";
    throw Error("database", "neither --db nor HONE_DB, XDG_DATA_HOME or HOME says where it lies", "use --db DIR");
}

void declare_database(Options& options, std::string& folder) {
    options.text("db", folder, "DIR", "folder of tuned results; default HONE_DB, else XDG_DATA_HOME/hone/db, else ~/.local/share/hone/db");
}

Database read_database(const std::string& given, const std::string& device_file, const Families& families) {
    if (!device_file.empty()) {
        Database database(families);
        for (const auto& record : read_database_file(device_file, families).records) database.add(record);
        return database;
    }
    if (!given.empty() && !std::filesystem::is_directory(given))
        throw Error("--db", given + " is not a folder", "name the folder that 'hone tune --db' wrote");
    return Database::load(database_folder(given), families);
}

}  // namespace hone::tools
