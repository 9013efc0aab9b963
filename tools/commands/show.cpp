#include <algorithm>
#include <map>

#include "tools/command.hpp"
#include "tools/database_folder.hpp"
#include "tools/format.hpp"
#include "tools/gnuplot.hpp"
#include "tools/problem_words.hpp"
#include "tools/record_table.hpp"

namespace hone::tools {
namespace {

struct Settings {
    std::vector<std::string> filter;
    std::string database;
    std::string device_file;
    std::string plot;
    bool bars = false;
    bool json = false;
};

// What the filter leaves, in the order of the files, by device model.
std::map<std::string, std::vector<Record>> chosen(const Settings& settings, const Families& families) {
    const ProblemFilter filter(settings.filter, families);
    std::map<std::string, std::vector<Record>> by_device;
    const Database database = read_database(settings.database, settings.device_file, families);
    for (const auto& record : database.records())
        if (filter.matches(record.problem)) by_device[device_key(record.device)].push_back(record);
    for (auto& [device, records] : by_device) std::sort(records.begin(), records.end(), stands_before);
    return by_device;
}

std::string place(const Settings& settings) {
    return settings.device_file.empty() ? database_folder(settings.database).string() : settings.device_file;
}

Json document_of(const std::map<std::string, std::vector<Record>>& by_device, const Settings& settings) {
    Json devices = Json::array();
    for (const auto& [device, records] : by_device) {
        Json rows = Json::array();
        for (const auto& record : records) rows.push_back(json_of(record));
        devices.push_back({{"key", device}, {"name", records.front().device.name}, {"records", std::move(rows)}});
    }
    return {{"database", place(settings)}, {"devices", std::move(devices)}};
}

void draw_plot(const std::map<std::string, std::vector<Record>>& by_device, const Settings& settings, Console& console) {
    if (by_device.size() != 1)
        throw Error("--plot", fmt::format("there are results of {} devices", by_device.size()), "choose one with --device-file");
    const auto& records = by_device.begin()->second;
    draw(plot_script(records, records.front().device.name, settings.plot));
    console.message("hone: drew {}\n", settings.plot);
}

Exit show(const Settings& settings, Console& console) {
    const auto by_device = chosen(settings, built_in_families());
    if (settings.json) {
        print(console, document_of(by_device, settings));
    } else {
        for (const auto& [device, records] : by_device) {
            console.print("{}\n\n{}\n", device_line(records.front().device), record_table(records));
            if (settings.bars) console.print("{}\n", record_bars(records, console.columns));
        }
        if (!by_device.empty()) console.print("database: {}\n", place(settings));
    }
    if (by_device.empty()) {
        console.message("hone: {} holds no results{}; 'hone tune' makes some\n", place(settings), settings.filter.empty() ? "" : " of that kind");
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
    options.flag("bars", settings->bars, "draw a bar for each problem: its part of the measured ceiling");
    options.text("plot", settings->plot, "FILE.png", "draw a picture with gnuplot: GB/s of winner and safe configuration");
    options.flag("json", settings->json, "print one JSON document");
    return [settings](Console& console) { return show(*settings, console); };
}

}  // namespace

Command show_command() {
    return {
        "show",
        "the tuned results of a database as a table",
        "[FAMILY] [key=value...] [options]",
        "Prints one table per device: the winner of each problem, the median time of a time step with its 95 % confidence, updates per second, GB/s "
        "and GFLOP/s from the counted compulsory bytes and operations, the part of the device's measured ceiling (and which one binds: memory or "
        "arithmetic), and the gain over the untuned safe configuration. Exit code 1 when there is nothing to show.",
        {{"show", "everything in the default database"},
         {"show dg_volume order=3..5 precision=f32 --db DIR --bars", "some problems, with a bar for each"},
         {"show --db DIR --json", "the records as they are kept, with their rates, for a script"}},
        declare};
}

}  // namespace hone::tools
