#include "tests/campaign/campaign.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "generator/families/built_in_families.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string>& lines() {
    static std::vector<std::string> all;
    return all;
}

// A shipped record that stands for all that are made here: of gauss_seidel_27, whose problems
// differ by their extents.
Record model() {
    const Database shipped = Database::load(fs::path(HONE_SOURCE_FOLDER) / "tuning_db" / "records", built_in_families());
    for (const Record& record : shipped.records())
        if (record.problem.key().find("gauss_seidel_27 stencil=constant precision=f32 ") == 0 && record.purpose.empty()) return record;
    throw std::runtime_error("the shipped records have none of gauss_seidel_27");
}

}  // namespace

std::size_t times(std::size_t number) {
    const char* const text = std::getenv("HONE_CAMPAIGN_TIMES");
    const double factor = text == nullptr ? 1 : std::atof(text);
    if (!(factor > 0)) throw std::runtime_error("HONE_CAMPAIGN_TIMES is not a number above 0");
    return static_cast<std::size_t>(std::ceil(factor * static_cast<double>(number)));
}

std::mt19937_64 fresh_random() {
    const auto seed = std::random_device{}();
    std::cout << "seed " << seed << "\n";
    return std::mt19937_64(seed);
}

std::size_t draw(std::mt19937_64& random, std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
}

void count(const std::string& line) {
    lines().push_back(line);
    std::cout << line << "\n";
}

const std::vector<std::string>& counted() {
    return lines();
}

Preload::Preload(const Settings& settings) {
    const auto set = [this](const char* name, const std::string& value) {
        variables_.push_back(std::make_unique<EnvironmentVariable>(name, value.empty() ? std::nullopt : std::optional(value)));
    };
    set("LD_PRELOAD", HONE_FILE_CALLS);
    set("HONE_CALLS_FOLDER", settings.folder.string());
    set("HONE_CALLS_LOG", settings.log.string());
    set("HONE_CALLS_COMMAND", settings.command);
    set("HONE_CALLS_FAIL", settings.fail);
}

std::vector<LoggedCall> read_log(const fs::path& log) {
    const std::string text = text_of(log);
    std::vector<LoggedCall> calls;
    for (std::size_t at = 0; at + sizeof(Event) <= text.size();) {
        LoggedCall call;
        std::memcpy(&call.event, text.data() + at, sizeof(Event));
        at += sizeof(Event);
        call.path = text.substr(at, call.event.path_bytes);
        at += call.event.path_bytes;
        call.more = text.substr(at, call.event.more_bytes);
        at += call.event.more_bytes;
        calls.push_back(std::move(call));
    }
    return calls;
}

void mark(const fs::path& log, const std::string& remark) {
    Event event;
    event.call = Call::mark;
    event.path_bytes = static_cast<std::uint32_t>(remark.size());
    std::ofstream file(log, std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char*>(&event), sizeof event);
    file << remark;
}

MadeRecords::Batch MadeRecords::make(int records) {
    static const Record kind = model();
    Database database(built_in_families());
    Batch batch{folder_ / fmt::format("batch-{}", batches_++), {}};
    for (int i = 0; i < records; ++i) {
        Record record = kind;
        const int number = made_++;
        record.problem = built_in_families().parse_problem(fmt::format("gauss_seidel_27 stencil=constant precision=f32 nx={} ny={} nz={}",
                                                                       256 + 32 * (number % 40), 256 + number / 40 % 40, 256 + number / 1600));
        database.add(record);
        batch.subjects.push_back(subject(record));
    }
    database.merge_into(batch.folder);
    return batch;
}

std::vector<std::string> subjects_in(const fs::path& database) {
    std::vector<std::string> subjects;
    const Database loaded = Database::load(database, built_in_families());
    for (const Record& record : loaded.records()) subjects.push_back(subject(record));
    return subjects;
}

std::vector<std::string> lost(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
    const std::set<std::string> present(found.begin(), found.end());
    std::vector<std::string> missing;
    for (const std::string& one : expected)
        if (present.count(one) == 0) missing.push_back(one);
    return missing;
}

std::vector<std::string> tune_command(const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "tune", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=20", "ny=18", "nz=16", "--device", "cpu", "--samples", "6", "--seed",
        "1",    "--no-prior"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

}  // namespace hone::test
