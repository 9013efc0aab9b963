#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tuning_db/database.hpp"

namespace hone::inline v0_1 {

/// A folder in which tuned results are looked for.
struct Place {
    std::string name;  ///< what says so, for people: "HONE_DB", "this user's folder", "shipped with hone"
    std::filesystem::path folder;
    bool named = false;    ///< somebody named it: then it should be there
    bool shipped = false;  ///< with hone: read, and never written to
};

/// The one default of the library, the command and the examples, in the order of their weight: what
/// HONE_DB names, if it is set; this user's folder, XDG_DATA_HOME/hone/db, else
/// ~/.local/share/hone/db; the records that ship with hone: share/hone/records of the prefix that
/// the running program lies in, else of the package that it was built with, else of the source tree
/// (tuning_db/package.hpp).
std::vector<Place> record_places();

/// Where results are written: `named`, else the first of `record_places` that is not shipped.
/// Throws Error when neither HONE_DB nor XDG_DATA_HOME nor HOME says.
std::filesystem::path own_records(const std::filesystem::path& named = {});

/// The results that an application gets: of `folder` alone when one is named, else of all
/// `record_places` together (Database::load says which of two answers goes first). Throws Error
/// when `folder` is named and is not there. A folder in HONE_DB that is not there is told to `warn`
/// (default: a line on standard error), so that a program may run that is yet to fill it.
Database known_records(const Families& families, const std::filesystem::path& folder = {}, const std::function<void(const std::string&)>& warn = {});

/// Marks in `folder` what was found wrong on a device (Database::mark_wrong): its own records, and
/// where it is one of record_places those of all of them, which may be read-only. Returns
/// the number of marks. Throws Error as Database::load and merge_into do.
int mark_wrong(const Families& families, const std::filesystem::path& folder, const DeviceSide& device, const std::vector<WrongResult>& results,
               std::chrono::milliseconds patience = std::chrono::seconds(60));

}  // namespace hone::inline v0_1
