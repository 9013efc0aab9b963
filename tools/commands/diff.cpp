#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/record_diff.hpp"
#include "tools/records/record_table.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::tools {
namespace diff {

namespace fs = std::filesystem;

struct Settings {
    std::vector<std::string> words;
    std::string noise = "1%";
    std::string fail_if_slower;
    bool verbose = false;
    bool json = false;
};

// One of the two sets of records.
struct Side {
    std::string name;  // as it was written
    std::vector<Record> records;
    std::set<std::string> devices;
};

std::vector<Record> records_at(const std::string& path, const Families& families, Console& console) {
    if (path.empty()) return shown_database("", "", families, console).first_records();
    if (fs::is_regular_file(path)) return shown_records(path, families);
    if (!fs::is_directory(path))
        throw Error("diff", "\"" + path + "\" is neither a folder nor a file",
                    "name a folder of records, a record file, or a checkout of hone; @MODEL behind it chooses a device");
    std::vector<Record> all;
    for (const auto& file : database_files(records_folder(path)))
        for (auto& record : shown_records(file, families)) all.push_back(std::move(record));
    return all;
}

// PATH, PATH@MODEL or @MODEL.
Side side_of(const std::string& text, const Families& families, Console& console) {
    const std::size_t at = fs::exists(text) ? std::string::npos : text.rfind('@');
    const std::string model = at == std::string::npos ? "" : text.substr(at + 1);
    Side side{text, records_at(text.substr(0, at), families, console), {}};
    std::vector<std::string> models;
    for (const Record& record : side.records)
        for (const std::string& name : {device_key(record.device), record.device.name})
            if (std::find(models.begin(), models.end(), name) == models.end()) models.push_back(name);
    if (!model.empty() && std::find(models.begin(), models.end(), model) == models.end())
        throw Error("diff", fmt::format("{} has no results of {}", text.substr(0, at), model),
                    models.empty() ? "it has none at all" : did_you_mean(model, models) + fmt::format("it has those of {}", fmt::join(models, ", ")));
    if (!model.empty()) std::erase_if(side.records, [&](const Record& r) { return device_key(r.device) != model && r.device.name != model; });
    for (const Record& record : side.records) side.devices.insert(device_key(record.device));
    return side;
}

std::string described(const Side& side) {
    if (side.records.empty()) return side.name + ": no results";
    return fmt::format("{}: {} results of {}", side.name, side.records.size(), fmt::join(side.devices, ", "));
}

void keep_matching(Side& side, const std::vector<std::string>& words, const Families& families) {
    const ProblemFilter filter(words, families);
    std::erase_if(side.records, [&](const Record& record) { return !filter.matches(record.problem); });
}

std::string per_cent(double ratio) {
    return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string why(const RecordChange& change) {
    if (change.other_configuration) return "other configuration";
    if (change.other_source) return "other kernel of the same configuration";
    if (change.ratio <= 0) return "";
    const DeviceFingerprint& before = change.before->device;
    const DeviceFingerprint& after = change.after->device;
    if (before.driver != after.driver) return "driver " + before.driver + " -> " + after.driver;
    if (before.compiler != after.compiler) return before.compiler + " -> " + after.compiler;
    return "same kernel";
}

std::string cost_text(const std::optional<Record>& record) {
    if (!record) return "-";
    return record->purpose == "energy" && record->energy ? significant(record->energy->joules.median) + " J" : duration(record->step.median);
}

const std::array<Change, 6>& order() {
    static const std::array<Change, 6> all{Change::slower, Change::faster, Change::unsure, Change::appeared, Change::gone, Change::same};
    return all;
}

Style style_of(Change change) {
    return change == Change::faster ? Style::good : change == Change::slower ? Style::poor : Style::strong;
}

std::string problem_of(const RecordChange& change) {
    const Record& record = change.after ? *change.after : *change.before;
    return short_key(record.problem, known_families()) + (record.purpose.empty() ? "" : " for " + record.purpose);
}

std::string sureness(const RecordChange& change) {
    return change.confidence > 0 ? fmt::format("{:.1f} %", 100 * std::min(change.confidence, 0.999)) : "-";
}

// Each problem above its figures, where the terminal has no room for both beside each other.
void print_narrow(Change kind, const std::vector<RecordChange>& changes, Console& console) {
    console.print("\n");
    for (const RecordChange& change : changes) {
        if (change.change != kind) continue;
        std::string figures = cost_text(change.before) + " -> " + cost_text(change.after);
        if (change.ratio > 0) figures += fmt::format("  {}", per_cent(change.ratio));
        if (change.confidence > 0) figures += "  sure to " + sureness(change);
        if (const std::string because = why(change); !because.empty()) figures += "  " + because;
        console.print("  {}\n", wrapped(problem_of(change), console.out_width(), 2));
        console.print("    {}\n", wrapped(figures, console.out_width(), 4));
    }
    console.print("\n");
}

void print_kind(Change kind, const std::vector<RecordChange>& changes, Console& console) {
    constexpr auto right = Table::Align::right;
    Table table({{"problem"}, {"before", right}, {"after", right}, {"change", right}, {"sure", right}, {"because"}});
    for (const RecordChange& change : changes) {
        if (change.change != kind) continue;
        table.row({problem_of(change), cost_text(change.before), cost_text(change.after), change.ratio > 0 ? per_cent(change.ratio) : "-",
                   sureness(change), why(change)});
    }
    if (table.empty()) return;
    console.styled(style_of(kind), name_of(kind));
    const std::string text = table.text();
    const int width = console.out_width();
    if (width == 0 || display_width(text.substr(0, text.find('\n'))) <= width)
        console.print("\n{}\n", text);
    else
        print_narrow(kind, changes, console);
}

std::map<Change, int> counts_of(const std::vector<RecordChange>& changes) {
    std::map<Change, int> counts;
    for (const Change kind : order()) counts[kind] = 0;
    for (const RecordChange& change : changes) ++counts[change.change];
    return counts;
}

// Of the slower ones, which `--fail-if-slower` does not allow.
std::int64_t beyond(const std::vector<RecordChange>& changes, double allowed) {
    return std::count_if(changes.begin(), changes.end(),
                         [&](const RecordChange& change) { return change.change == Change::slower && change.ratio > 1 + allowed; });
}

Json json_of(const RecordChange& change) {
    const Record& record = change.after ? *change.after : *change.before;
    Json document{{"change", name_of(change.change)},
                  {"problem", record.problem.key()},
                  {"purpose", record.purpose},
                  {"device", device_key(record.device)},
                  {"before", change.before ? tools::json_of(*change.before) : Json()},
                  {"after", change.after ? tools::json_of(*change.after) : Json()}};
    if (change.ratio > 0) document["ratio"] = change.ratio;
    if (change.confidence > 0) document["confidence"] = change.confidence;
    if (change.ratio > 0) document["because"] = why(change);
    return document;
}

Json document_of(const Side& a, const Side& b, const std::vector<RecordChange>& changes, std::int64_t failures) {
    Json counts = Json::object();
    for (const auto& [kind, count] : counts_of(changes)) counts[name_of(kind)] = count;
    Json list = Json::array();
    for (const RecordChange& change : changes) list.push_back(json_of(change));
    return {{"before", a.name},
            {"after", b.name},
            {"counts", std::move(counts)},
            {"mean_ratio", mean_ratio(changes)},
            {"slower_than_allowed", failures},
            {"changes", std::move(list)}};
}

void print_summary(const std::vector<RecordChange>& changes, Console& console) {
    std::string text;
    for (const auto& [kind, count] : counts_of(changes)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(kind));
    if (std::any_of(changes.begin(), changes.end(), [](const RecordChange& change) { return change.ratio > 0; }))
        text += fmt::format("; on the geometric mean a step takes {} of before", percent(mean_ratio(changes)));
    console.print("{}", fitted(text + "\n", console.out_width()));
}

Exit diff(Settings settings, Console& console) {
    if (settings.words.size() < 2)
        throw Error("diff", "it needs two sets of records",
                    "write: hone diff BEFORE AFTER; each a folder, a file, or one of them with @MODEL behind it");
    const double noise = parse_percent("--noise", settings.noise);
    const double allowed = settings.fail_if_slower.empty() ? -1 : parse_percent("--fail-if-slower", settings.fail_if_slower);
    Side before = side_of(settings.words[0], known_families(), console);
    Side after = side_of(settings.words[1], known_families(), console);
    settings.words.erase(settings.words.begin(), settings.words.begin() + 2);
    std::vector<Record> both = before.records;
    both.insert(both.end(), after.records.begin(), after.records.end());
    const Families families = with_families_of(both, known_families());
    for (Side* side : {&before, &after}) keep_matching(*side, settings.words, families);

    const bool by_device = before.devices.size() != 1 || after.devices.size() != 1;
    const std::vector<RecordChange> changes = compare(before.records, after.records, by_device, noise);
    const std::int64_t failures = allowed < 0 ? 0 : beyond(changes, allowed);
    if (settings.json) {
        print(console, document_of(before, after, changes, failures));
    } else {
        console.print("{}", fitted(fmt::format("before  {}\nafter   {}\n\n", described(before), described(after)), console.out_width()));
        for (const Change kind : order())
            if (kind != Change::same || settings.verbose) print_kind(kind, changes, console);
        print_summary(changes, console);
    }
    if (changes.empty()) console.message("hone: neither holds such results\n");
    if (failures > 0) console.message("hone: {} are slower by more than {}\n", failures, settings.fail_if_slower);
    return changes.empty() || failures > 0 ? Exit::nothing : Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words(
        "BEFORE AFTER [FAMILY] [key=value...]", settings->words,
        "folders of records, record files or checkouts of hone, each with @MODEL behind it or that alone (the default database); then which "
        "problems, lists and ranges mean any of them");
    options.text("noise", settings->noise, "PERCENT", "ignore differences up to this; default 1%");
    options.text("fail-if-slower", settings->fail_if_slower, "PERCENT", "exit code 1 if a result is slower by more than this, with confidence");
    options.flag("verbose", settings->verbose, "also list unchanged results", 'v');
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return diff(*settings, console); };
}

}  // namespace diff

Command diff_command() {
    return {"diff",
            "what changed between two sets of tuned results",
            "BEFORE AFTER [FAMILY] [key=value...] [options]",
            "Compares results for the same problem, purpose and device model: slower, faster, new and gone ones, with a confidence that follows "
            "from the medians' intervals. If each side contains only one device model, problems are compared even if the models differ, so you can "
            "compare two devices. To compare two revisions, name the folders of two checkouts.\n\n"
            "A change is slower or faster if it exceeds --noise and is certain to 95 %. It is unsure if it exceeds --noise but is less certain. "
            "The last column lists other differences: the configuration, its kernel, the driver, the compiler.\n\n"
            "Exit code 1 if there is nothing to compare, or if a result is slower than --fail-if-slower allows.",
            {{"diff DIR tuning_db/records", "a database against what ships with hone"},
             {"diff DIR tuning_db/records dg_volume order=3 --fail-if-slower 3%", "in a script: fails if a kernel became slower"},
             {"diff DIR@nvidia_h200 tuning_db/records@nvidia_h200 --json", "one device model of each"}},
            diff::declare};
}

}  // namespace hone::tools
