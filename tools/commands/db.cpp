#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/kernels/kernel_trials.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/database_prune.hpp"
#include "tools/records/database_stats.hpp"
#include "tools/records/record_table.hpp"
#include "tuning_db/database_file.hpp"
#include "tuning_db/record_json.hpp"
#include "tuning_db/todays_names.hpp"

namespace hone::tools {
namespace db {

namespace fs = std::filesystem;

struct Settings {
    std::vector<std::string> words;
    std::string device;
    std::string beside;
    std::int64_t older_than = 0;  // days
    bool disturbed = false;
    bool wrong = false;
    bool other_kernel = false;
    bool broken = false;
    bool journals = false;
    bool yes = false;
    bool verbose = false;
    bool dry_run = false;
    bool json = false;
};

// One file as `validate` and `list` see it.
struct FileReport {
    fs::path path;
    DatabaseFile file;
    std::string error;               // why it cannot be read; empty when it can
    std::vector<std::string> notes;  // what is legal, but no look-up will ever use
};

const fs::path& existing_folder(const fs::path& folder) {
    if (!fs::is_directory(folder)) throw Error("db", folder.string() + " is not a folder", "name the folder that 'hone tune --db' wrote");
    return folder;
}

FileReport examined(const fs::path& path, const Families& families) {
    FileReport report{path, {}, "", {}};
    try {
        report.file = read_database_file(path, families);
    } catch (const Error& error) {
        report.error = error.what();
        return report;
    }
    for (const auto& record : report.file.records)
        for (const std::string& reason : {idle_reason(record, kernel_today(record, families)), doubt(record)})
            if (!reason.empty()) report.notes.push_back(record.problem.key() + ": " + reason);
    return report;
}

Json validity_of(const FileReport& report) {
    if (!report.error.empty()) return {{"file", report.path.filename().string()}, {"valid", false}, {"error", report.error}};
    return {
        {"file", report.path.filename().string()}, {"valid", true},        {"device", report.file.device}, {"schema_version", report.file.version},
        {"records", report.file.records.size()},   {"notes", report.notes}};
}

void print_validity(const FileReport& report, Console& console) {
    const std::string name = report.path.filename().string();
    if (!report.error.empty()) {
        console.print("invalid  {}\n         {}\n", name, report.error);
        return;
    }
    const bool old = report.file.version < schema_version;
    console.print("valid    {}: {} records{}\n", name, report.file.records.size(),
                  old ? fmt::format(", schema version {} (the next merge makes it {})", report.file.version, schema_version) : "");
    for (const auto& note : report.notes) console.print("  note   {}\n", note);
}

Exit validate(const Settings& settings, Console& console) {
    const fs::path folder = existing_folder(settings.words.front());
    Json files = Json::array();
    bool all_valid = true;
    for (const auto& path : database_files(folder)) {
        const FileReport report = examined(path, known_families());
        all_valid = all_valid && report.error.empty();
        files.push_back(validity_of(report));
        if (!settings.json) print_validity(report, console);
    }
    const bool empty = files.empty();
    if (settings.json) print(console, Json{{"folder", folder.string()}, {"valid", all_valid}, {"files", std::move(files)}});
    if (empty) console.message("hone: {} holds no database files\n", folder.string());
    if (!all_valid) return Exit::wrong_input;
    return empty ? Exit::nothing : Exit::ok;
}

std::string verified_text(const Record& record) {
    if (!record.wrong.empty()) return "wrong";
    if (!record.verified()) return "no";
    return record.verified_on.empty() ? "yes" : "on " + record.verified_on;
}

void print_records(const std::string& key, const std::vector<Record>& records, Console& console) {
    constexpr auto right = Table::Align::right;
    Table table({{"problem"}, {"purpose"}, {"step", right}, {"verified"}, {"date"}, {"hone"}, {"configuration"}});
    for (const auto& record : records)
        table.row({record.problem.key(), record.purpose.empty() ? "-" : record.purpose, duration(record.step.median), verified_text(record),
                   record.date.substr(0, 10), record.versions.hone, record.config.key()});
    console.print("{}.json: {}\n\n{}\n", key, records.empty() ? key : device_line(records.front().device), table.text());
}

Exit list(const Settings& settings, Console& console) {
    const fs::path folder = existing_folder(settings.words.front());
    Json files = Json::array();
    for (const auto& path : database_files(folder)) {
        const std::vector<Record> records = shown_records(path, known_families());
        if (!settings.json) print_records(path.stem().string(), records, console);
        Json documents = Json::array();
        for (const auto& record : records) documents.push_back(json_of(record));
        files.push_back({{"file", path.filename().string()}, {"device", path.stem().string()}, {"records", std::move(documents)}});
    }
    const bool empty = files.empty();
    if (settings.json) print(console, Json{{"folder", folder.string()}, {"files", std::move(files)}});
    if (empty) console.message("hone: {} holds no database files\n", folder.string());
    return empty ? Exit::nothing : Exit::ok;
}

Exit merge(const Settings& settings, Console& console) {
    const fs::path folder = settings.words.front();
    if (settings.words.size() < 2) throw Error("db merge", "there is nothing to merge from", "write: hone db merge DIR FROM...");
    Database news(known_families());
    for (std::size_t i = 1; i < settings.words.size(); ++i) {
        const std::string& from = settings.words[i];
        news.add(fs::is_regular_file(from) ? read_database("", from, known_families(), console)
                                           : Database::load(existing_folder(from), known_families()));
    }
    const MergeCounts counts = news.merge_into(folder);
    if (settings.json)
        print(console, Json{{"folder", folder.string()}, {"added", counts.added}, {"replaced", counts.replaced}, {"kept", counts.kept}});
    else
        console.print("{}: {} records added, {} replaced by better ones, {} kept as they were\n", folder.string(), counts.added, counts.replaced,
                      counts.kept);
    return Exit::ok;
}

std::vector<Record> all_records(const fs::path& folder) {
    std::vector<Record> records;
    for (const auto& path : database_files(folder))
        for (auto& record : shown_records(path, known_families())) records.push_back(std::move(record));
    return records;
}

bool is_model(const DeviceFingerprint& device, const std::string& model) {
    return model.empty() || device.name == model || device_key(device) == model;
}

// Says which records were taken, or would be.
void print_removed(const std::vector<Record>& removed, const Settings& settings, const fs::path& folder, Console& console) {
    if (settings.json) {
        Json records = Json::array();
        for (const auto& record : removed) records.push_back(json_of(record));
        print(console, Json{{"folder", folder.string()}, {"dry_run", settings.dry_run}, {"removed", std::move(records)}});
        return;
    }
    for (const auto& record : removed)
        console.print("{}  {}: {}{}, {} a step, {}\n", settings.dry_run ? "would remove" : "removed", device_key(record.device), record.problem.key(),
                      record.purpose.empty() ? "" : " for " + record.purpose, duration(record.step.median), record.date.substr(0, 10));
    if (!removed.empty() && !settings.dry_run)
        console.message("hone: {} records removed; the files as they were are beside them as .json.previous\n", removed.size());
}

Exit remove(const Settings& settings, Console& console) {
    const fs::path folder = existing_folder(settings.words.front());
    const std::vector<std::string> words(settings.words.begin() + 1, settings.words.end());
    if (words.empty() && settings.device.empty())
        throw Error("db remove", "it does not say which records", "name problems as 'hone show' takes them, or --device; --dry-run only says which");
    const std::vector<Record> present = all_records(folder);
    const ProblemFilter filter(words, with_families_of(present, known_families()));
    const auto chosen = [&](const Record& record) { return filter.matches(record.problem) && is_model(record.device, settings.device); };
    std::vector<Record> removed;
    if (settings.dry_run)
        std::copy_if(present.begin(), present.end(), std::back_inserter(removed), chosen);
    else
        for (Record& record : Database::remove_from(folder, known_families(), chosen))
            removed.push_back(with_todays_names(std::move(record), known_families()));
    print_removed(removed, settings, folder, console);
    if (removed.empty()) console.message("hone: {} holds no such records\n", folder.string());
    return removed.empty() ? Exit::nothing : Exit::ok;
}

Json document_of(const DeviceStats& stats) {
    const auto counts = [](const std::map<std::string, int>& all) {
        Json object = Json::object();
        for (const auto& [name, count] : all) object[name] = count;
        return object;
    };
    return {{"device", stats.device},
            {"name", stats.name},
            {"bytes", stats.bytes},
            {"records", stats.records},
            {"families", counts(stats.families)},
            {"versions", counts(stats.versions)},
            {"software", counts(stats.software)},
            {"kernels", counts(stats.kernels)},
            {"lacking", counts(stats.lacking)},
            {"oldest", stats.oldest},
            {"newest", stats.newest},
            {"other_sizes", stats.sizes},
            {"unverified", stats.unverified},
            {"disturbed", stats.disturbed},
            {"wrong", stats.wrong},
            {"unsure", stats.unsure},
            {"without_ceiling", stats.unrated},
            {"mean_part_of_ceiling", stats.nearness},
            {"mean_gain", stats.gain}};
}

std::string counted(const std::map<std::string, int>& all, const std::string& of = "") {
    std::string text;
    for (const auto& [name, count] : all)
        text += of.empty() ? fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name)
                           : fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name, of, count);
    return text;
}

// What this hone makes of the configurations.
std::string kernels_text(const std::map<std::string, int>& kernels) {
    constexpr std::array<std::pair<KernelState, const char*>, 4> words{{{KernelState::same, "still have the measured code"},
                                                                        {KernelState::other, "have other code now"},
                                                                        {KernelState::impossible, "are not in today's search spaces"},
                                                                        {KernelState::foreign, "belong to families that are not known here"}}};
    std::string text;
    for (const auto& [state, meaning] : words)
        if (const auto found = kernels.find(name_of(state)); found != kernels.end())
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, meaning);
    return text;
}

void print_stats(const DeviceStats& stats, Console& console) {
    std::vector<std::pair<std::string, std::string>> lines{
        {"records", fmt::format("{} in {}, {}", stats.records, bytes(static_cast<double>(stats.bytes)), counted(stats.families))},
        {"dates", stats.oldest.substr(0, 10) + " to " + stats.newest.substr(0, 10)},
        {"hone", counted(stats.versions)},
        {"software", counted(stats.software)}};
    if (stats.sizes > 0) lines.emplace_back("sizes", fmt::format("{} records differ from others in sizes or lengths only", stats.sizes));
    if (stats.nearness > 0)
        lines.emplace_back("ceiling", fmt::format("{} on the geometric mean, not measured for {}", percent(stats.nearness), stats.unrated));
    if (stats.gain > 0) lines.emplace_back("gain", fmt::format("{:.2f}x over the safe configurations, on the geometric mean", stats.gain));
    lines.emplace_back("doubts", fmt::format("{} not verified, {} disturbed, {} unsure (interval beyond 2 %){}", stats.unverified, stats.disturbed,
                                             stats.unsure, stats.wrong > 0 ? fmt::format("; {} marked wrong beside them", stats.wrong) : ""));
    lines.emplace_back("kernels", kernels_text(stats.kernels));
    if (!stats.lacking.empty()) lines.emplace_back("not said", counted(stats.lacking, "of "));
    console.print("{}\n{}\n", fitted(stats.title, console.out_width()), definition_list(lines, console.out_width()));
}

Exit stats(const Settings& settings, Console& console) {
    const fs::path folder = existing_folder(settings.words.front());
    Json devices = Json::array();
    for (const auto& path : database_files(folder)) {
        DeviceStats one = stats_of(read_database_file(path, known_families()).records, known_families());
        if (one.records == 0) continue;
        one.bytes = fs::file_size(path);
        if (!settings.json) print_stats(one, console);
        devices.push_back(document_of(one));
    }
    const bool empty = devices.empty();
    const JournalStats journals = journal_stats(folder);
    if (settings.json) {
        print(console, Json{{"folder", folder.string()},
                            {"devices", std::move(devices)},
                            {"journals", {{"files", journals.files}, {"previous", journals.previous}, {"bytes", journals.bytes}}}});
    } else if (journals.files + journals.previous > 0) {
        console.print("journals of {} searches and {} earlier ones, {}\n", journals.files, journals.previous,
                      bytes(static_cast<double>(journals.bytes)));
    }
    if (empty) console.message("hone: {} holds no records\n", folder.string());
    return empty ? Exit::nothing : Exit::ok;
}

PruneRules rules_of(const Settings& settings, const Database* beside) {
    PruneRules rules{.disturbed = settings.disturbed, .wrong = settings.wrong, .other_kernel = settings.other_kernel, .beside = beside};
    if (settings.older_than > 0) rules.before = utc_date(std::chrono::system_clock::now() - std::chrono::hours(24) * settings.older_than);
    return rules;
}

void print_pruned(const std::vector<Superfluous>& going, const std::vector<fs::path>& journals, const Settings& settings, Console& console) {
    for (const auto& [record, reason] : going)
        console.print(
            "{}",
            fitted(fmt::format("{}{}: {}{}\n", settings.yes ? "removed " : "would remove ", device_key(record.device),
                               short_key(record.problem, known_families()) + (record.purpose.empty() ? "" : " for " + record.purpose) + ": ", reason),
                   console.out_width()));
    for (const fs::path& file : journals)
        console.print("{}{}: the search was begun anew since\n", settings.yes ? "removed " : "would remove ", file.string());
}

// The rules are asked without the folder's lock, because compilers may take minutes; a record that
// changed meanwhile stays.
void take_out(const fs::path& folder, const std::vector<Superfluous>& going, const std::vector<fs::path>& journals) {
    std::set<std::string> texts;
    for (const auto& [record, reason] : going) texts.insert(to_json(record));
    const auto goes = [&](const Record& record) { return texts.contains(to_json(with_todays_names(record, known_families()))); };
    if (!going.empty()) Database::remove_from(folder, known_families(), goes);
    for (const fs::path& file : journals) {
        std::error_code error;
        if (!fs::remove(file, error) && error) throw Error("db prune", fmt::format("{} cannot be removed: {}", file.string(), error.message()), "");
    }
}

Exit prune(const Settings& settings, Console& console) {
    const fs::path folder = existing_folder(settings.words.front());
    std::vector<Record> present = all_records(folder);
    std::erase_if(present, [&](const Record& record) { return !is_model(record.device, settings.device); });
    std::optional<Database> beside;
    if (!settings.beside.empty()) {
        if (fs::equivalent(existing_folder(settings.beside), folder))
            throw Error("db prune", "--beside names the same folder", "name another database, e.g. tuning_db/records");
        beside = Database::load(settings.beside, known_families()).with_todays_names();
    }
    PruneRules rules = rules_of(settings, beside ? &*beside : nullptr);
    KernelTrials trials;
    if (settings.broken) trials = try_kernels(present, known_families(), console);
    rules.broken = trials.failures;
    const std::vector<Superfluous> going = superfluous(present, rules, known_families());
    const std::vector<fs::path> journals = settings.journals ? earlier_journals(folder) : std::vector<fs::path>{};
    const bool remove = settings.yes && trials.left == 0;  // who interrupts does not mean "go on"
    if (remove) take_out(folder, going, journals);
    if (settings.json) {
        Json records = Json::array();
        for (const auto& [record, reason] : going) records.push_back({{"reason", reason}, {"record", json_of(record)}});
        Json files = Json::array();
        for (const fs::path& file : journals) files.push_back(file.string());
        print(console, Json{{"folder", folder.string()},
                            {"dry_run", !remove},
                            {"records", present.size()},
                            {"pruned", std::move(records)},
                            {"journals", std::move(files)}});
    } else {
        print_pruned(going, journals, settings, console);
    }
    const std::string what = fmt::format("{} of {} records{}", going.size(), present.size(),
                                         settings.journals ? fmt::format(" and {} earlier journals", journals.size()) : "");
    if (trials.elsewhere > 0)
        console.message("hone: {} kernels are for processors of another architecture and were not compiled\n", trials.elsewhere);
    if (trials.left > 0) {
        console.message(
            "hone: interrupted: {} kernels were compiled, {} were not; {} would go so far, nothing was removed. The same command goes on\n",
            trials.tried, trials.left, what);
        return Exit::interrupted;
    }
    if (going.empty() && journals.empty()) {
        console.message("hone: {} holds nothing of that kind\n", folder.string());
    } else if (remove) {
        console.message("hone: {} removed; the files as they were are beside them as .json.previous\n", what);
    } else {
        console.message("hone: {} would go; --yes removes them\n", what);
    }
    return going.empty() && journals.empty() ? Exit::nothing : Exit::ok;
}

std::vector<Record> records_at(const std::string& place, Console& console) {
    return fs::is_regular_file(place) ? shown_database("", place, known_families(), console).records() : all_records(existing_folder(place));
}

Exit compare_with(const Settings& settings, Console& console) {
    if (settings.words.size() != 2)
        throw Error("db diff", "it compares two databases", "write: hone db diff DIR OTHER; 'hone diff' compares their times");
    const std::vector<Record> present = records_at(settings.words[0], console);
    const std::vector<Record> others = records_at(settings.words[1], console);
    const std::vector<MergePreview> previews = preview_merge(present, others);
    std::map<std::string, int> counts;
    for (const auto fate : {MergePreview::Fate::added, MergePreview::Fate::replaced, MergePreview::Fate::kept, MergePreview::Fate::identical})
        counts[name_of(fate)] = 0;
    Json list = Json::array();
    for (const MergePreview& preview : previews) {
        ++counts[name_of(preview.fate)];
        const std::string problem = short_key(preview.other.problem, known_families());
        if (settings.json)
            list.push_back({{"fate", name_of(preview.fate)},
                            {"problem", preview.other.problem.key()},
                            {"purpose", preview.other.purpose},
                            {"device", device_key(preview.other.device)},
                            {"differs", preview.differs}});
        else if (preview.fate != MergePreview::Fate::identical || settings.verbose)
            console.print("{}", fitted(fmt::format("{:9}  {}: {}{}{}\n", name_of(preview.fate), device_key(preview.other.device), problem,
                                                   preview.other.purpose.empty() ? "" : " for " + preview.other.purpose,
                                                   preview.differs.empty() ? "" : "; other " + preview.differs),
                                       console.out_width()));
    }
    const auto alone = static_cast<std::int64_t>(present.size()) -
                       std::count_if(previews.begin(), previews.end(), [](const MergePreview& preview) { return preview.present.has_value(); });
    if (settings.json)
        print(console, Json{{"folder", settings.words[0]},
                            {"other", settings.words[1]},
                            {"counts", counts},
                            {"only_in_folder", alone},
                            {"records", std::move(list)}});
    else
        console.print(
            "{}",
            fitted(fmt::format("merging {} into {}: {} added, {} replaced by better ones, {} kept as they are, {} identical; {} are in the "
                               "latter only\n",
                               settings.words[1], settings.words[0], counts["added"], counts["replaced"], counts["kept"], counts["identical"], alone),
                   console.out_width()));
    if (previews.empty()) console.message("hone: {} holds no records\n", settings.words[1]);
    return previews.empty() ? Exit::nothing : Exit::ok;
}

struct Deed {
    std::string name;
    Exit (*run)(const Settings&, Console&);
    bool takes_more = false;           // words than the folder
    std::vector<std::string> options;  // beside --json
};

const std::vector<Deed>& deeds() {
    static const std::vector<Deed> all{
        {"validate", validate, false, {}},
        {"list", list, false, {}},
        {"stats", stats, false, {}},
        {"diff", compare_with, true, {"verbose"}},
        {"merge", merge, true, {}},
        {"remove", remove, true, {"device", "dry-run"}},
        {"prune", prune, false, {"device", "beside", "older-than", "disturbed", "wrong", "other-kernel", "broken", "journals", "yes"}}};
    return all;
}

std::vector<std::string> given_options(const Settings& settings) {
    std::vector<std::string> names;
    const auto add = [&](bool given, const char* name) {
        if (given) names.emplace_back(name);
    };
    add(!settings.device.empty(), "device");
    add(settings.dry_run, "dry-run");
    add(!settings.beside.empty(), "beside");
    add(settings.older_than > 0, "older-than");
    add(settings.disturbed, "disturbed");
    add(settings.wrong, "wrong");
    add(settings.other_kernel, "other-kernel");
    add(settings.broken, "broken");
    add(settings.journals, "journals");
    add(settings.yes, "yes");
    add(settings.verbose, "verbose");
    return names;
}

void refuse_others_options(const Deed& deed, const Settings& settings) {
    for (const std::string& name : given_options(settings)) {
        if (std::find(deed.options.begin(), deed.options.end(), name) != deed.options.end()) continue;
        std::vector<std::string> owners;
        for (const Deed& other : deeds())
            if (std::find(other.options.begin(), other.options.end(), name) != other.options.end()) owners.push_back("'hone db " + other.name + "'");
        throw Error("db " + deed.name, "it takes no --" + name, fmt::format("use it with {}", fmt::join(owners, " and ")));
    }
}

Exit run_deed(Settings settings, Console& console) {
    std::vector<std::string> names;
    for (const auto& deed : deeds()) names.push_back(deed.name);
    constexpr const char* forms =
        "write: hone db validate DIR, list DIR, stats DIR, diff DIR OTHER, merge DIR FROM..., remove DIR [FAMILY] [key=value...], or prune DIR";
    if (settings.words.size() < 2) throw Error("db", "it needs an action and a folder", forms);
    const std::string name = settings.words.front();
    settings.words.erase(settings.words.begin());
    const auto deed = std::find_if(deeds().begin(), deeds().end(), [&](const Deed& one) { return one.name == name; });
    if (deed == deeds().end()) throw Error("db", fmt::format("there is no \"db {}\"", name), did_you_mean(name, names) + forms);
    if (!deed->takes_more && settings.words.size() > 1) throw Error("db " + name, "several folders are named", "name one");
    refuse_others_options(*deed, settings);
    return deed->run(settings, console);
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("ACTION DIR ...", settings->words,
                  "one of the actions above, the database, and what the action takes: folders or files to merge; the problems to remove, where lists "
                  "and ranges mean any of them");
    options.text("device", settings->device, "MODEL", "remove, prune: only records of this device model, e.g. \"NVIDIA H200\" or nvidia_h200");
    options.flag("dry-run", settings->dry_run, "remove: only list the records");
    options.flag("yes", settings->yes, "prune: delete the records; without it, only list them");
    options.number("older-than", settings->older_than, "DAYS", "prune: also records that are older than this", 1);
    options.flag("disturbed", settings->disturbed, "prune: also records whose figures cannot be right");
    options.flag("wrong", settings->wrong, "prune: also the marks of wrong results; without its mark, a record can come back with a merge");
    options.flag("other-kernel", settings->other_kernel, "prune: also records for whose configuration hone now generates another kernel");
    options.flag("broken", settings->broken,
                 "prune: also records whose kernel no longer compiles; this compiles all of them once, on all processors; after Ctrl-C the same "
                 "command continues");
    options.text("beside", settings->beside, "DIR", "prune: also records for which this other database has the same answer, e.g. tuning_db/records");
    options.flag("journals", settings->journals, "prune: also journals of searches that were started again since; no copy is kept");
    options.flag("verbose", settings->verbose, "diff: also list identical records", 'v');
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return run_deed(*settings, console); };
}

}  // namespace db

Command db_command() {
    return {
        "db",
        "check, list, count, compare, merge and thin out databases of tuned results",
        "validate DIR | list DIR | stats DIR | diff DIR OTHER | merge DIR FROM... | remove DIR [FAMILY] [key=value...] | prune DIR [options]",
        "A database is a folder with one JSON file per device model (described by tuning_db/schema/).\n\n"
        "validate reads every file as strictly as an application does. It prints each error with file, line and column; the exit code is then 2. "
        "It also notes legal records that no look-up will use (not in today's search space, an unknown family, not verified), and records whose "
        "figures cannot be right: disturbed ones, and older ones with an implausible gain over the safe configuration.\n\n"
        "list prints every record of every file.\n\n"
        "stats prints for each device the number of records per family, their sizes, ages, versions of hone, driver and compiler, parts of the "
        "ceilings, and how many are in doubt. It also counts configurations whose kernel hone still generates as it was measured, lists the data "
        "that records lack, and gives the size of the journals.\n\n"
        "diff shows what a merge of the database or file OTHER into DIR would do: the records that it would add, replace and keep, and their "
        "differences. 'hone diff' compares their times.\n\n"
        "merge copies the records of other folders or files into DIR, and creates it if necessary. Of two records for the same problem and device "
        "model, the better one stays: verified before unverified, undisturbed before disturbed, then the newer version of hone, then the faster if "
        "the difference exceeds the noise, then the older. Files of a newer schema are refused, and nothing changes. Several processes may merge "
        "at the same time.\n\n"
        "remove deletes the records of a family, of problems with these values, or of a device model from DIR, and prints them. The old files stay "
        "as .json.previous. Exit code 1 if there are no such records.\n\n"
        "prune deletes records that no look-up will use: those that are not verified, and those whose configuration is not in today's search "
        "space. Its options add records that are old, disturbed, marked wrong, of another kernel, broken, or also in another database. Without "
        "--yes it only lists them with the reasons. It keeps the old files, like remove. It never deletes records of unknown families.",
        {{"db validate tuning_db/records", "before results are committed"},
         {"db list DIR --json", "all records, for a script"},
         {"db stats DIR", "number, age and certainty of the records"},
         {"db merge tuning_db/records ~/.local/share/hone/db", "share your results"},
         {"db diff tuning_db/records ~/.local/share/hone/db", "what sharing your results would change"},
         {"db prune DIR --older-than 365 --other-kernel", "list records that --yes would delete"},
         {"db remove DIR dg_volume order=3,4 --device nvidia_h200 --dry-run", "list records that it would delete"}},
        db::declare};
}

}  // namespace hone::tools
