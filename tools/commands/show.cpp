#include <algorithm>
#include <map>
#include <set>

#include "generator/families/built_in_families.hpp"
#include "tools/command.hpp"
#include "tools/database_folder.hpp"
#include "tools/efficiency_tables.hpp"
#include "tools/format.hpp"
#include "tools/gnuplot.hpp"
#include "tools/problem_words.hpp"
#include "tools/record_table.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/file_store.hpp"
#include "tuning_db/json.hpp"

namespace hone::tools {
namespace show {

constexpr std::int64_t largest_journal = std::int64_t{1} << 30;

struct Settings {
    std::vector<std::string> filter;
    std::string database;
    std::string device_file;
    std::string plot;
    bool bars = false;
    bool pareto = false;
    bool json = false;
};

// The first records about their subjects, of known families and of others.
std::vector<Record> all_records(const Settings& settings, const Families& families, Console& console) {
    const Database database = read_database(settings.database, settings.device_file, families, console);
    std::vector<Record> all = database.first_records();
    std::set<std::string> subjects;
    for (const auto& record : database.foreign_records())
        if (subjects.insert(subject(record)).second) all.push_back(record);
    return all;
}

// What the filter leaves, in the order of the files, by device model.
std::map<std::string, std::vector<Record>> chosen(const Settings& settings, const Families& families, Console& console) {
    const std::vector<Record> records = all_records(settings, families, console);
    const ProblemFilter filter(settings.filter, with_families_of(records, families));
    std::map<std::string, std::vector<Record>> by_device;
    for (const auto& record : records)
        if (filter.matches(record.problem)) by_device[device_key(record.device)].push_back(record);
    for (auto& [device, of_device] : by_device) std::sort(of_device.begin(), of_device.end(), stands_before);
    return by_device;
}

std::vector<Record> all_of(const std::map<std::string, std::vector<Record>>& by_device) {
    std::vector<Record> all;
    for (const auto& [device, records] : by_device) all.insert(all.end(), records.begin(), records.end());
    return all;
}

// Families of applications, whose records are shown as they stand.
std::set<std::string> unknown_families(const std::map<std::string, std::vector<Record>>& by_device, const Families& families) {
    std::set<std::string> names;
    for (const auto& record : all_of(by_device))
        if (!knows(families, record.problem.family())) names.insert(record.problem.family());
    return names;
}

std::string place(const Settings& settings) {
    return database_places(settings.database, settings.device_file);
}

Json document_of(const std::map<std::string, std::vector<Record>>& by_device, const Settings& settings) {
    Json devices = Json::array();
    for (const auto& [device, records] : by_device) {
        Json rows = Json::array();
        for (const auto& record : records) rows.push_back(json_of(record));
        devices.push_back({{"key", device}, {"name", records.front().device.name}, {"records", std::move(rows)}});
    }
    return {{"database", place(settings)}, {"devices", std::move(devices)}, {"unknown_families", unknown_families(by_device, built_in_families())}};
}

void draw_plot(const std::map<std::string, std::vector<Record>>& by_device, const Settings& settings, Console& console) {
    if (by_device.size() != 1)
        throw Error("--plot", fmt::format("there are results of {} devices", by_device.size()), "choose one with --device-file");
    const auto& records = by_device.begin()->second;
    draw(plot_script(records, records.front().device.name, settings.plot));
    console.message("hone: drew {}\n", settings.plot);
}

// The journals of the folder that are of these problems, and their fronts of time against energy.
void print_fronts(const Settings& settings, const Families& families, Console& console) {
    const ProblemFilter filter(settings.filter, families);
    std::error_code error;
    std::set<std::filesystem::path> files;
    for (std::filesystem::directory_iterator file(database_folder(settings.database) / "journals", error), end; !error && file != end; ++file)
        if (file->path().extension() == ".jsonl") files.insert(file->path());
    bool any = false;
    for (const auto& file : files) {
        const JournalText journal = parse_journal(read_file(file, largest_journal), file.string());
        const std::string family = journal.run.problem.substr(0, journal.run.problem.find(' '));
        if (!knows(families, family)) continue;
        const Problem problem = families.parse_problem(journal.run.problem);
        const std::string table = filter.matches(problem) ? pareto_table(metered_points(journal.entries)) : "";
        if (table.empty()) continue;
        console.print("{}, {}: time against energy\n\n{}\n", short_key(problem, families), journal.run.device.name, table);
        any = true;
    }
    if (!any) console.message("hone: no journal has configurations with their energy; 'hone tune --objective energy' makes one\n");
}

Exit show(const Settings& settings, Console& console) {
    const auto by_device = chosen(settings, built_in_families(), console);
    if (settings.json) {
        print(console, document_of(by_device, settings));
    } else {
        for (const auto& [device, records] : by_device) {
            console.print("{}\n\n{}\n", device_line(records.front().device), record_table(records));
            if (settings.bars) console.print("{}\n", record_bars(records, console.columns));
        }
        if (const std::string table = greenup_table(all_of(by_device)); !table.empty()) console.print("time, power and energy\n\n{}\n", table);
        if (settings.pareto) print_fronts(settings, built_in_families(), console);
        for (const auto& family : unknown_families(by_device, built_in_families()))
            console.print("{}: a family that this program does not know, of an application's own; its results are shown as they stand\n", family);
        if (!by_device.empty()) console.print("database: {}\n", place(settings));
    }
    if (by_device.empty()) {
        console.message("hone: no results{} in {}; 'hone tune' makes some\n", settings.filter.empty() ? "" : " of that kind", place(settings));
        return Exit::nothing;
    }
    if (!settings.plot.empty()) draw_plot(by_device, settings, console);
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("[FAMILY] [key=value...]", settings->filter, "show these problems only; lists and ranges mean any of them");
    declare_database(options, settings->database);
    options.text("device-file", settings->device_file, "FILE", "show this one file instead, e.g. tuning_db/records/nvidia_h200.json");
    options.flag("pareto", settings->pareto, "also the configurations that nobody beats in both time and energy, from the journals of the folder");
    options.flag("bars", settings->bars, "draw a bar for each problem: its part of the measured ceiling");
    options.text("plot", settings->plot, "FILE.png", "draw a picture with gnuplot: GB/s of winner and safe configuration");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return show(*settings, console); };
}

}  // namespace show

Command show_command() {
    return {
        "show",
        "the tuned results of a database as a table",
        "[FAMILY] [key=value...] [options]",
        "Prints one table per device: the winner of each problem, the median time of a time step with its 95 % confidence, updates per second, GB/s "
        "and GFLOP/s from the counted compulsory bytes and operations, the part of the device's measured ceiling (and which one binds: memory or "
        "arithmetic), and the gain over the untuned safe configuration. Where energy was metered: joules and watts, and over all devices speed-up, "
        "powerup "
        "and greenup against the processor alone. Results of families that an application brought are shown as well. Exit code 1 when there is "
        "nothing to show.",
        {{"show", "everything in the default database"},
         {"show dg_volume order=3..5 precision=f32 --db DIR --bars", "some problems, with a bar for each"},
         {"show dg_volume --db DIR --pareto", "what less time costs in energy, and the other way round"},
         {"show --db DIR --json", "the records as they are kept, with their rates, for a script"}},
        show::declare};
}

}  // namespace hone::tools
