#include "tuning_db/places.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "tuning_db/package.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

fs::path users_records() {
    const fs::path folder = users_folder("XDG_DATA_HOME", ".local/share");
    return folder.empty() ? folder : folder / "db";
}

bool is_folder(const fs::path& path) {
    std::error_code status;
    return fs::is_directory(path, status);
}

fs::path shipped_records() {
    std::error_code status;
    const fs::path program = fs::read_symlink("/proc/self/exe", status);
    const fs::path beside = program.parent_path().parent_path() / "share" / "hone" / "records";
    return !program.empty() && is_folder(beside) ? beside : package().records;
}

}  // namespace

std::vector<Place> record_places() {
    std::vector<Place> places;
    if (const fs::path named = environment_variable("HONE_DB"); !named.empty()) places.push_back({"HONE_DB", named, true, false});
    if (const fs::path own = users_records(); !own.empty() && own != environment_variable("HONE_DB"))
        places.push_back({"this user's folder", own, false, false});
    places.push_back({"shipped with hone", shipped_records(), false, true});
    return places;
}

fs::path own_records(const fs::path& named) {
    if (!named.empty()) return named;
    if (fs::path folder = environment_variable("HONE_DB"); !folder.empty()) return folder;
    if (fs::path own = users_records(); !own.empty()) return own;
    throw Error("database", "neither HONE_DB nor XDG_DATA_HOME nor HOME says where results are written", "set HONE_DB to a folder of your own");
}

Database known_records(const Families& families, const fs::path& folder, const std::function<void(const std::string&)>& warn) {
    if (!folder.empty()) {
        if (!is_folder(folder))
            throw Error("database " + folder.string(), "it is not a folder", "name one that 'hone tune --db' wrote, or none for the default");
        return Database::load(folder, families);
    }
    std::vector<fs::path> folders;
    for (const Place& place : record_places()) {
        folders.push_back(place.folder);
        if (!place.named || is_folder(place.folder)) continue;
        const std::string text =
            fmt::format("{} names {}, which is not there; correct it, or let 'hone tune' make it", place.name, place.folder.string());
        warn ? warn(text) : fmt::print(stderr, "hone: warning: {}\n", text);
    }
    return Database::load(folders, families);
}

int mark_wrong(const Families& families, const fs::path& folder, const DeviceSide& device, const std::vector<WrongResult>& results,
               std::chrono::milliseconds patience) {
    if (results.empty()) return 0;
    std::vector<fs::path> usual;
    bool is_usual = false;
    std::error_code absent;
    for (const Place& place : record_places()) {
        usual.push_back(place.folder);
        is_usual = is_usual || place.folder == folder || fs::equivalent(place.folder, folder, absent);
    }
    return Database::load(is_usual ? usual : std::vector{folder}, families).mark_wrong(folder, device, results, patience);
}

}  // namespace hone::inline v0_1
