#include "tuning_db/database_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/json.hpp"
#include "tuning_db/migration.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t most_records = 20'000;
constexpr std::int64_t most_bytes = std::int64_t{64} << 20;  // over twice what so many records take

int version_of(const JsonPlace& root) {
    const JsonPlace version = root["schema_version"];
    const auto number = static_cast<int>(version.integer(1, 1'000'000));
    if (number > schema_version)
        version.fail(fmt::format("is {}, this program knows up to {}", number, schema_version), "use a newer hone; nothing was changed");
    return number;
}

}  // namespace

DatabaseFile parse_database_file(std::string_view text, const std::string& file, const Families& families) {
    JsonNode root = parse_json(text, file);
    const JsonPlace place(root, file);
    DatabaseFile database;
    database.version = version_of(place);
    migrate(root, database.version);
    place.only({"schema_version", "device", "records"});
    constexpr std::size_t longest_key = 200;
    database.device = place["device"].string(longest_key);
    const JsonPlace records = place["records"];
    const std::size_t count = records.elements();
    if (count > most_records) records.fail(fmt::format("has {} records", count), fmt::format("at most {} belong here", most_records));
    database.records.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        database.records.push_back(read_record(records[i], families));
        const std::string key = device_key(database.records.back().device);
        if (key != database.device)
            records[i]["device"].fail(fmt::format("is {}, the file is of {}", json_string(key), json_string(database.device)),
                                      "move the record to the file of its own device");
    }
    return database;
}

DatabaseFile read_database_file(const std::filesystem::path& path, const Families& families) {
    std::string text = read_file(path, most_bytes);
    DatabaseFile database = parse_database_file(text, path.string(), families);
    database.text = std::move(text);
    if (path.stem() != database.device)
        throw Error(path.string(), fmt::format("it is of the device {}", json_string(database.device)),
                    fmt::format("rename it to {}.json", database.device));
    return database;
}

std::vector<std::filesystem::path> database_files(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    std::error_code status;
    const auto kind = fs::status(folder, status).type();
    if (kind == fs::file_type::not_found) return files;
    if (kind != fs::file_type::directory) throw Error(folder.string(), "it is not a folder", "name the folder that holds the database's files");
    for (const auto& entry : fs::directory_iterator(folder, status))
        if (entry.path().extension() == ".json" && !entry.path().filename().string().starts_with(".")) files.push_back(entry.path());
    if (status) throw Error(folder.string(), "it cannot be listed: " + status.message(), "check its permissions");
    std::sort(files.begin(), files.end());
    return files;
}

std::string database_file_text(const std::string& device, const std::vector<Record>& records) {
    if (records.size() > most_records)
        throw Error(device + ".json", fmt::format("it would hold {} records", records.size()), "keep fewer sizes of each problem");
    std::vector<const Record*> sorted;
    sorted.reserve(records.size());
    for (const Record& record : records) sorted.push_back(&record);
    std::sort(sorted.begin(), sorted.end(), [](const Record* a, const Record* b) { return stands_before(*a, *b); });
    std::string text = fmt::format("{{\n  \"schema_version\": {},\n  \"device\": {},\n  \"records\": [", schema_version, json_string(device));
    const char* between = "\n";
    for (const Record* record : sorted) {
        text += fmt::format("{}    {}", between, to_json(*record));
        between = ",\n";
    }
    return text + (records.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace hone::inline v0_1
