#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tools/charts/gnuplot.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/efficiency_tables.hpp"
#include "tools/records/record_list.hpp"
#include "tools/records/record_table.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {
namespace show {

struct Settings {
    std::vector<std::string> filter;
    std::string database;
    std::string device_file;
    std::string plot;
    std::string columns;
    std::string sort;
    std::string below;
    std::int64_t top = 0;
    bool reverse = false;
    bool verbose = false;
    bool bars = false;
    bool pareto = false;
    bool csv = false;
    bool json = false;
};

// The first records about their subjects, of known families and of others.
std::vector<Record> all_records(const Settings& settings, const Families& families, Console& console) {
    const Database database = shown_database(settings.database, settings.device_file, families, console);
    std::vector<Record> all = database.first_records();
    std::set<std::string> subjects;
    for (const auto& record : database.foreign_records())
        if (subjects.insert(subject(record)).second) all.push_back(record);
    return all;
}

// What `--sort` goes by: larger values first. What was not measured comes last, whichever way
// round.
struct Order {
    std::string name;
    double (*value)(const Record&);
};

// Dates of one format, as their digits: the older, the larger.
double age(const Record& record) {
    double digits = 0;
    for (const char c : record.date)
        if (c >= '0' && c <= '9') digits = 10 * digits + (c - '0');
    return 1e15 - digits;
}

const std::array<Order, 4>& orders() {
    static const std::array<Order, 4> all{{{"gain", gain},
                                           {"ceiling", [](const Record& record) { return record.ceiling_fraction; }},
                                           {"rate", [](const Record& record) { return record.gigaupdates_per_second(); }},
                                           {"age", age}}};
    return all;
}

const Order& find_order(const std::string& name) {
    std::vector<std::string> names;
    for (const Order& order : orders()) names.push_back(order.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw Error("--sort", fmt::format("there is no order \"{}\"", name),
                    did_you_mean(name, names) + fmt::format("use one of {}", fmt::join(names, ", ")));
    return orders().at(static_cast<std::size_t>(found - names.begin()));
}

// In the order of the files, or of `--sort`; the first `--top` of them.
void arrange(std::vector<Record>& records, const Settings& settings) {
    std::sort(records.begin(), records.end(), stands_before);
    if (!settings.sort.empty()) {
        const Order& order = find_order(settings.sort);
        const double sign = settings.reverse ? -1 : 1;
        const auto key = [&](const Record& record) {
            const double value = order.value(record);
            return value > 0 ? sign * value : -std::numeric_limits<double>::infinity();
        };
        std::stable_sort(records.begin(), records.end(), [&](const Record& a, const Record& b) { return key(a) > key(b); });
    } else if (settings.reverse) {
        std::reverse(records.begin(), records.end());
    }
    if (settings.top > 0 && std::ssize(records) > settings.top) records.erase(records.begin() + settings.top, records.end());
}

// What the filter leaves, by device model.
std::map<std::string, std::vector<Record>> chosen(const Settings& settings, const Families& families, Console& console) {
    if (!settings.sort.empty()) find_order(settings.sort);
    const double below = settings.below.empty() ? std::numeric_limits<double>::infinity() : parse_percent("--below", settings.below);
    const std::vector<Record> records = all_records(settings, families, console);
    const ProblemFilter filter(settings.filter, with_families_of(records, families));
    std::map<std::string, std::vector<Record>> by_device;
    int unknown = 0;
    for (const auto& record : records) {
        if (!filter.matches(record.problem)) continue;
        const bool measured = record.ceiling_fraction > 0;
        if (std::isfinite(below) && !measured) ++unknown;
        if (std::isinf(below) || (measured && record.ceiling_fraction < below)) by_device[device_key(record.device)].push_back(record);
    }
    if (unknown > 0) console.message("hone: {} results are left out whose part of the ceiling was not measured\n", unknown);
    for (auto& [device, of_device] : by_device) arrange(of_device, settings);
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
        if (!families.has(record.problem.family())) names.insert(record.problem.family());
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
    return {{"database", place(settings)}, {"devices", std::move(devices)}, {"unknown_families", unknown_families(by_device, known_families())}};
}

void draw_plot(const std::map<std::string, std::vector<Record>>& by_device, const Settings& settings, Console& console) {
    if (by_device.size() != 1)
        throw Error("--plot", fmt::format("there are results of {} devices", by_device.size()), "choose one with --device-file");
    const auto& records = by_device.begin()->second;
    draw(plot_script(records, records.front().device.name, settings.plot), settings.plot);
    console.message("hone: drew {}\n", settings.plot);
}

// The journals of the folder that are of these problems, and their fronts of time against energy.
void print_fronts(const Settings& settings, const Families& families, Console& console) {
    const ProblemFilter filter(settings.filter, families);
    bool any = false;
    for (const auto& file : journal_files(database_folder(settings.database))) {
        const std::optional<JournalText> journal = journal_if_readable(file, console);
        if (!journal) continue;
        const std::string family = journal->run.problem.substr(0, journal->run.problem.find(' '));
        if (!families.has(family)) continue;
        const Problem problem = families.parse_problem(journal->run.problem);
        const std::string table = filter.matches(problem) ? pareto_table(metered_points(journal->entries)) : "";
        if (table.empty()) continue;
        console.print("{}, {}: time against energy\n\n{}\n", short_key(problem, families), journal->run.device.name, table);
        any = true;
    }
    if (!any) console.message("hone: no journal has configurations with their energy; 'hone tune --objective energy' makes one\n");
}

void print_lists(const std::map<std::string, std::vector<Record>>& by_device, const Settings& settings, Console& console) {
    RecordListing listing;
    if (!settings.columns.empty()) listing.columns = find_columns(settings.columns);
    const int width = console.out_width();
    listing.width = width;
    listing.bars = settings.bars || console.out_is_terminal;
    listing.verbose = settings.verbose;
    listing.divisible = settings.sort.empty();
    for (const auto& [device, records] : by_device) {
        console.styled(Style::strong, fitted(device_line(records.front().device), width));
        console.print("\n\n");
        list_records(records, listing, console);
    }
    if (const std::string table = greenup_table(all_of(by_device)); !table.empty())
        console.print("time, power and energy\n\n{}\n", fitted(table, width));
    if (settings.pareto) print_fronts(settings, known_families(), console);
    for (const auto& family : unknown_families(by_device, known_families()))
        console.print(
            "{}",
            fitted(family + ": a family that this program does not know, of an application's own; its results are shown as they stand\n", width));
    if (!by_device.empty()) console.print("{}", fitted(fmt::format("{} results; database: {}\n", all_of(by_device).size(), place(settings)), width));
}

void refuse_contradictions(const Settings& settings) {
    if (settings.csv && settings.json) throw Error("show", "--csv and --json are given", "choose one");
    if (!settings.columns.empty() && (settings.csv || settings.json))
        throw Error("show", "--columns chooses among those of the table", "leave it out: --csv and --json hold everything");
}

Exit show(const Settings& settings, Console& console) {
    refuse_contradictions(settings);
    if (!settings.columns.empty()) find_columns(settings.columns);
    const auto by_device = chosen(settings, known_families(), console);
    if (settings.json) {
        print(console, document_of(by_device, settings));
    } else if (settings.csv) {
        console.print("{}", records_csv(all_of(by_device)));
    } else {
        print_lists(by_device, settings, console);
    }
    if (by_device.empty()) {
        const bool narrowed = !settings.filter.empty() || !settings.below.empty();
        console.message("hone: no results{} in {}; 'hone tune' makes some\n", narrowed ? " of that kind" : "", place(settings));
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
    std::string names;
    for (const RecordColumn& column : record_columns()) names += (names.empty() ? "" : ", ") + column.name;
    options.flag("verbose", settings->verbose, "below each problem its configuration, energy, doubts, and its search", 'v');
    options.text("columns", settings->columns, "NAME,...", "these columns instead of those that fit: " + names);
    options.text("sort", settings->sort, "ORDER", "the highest first: gain, ceiling or rate; or age, the oldest first");
    options.flag("reverse", settings->reverse, "reverse the order");
    options.number("top", settings->top, "N", "only the first N of each device", 1);
    options.text("below", settings->below, "PERCENT", "only results below this part of the measured ceiling, e.g. 80%");
    options.flag("bars", settings->bars, "show the part of the ceiling as bars, even if the output is no terminal");
    options.text("plot", settings->plot, "FILE.png", "draw a picture with gnuplot: GB/s of winner and safe configuration");
    options.flag("csv", settings->csv, "print one line per record, all devices together, plain numbers in base units");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return show(*settings, console); };
}

}  // namespace show

Command show_command() {
    return {
        "show",
        "the tuned results of a database as a table",
        "[FAMILY] [key=value...] [options]",
        "Prints the winners of each device, grouped by family. Parameters shared by a group are printed once above it. Each line has the other "
        "parameters, the median time of a step with its 95 % confidence interval, the part of the device's measured ceiling (and which one limits: "
        "memory or arithmetic), and the gain over the untuned safe configuration. If the terminal is wide enough, it also has updates per second, "
        "GB/s and GFLOP/s (from the counted compulsory bytes and operations) and energy. Remarks warn of lines that you should not trust blindly: "
        "disturbed, unsure (an interval beyond 2 %), for another purpose than time. NO_COLOR turns colours off.\n\n"
        "If energy was metered, it also prints speed-up, powerup and greenup over the processor alone, for all devices. It shows results of an "
        "application's own families, too. Exit code 1 if there is nothing to show.",
        {{"show", "everything in the default database"},
         {"show dg_volume order=3..5 precision=f32 --db DIR -v", "some problems, with their configurations"},
         {"show --below 80% --sort ceiling --reverse --top 10", "the ten results that are farthest from their ceilings"},
         {"show --columns step,gain,date,version --sort age", "the oldest results"},
         {"show dg_volume --db DIR --pareto", "the trade-off between time and energy"},
         {"show --db DIR --csv > results.csv", "for a spreadsheet"},
         {"show --db DIR --json", "the stored records with their rates, for a script"}},
        show::declare};
}

}  // namespace hone::tools
