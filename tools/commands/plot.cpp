#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "foundation/file_store.hpp"
#include "tools/charts/chart_output.hpp"
#include "tools/charts/result_charts.hpp"
#include "tools/charts/scaling_charts.hpp"
#include "tools/console/command.hpp"
#include "tools/console/json.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/database_folder.hpp"
#include "tuning_db/places.hpp"

namespace hone::tools {
namespace plot {

namespace fs = std::filesystem;

struct Settings {
    std::vector<std::string> words;
    std::string over;
    std::string as;
    std::vector<std::string> journals;
    std::string table;
    std::string output;
    std::string database;
    std::string device_file;
    bool weak = false;
    bool text = false;
    bool json = false;
};

// Of all devices, for charts that compare them; also for other purposes, and shared ones.
std::vector<Record> all_records(const Settings& settings, Console& console) {
    const Database database = shown_database(settings.database, settings.device_file, known_families(), console);
    std::vector<Record> all = database.first_records();
    const ProblemFilter filter(settings.words, with_families_of(all, known_families()));
    std::erase_if(all, [&](const Record& record) {
        const bool device = settings.as.empty() || record.device.name == settings.as || device_key(record.device) == settings.as;
        return !device || !filter.matches(record.problem);
    });
    if (all.empty()) throw NothingError("plot", "there are no such results", "'hone show' lists what there is");
    return all;
}

// Of one device, which a chart is about.
std::vector<Record> records_of(const Settings& settings, Console& console) {
    std::vector<Record> records = all_records(settings, console);
    std::erase_if(records, [](const Record& record) { return record.hybrid || !record.purpose.empty(); });
    std::set<std::string> devices;
    for (const Record& record : records) devices.insert(device_key(record.device));
    if (devices.size() > 1) throw Error("plot", fmt::format("there are results of {}", fmt::join(devices, ", ")), "choose one with --as MODEL");
    if (records.empty()) throw NothingError("plot", "there are no such results", "'hone show' lists what there is");
    return records;
}

std::vector<JournalText> journals_of(const Settings& settings, Console& console) {
    std::vector<JournalText> journals;
    for (const std::string& file : settings.journals) journals.push_back(read_journal(file));
    if (!journals.empty()) return journals;
    const fs::path folder = database_folder(settings.database);
    const ProblemFilter filter(settings.words, known_families());
    for (const fs::path& file : journal_files(folder)) {
        std::optional<JournalText> journal = journal_if_readable(file, console);
        if (!journal) continue;
        const DeviceFingerprint& device = journal->run.device;
        if (!settings.as.empty() && device.name != settings.as && device_key(device) != settings.as) continue;
        try {
            const bool wanted = settings.words.empty() || filter.matches(known_families().parse_problem(journal->run.problem));
            if (wanted) journals.push_back(std::move(*journal));
        } catch (const Error&) {
            continue;  // of a family that is not known here
        }
    }
    if (journals.empty())
        throw NothingError("plot", "there are no such journals in " + (folder / "journals").string(),
                           "'hone tune' writes one for every search; --journal FILE names another");
    return journals;
}

SvgChart of_roofline(const Settings& settings, Console& console) {
    return roofline_chart(records_of(settings, console));
}

SvgChart of_rate(const Settings& settings, Console& console) {
    return rate_chart(records_of(settings, console), settings.over.empty() ? "order" : settings.over);
}

SvgChart of_tunable(const Settings& settings, Console& console) {
    if (settings.over.empty()) throw Error("plot tunable", "no tunable is given", "write --over TUNABLE, e.g. --over block_x");
    const std::vector<JournalText> journals = journals_of(settings, console);
    if (journals.size() > 1)
        throw Error("plot tunable", fmt::format("these arguments match {} journals", journals.size()), "add values, or --journal FILE");
    return tunable_chart(journals.front(), settings.over);
}

SvgChart of_convergence(const Settings& settings, Console& console) {
    return convergence_chart(journals_of(settings, console));
}

SvgChart of_failures(const Settings& settings, Console& console) {
    return failures_chart(journals_of(settings, console));
}

// Of searches where they are named or lie beside the results, else of the results.
SvgChart of_energy(const Settings& settings, Console& console) {
    if (!settings.journals.empty()) return energy_chart(journals_of(settings, console));
    return energy_chart(all_records(settings, console));
}

SvgChart of_greenup(const Settings& settings, Console& console) {
    if (settings.over == "untuned") return greenup_over_untuned_chart(all_records(settings, console));
    if (!settings.over.empty() && settings.over != "processor")
        throw Error("--over", fmt::format("greenup over \"{}\" is not known", settings.over), "use processor or untuned");
    SvgChart chart = greenup_chart(all_records(settings, console));
    const bool metered = std::any_of(chart.series.begin(), chart.series.end(), [](const auto& series) { return series.name.starts_with("greenup"); });
    if (!metered)
        console.message(
            "hone: speed-ups only: no result of the processor has its energy, which the system shows on real machines ('hone doctor'); --over "
            "untuned compares with the untuned kernel on the same device\n");
    return chart;
}

constexpr std::int64_t largest_table = std::int64_t{1} << 26;

// What a command printed as JSON, or a table of such results.
SvgChart of_either(const std::string& file, const std::string& command, SvgChart (*of_json)(const Json&), SvgChart (*of_table)(const CsvTable&)) {
    const std::string text = read_file(file, largest_table);
    if (text.find_first_not_of(" \t\r\n") != std::string::npos && text[text.find_first_not_of(" \t\r\n")] == '{') {
        const Json document = Json::parse(text, nullptr, false);
        if (document.is_discarded()) throw Error(file, "it is not JSON", fmt::format("give what '{}' printed", command));
        return of_json(document);
    }
    return of_table(read_csv(text, file, "give the whole table"));
}

SvgChart of_share(const Settings& settings, Console& /*console*/) {
    if (settings.table.empty())
        throw Error("plot share", "no run is named", "write --table FILE with what 'hone balance --json' printed, or with a table of such runs");
    return of_either(settings.table, "hone balance --json", share_chart, share_chart);
}

SvgChart of_drift(const Settings& settings, Console& /*console*/) {
    if (settings.table.empty()) throw Error("plot drift", "no results are named", "write --table FILE with what 'hone verify --json' printed");
    return of_either(settings.table, "hone verify --json", drift_chart, drift_chart);
}

SvgChart of_scaling(const Settings& settings, Console& console) {
    const Scaling scaling = settings.weak ? Scaling::weak : Scaling::strong;
    if (settings.table.empty()) return scaling_chart(all_records(settings, console), scaling);
    return scaling_chart(read_csv(read_file(settings.table, largest_table), settings.table, "give the whole table"), scaling);
}

struct Kind {
    std::string name;
    std::string help;
    SvgChart (*chart)(const Settings&, Console&);
};

const std::array<Kind, 10>& kinds() {
    static const std::array<Kind, 10> all{
        {{"roofline", "GFLOP/s over operations per byte, below the measured ceilings", of_roofline},
         {"rate", "updates per second over a parameter of the problems, a line for each choice of the others", of_rate},
         {"tunable", "the times of all candidates of a search over the values of one tunable", of_tunable},
         {"convergence", "the best so far over the candidates of each search", of_convergence},
         {"failures", "how many candidates of each search were measured, and how many failed by which reason", of_failures},
         {"energy", "joules over seconds: of all candidates of searches (--journal), else of the results", of_energy},
         {"greenup", "speed-up and greenup over the processor alone, or by --over untuned over the safe configuration on the same device",
          of_greenup},
         {"share", "the share of a step between two devices over the periods of a run (--table)", of_share},
         {"drift", "times measured again over the recorded ones, from what 'hone verify --json' printed (--table)", of_drift},
         {"scaling", "speed-up over the threads or devices, strong or --weak, of results or of a program's runs (--table)", of_scaling}}};
    return all;
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const Kind& kind : kinds()) names.push_back(kind.name);
    return names;
}

Json document_of(const SvgChart& chart) {
    Json list = Json::array();
    for (const auto& series : chart.series) {
        Json points = Json::array();
        for (const auto& point : series.points) points.push_back({{"x", point.x}, {"y", point.y}, {"note", point.note}});
        list.push_back({{"name", series.name}, {"points", std::move(points)}});
    }
    Json document{{"title", chart.title}, {"x", chart.x_label}, {"y", chart.y_label}, {"series", std::move(list)}};
    if (!chart.x_names.empty()) document["x_names"] = chart.x_names;
    return document;
}

Exit plot(Settings settings, Console& console) {
    const std::vector<std::string> names = kind_names();
    if (settings.words.empty()) throw Error("plot", "no kind is named", fmt::format("use one of {}", fmt::join(names, ", ")));
    const std::string name = settings.words.front();
    settings.words.erase(settings.words.begin());
    const auto kind = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& one) { return one.name == name; });
    if (kind == kinds().end())
        throw Error("plot", fmt::format("there is no kind \"{}\"", name),
                    did_you_mean(name, names) + fmt::format("use one of {}", fmt::join(names, ", ")));
    const SvgChart chart = kind->chart(settings, console);
    if (settings.json) {
        print(console, document_of(chart));
        return Exit::ok;
    }
    require_points(chart);
    if (settings.output.empty()) {
        // A terminal cannot show SVG.
        console.print("{}", settings.text || console.out_is_terminal ? chart_text(chart, console.columns) : svg(chart));
    } else {
        write_chart(chart, settings.output);
        console.message("hone: drew {}\n", settings.output);
    }
    return Exit::ok;
}

void declare_common(Options& options, Settings& settings) {
    options.text("output", settings.output, "FILE",
                 "draw into this file, .svg, .png (by gnuplot) or .txt; default standard output, SVG or, on a terminal, text");
    options.flag("text", settings.text, "draw as text, even if standard output is no terminal");
    options.text("as", settings.as, "MODEL", "the device model, if there are results for several");
    declare_database(options, settings.database);
    options.text("device-file", settings.device_file, "FILE", "use only the results in this file");
    options.flag("json", settings.json, "print the points as one JSON document");
}

Action declare_roofline(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("[FAMILY] [key=value...]", settings->words, "which problems; lists and ranges mean any of them");
    declare_common(options, *settings);
    return [settings](Console& console) {
        settings->words.insert(settings->words.begin(), "roofline");
        return plot(*settings, console);
    };
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("KIND [FAMILY] [key=value...]", settings->words,
                  fmt::format("{}; then which problems; lists and ranges mean any of them", fmt::join(kind_names(), ", ")));
    options.text("over", settings->over, "NAME",
                 "rate: the problems' parameter along the x axis, default order; tunable: the tunable; greenup: processor (default) or untuned");
    options.list("journal", settings->journals, "FILE",
                 "tunable, convergence, failures, energy: this journal, or measurements of another tuner, instead of the journals in the folder of "
                 "results");
    options.text("table", settings->table, "FILE",
                 "share, drift: output of 'hone balance --json' or 'hone verify --json'; share, drift, scaling: comma-separated values, see above");
    options.flag("weak", settings->weak, "scaling: the efficiency per unit if the work grows with the units");
    declare_common(options, *settings);
    return [settings](Console& console) { return plot(*settings, console); };
}

}  // namespace plot

Command plot_command() {
    std::string kinds_text;
    std::string usage;
    for (const plot::Kind& kind : plot::kinds()) {
        kinds_text += fmt::format("{}: {}.\n", kind.name, kind.help);
        usage += (usage.empty() ? "" : " | ") + kind.name;
    }
    return {"plot",
            "charts of results and searches as SVG, PNG or text",
            usage + " [FAMILY] [key=value...] [options]",
            "Draws an SVG file, which every browser shows; hover over a point to see which result it is.\n\n" + kinds_text +
                "\n"
                "A table for scaling has the columns units (or ranks, devices, threads) and seconds, and optionally run, which separates lines. "
                "One for share has run, part and share, and optionally periods. One for drift has problem, seconds_before and ratio.",
            {{"plot roofline --as nvidia_h200 --output roofline.svg",
              "how close all results are to the device's limits; 'hone roofline' is the "
              "same"},
             {"plot rate dg_volume order=3 --over elements --db DIR --output rate.svg", "speed over a parameter"},
             {"plot tunable --over block_y --journal ~/.local/share/hone/db/journals/nvidia_h200-0123456789abcdef.jsonl",
              "the effect of one "
              "tunable"},
             {"plot convergence --journal ~/.local/share/hone/db/journals/nvidia_h200-0123456789abcdef.jsonl --json", "for another program"},
             {"plot failures --db DIR --text", "the outcomes of the candidates of all searches"},
             {"plot greenup --text", "the gain of GPU and processor over the processor alone"},
             {"plot energy --text", "joules over seconds of the results"}},
            plot::declare};
}

Command roofline_command() {
    return {"roofline",
            "how close results are to the device's limits, as a chart",
            "[FAMILY] [key=value...] [options]",
            "Draws GFLOP/s over operations per byte of compulsory traffic, a point for each result, below the measured ceilings: memory, and "
            "arithmetic of each precision. The same as 'hone plot roofline'.",
            {{"roofline --as nvidia_h200 --output roofline.svg", "a picture for a browser"},
             {"roofline gauss_seidel_27 --as nvidia_h200 --text", "on the terminal"}},
            plot::declare_roofline};
}

}  // namespace hone::tools
