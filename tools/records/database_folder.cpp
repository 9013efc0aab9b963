#include "tools/records/database_folder.hpp"

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/writable_folder.hpp"
#include "tools/console/known_families.hpp"
#include "tuner/replay/formats/journal_space.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/places.hpp"
#include "tuning_db/todays_names.hpp"

namespace hone::tools {
namespace {

// Another tuner's journal, and what cannot be read, stay as they are.
void name_as_today(JournalText& journal) {
    try {
        const Problem problem = known_families().parse_problem(journal.run.problem);
        const SearchSpace space = known_families().of(problem).space(problem, generous_limits(journal.run.device));
        for (JournalEntry& entry : journal.entries)
            if (entry.kind == JournalEntry::Kind::evaluation) entry.config = space.completed(Config::parsed(entry.config)).key();
    } catch (const Error&) {
        return;
    }
}

}  // namespace

std::filesystem::path database_folder(const std::string& given) {
    return own_records(given);
}

void make_database_folder(const std::filesystem::path& folder) {
    make_folders(folder);
    if (const std::string reason = why_not_writable(folder); !reason.empty())
        throw Error("database " + folder.string(), "it cannot be written: " + reason, "name a folder of your own with --db");
}

std::filesystem::path records_folder(const std::filesystem::path& folder) {
    const std::filesystem::path below = folder / "tuning_db" / "records";
    return std::filesystem::is_directory(below) ? below : folder;
}

std::string database_places(const std::string& given, const std::string& device_file) {
    if (!device_file.empty()) return device_file;
    if (!given.empty()) return given;
    std::string text;
    for (const Place& place : record_places()) text += (text.empty() ? "" : ", ") + place.folder.string();
    return text;
}

std::set<std::filesystem::path> journal_files(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::set<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator file(folder / "journals", error), end; !error && file != end; file.increment(error))
        if (file->path().extension() == ".jsonl") files.insert(file->path());
    return files;
}

JournalText read_journal(const std::filesystem::path& file) {
    constexpr std::int64_t largest = std::int64_t{1} << 30;
    const std::string text = read_file(file, largest);
    JournalText journal = parse_journal(is_journal(text) ? text : journal_text(read_recorded_space(file)), file.string());
    name_as_today(journal);
    return journal;
}

std::optional<JournalText> journal_if_readable(const std::filesystem::path& file, Console& console) {
    try {
        return read_journal(file);
    } catch (const Error& error) {
        console.message("hone: a journal is left out: {}\n", error.what());
        return std::nullopt;
    }
}

void declare_database(Options& options, std::string& folder) {
    options.text("db", folder, "DIR",
                 "read only this folder of tuned results; default HONE_DB, this user's folder (XDG_DATA_HOME/hone/db, else ~/.local/share/hone/db) "
                 "and the records that ship with hone, together");
}

void declare_own_database(Options& options, std::string& folder) {
    options.text("db", folder, "DIR",
                 "folder of tuned results to read and write; default writes to HONE_DB, else XDG_DATA_HOME/hone/db, else ~/.local/share/hone/db");
}

Database read_database(const std::string& given, const std::string& device_file, const Families& families, Console& console) {
    if (!device_file.empty()) {
        Database database(families);
        for (const auto& record : read_database_file(device_file, families).records) database.add(record);
        return database;
    }
    return known_records(families, given, [&](const std::string& text) { console.message("hone: {}\n", text); });
}

Database shown_database(const std::string& given, const std::string& device_file, const Families& families, Console& console) {
    return read_database(given, device_file, families, console).with_todays_names();
}

std::vector<Record> shown_records(const std::filesystem::path& file, const Families& families) {
    std::vector<Record> records = read_database_file(file, families).records;
    for (Record& record : records) record = with_todays_names(std::move(record), families);
    return records;
}

}  // namespace hone::tools
