#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "generator/families/built_in_families.hpp"
#include "tools/command.hpp"
#include "tools/database_folder.hpp"
#include "tools/json.hpp"
#include "tools/problem_words.hpp"
#include "tools/result_charts.hpp"
#include "tuning_db/file_store.hpp"
#include "tuning_db/places.hpp"

namespace hone::tools {
namespace plot {

namespace fs = std::filesystem;

struct Settings {
    std::vector<std::string> words;
    std::string over;
    std::string as;
    std::string journal;
    std::string output;
    std::string database;
    std::string device_file;
    bool json = false;
};

// Of one device, which a chart is about.
std::vector<Record> records_of(const Settings& settings, Console& console) {
    const Database database = read_database(settings.database, settings.device_file, built_in_families(), console);
    std::vector<Record> all = database.first_records();
    const ProblemFilter filter(settings.words, with_families_of(all, built_in_families()));
    std::vector<Record> records;
    std::set<std::string> devices;
    for (const Record& record : all) {
        const bool device = settings.as.empty() || record.device.name == settings.as || device_key(record.device) == settings.as;
        if (record.hybrid || !record.purpose.empty() || !device || !filter.matches(record.problem)) continue;
        devices.insert(device_key(record.device));
        records.push_back(record);
    }
    if (devices.size() > 1) throw Error("plot", fmt::format("there are results of {}", fmt::join(devices, ", ")), "choose one with --as MODEL");
    if (records.empty()) throw Error("plot", "there are no such results", "'hone show' lists what there is");
    return records;
}

std::vector<JournalText> journals_of(const Settings& settings) {
    std::vector<JournalText> journals;
    if (!settings.journal.empty()) {
        journals.push_back(read_journal(settings.journal));
        return journals;
    }
    const fs::path folder = database_folder(settings.database);
    const ProblemFilter filter(settings.words, built_in_families());
    for (const fs::path& file : journal_files(folder)) {
        JournalText journal = read_journal(file);
        const bool device = settings.as.empty() || journal.run.device.name == settings.as || device_key(journal.run.device) == settings.as;
        try {
            if (device && filter.matches(built_in_families().parse_problem(journal.run.problem))) journals.push_back(std::move(journal));
        } catch (const Error&) {
            continue;  // of a family that is not known here
        }
    }
    if (journals.empty())
        throw Error("plot", "there are no such journals in " + (folder / "journals").string(),
                    "'hone tune' keeps one of every search; --journal FILE names another");
    return journals;
}

SvgChart of_roofline(const Settings& settings, Console& console) {
    return roofline_chart(records_of(settings, console));
}

SvgChart of_rate(const Settings& settings, Console& console) {
    return rate_chart(records_of(settings, console), settings.over.empty() ? "order" : settings.over);
}

SvgChart of_tunable(const Settings& settings, Console& /*console*/) {
    if (settings.over.empty()) throw Error("plot tunable", "it is not said which", "write --over TUNABLE, e.g. --over block_x");
    const std::vector<JournalText> journals = journals_of(settings);
    if (journals.size() > 1)
        throw Error("plot tunable", fmt::format("these words mean {} journals", journals.size()), "add values, or --journal FILE");
    return tunable_chart(journals.front(), settings.over);
}

SvgChart of_convergence(const Settings& settings, Console& /*console*/) {
    return convergence_chart(journals_of(settings));
}

struct Kind {
    std::string name;
    SvgChart (*chart)(const Settings&, Console&);
};

const std::array<Kind, 4>& kinds() {
    static const std::array<Kind, 4> all{{{"roofline", of_roofline}, {"rate", of_rate}, {"tunable", of_tunable}, {"convergence", of_convergence}}};
    return all;
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
    std::vector<std::string> names;
    for (const Kind& kind : kinds()) names.push_back(kind.name);
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
    } else if (settings.output.empty()) {
        console.print("{}", svg(chart));
    } else {
        replace_file(settings.output, svg(chart));
        console.message("hone: drew {}\n", settings.output);
    }
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words("KIND [FAMILY] [key=value...]", settings->words,
                  "roofline, rate, tunable or convergence; then which problems, lists and ranges mean any of them");
    options.text("over", settings->over, "NAME", "rate: the problems' parameter along the x axis, default order; tunable: the tunable");
    options.text("output", settings->output, "FILE.svg", "draw into this file; default standard output");
    options.text("as", settings->as, "MODEL", "the device model, where there are results of several");
    options.text("journal", settings->journal, "FILE", "tunable, convergence: this journal instead of those beside the results");
    declare_database(options, settings->database);
    options.text("device-file", settings->device_file, "FILE", "roofline, rate: the results of this one file");
    options.flag("json", settings->json, "print the points as one JSON document");
    return [settings](Console& console) { return plot(*settings, console); };
}

}  // namespace plot

Command plot_command() {
    return {
        "plot",
        "charts of results and searches as SVG",
        "roofline | rate | tunable | convergence [FAMILY] [key=value...] [options]",
        "Draws into an SVG file, which every browser shows; a pointer that rests on a point is told which result it is.\n\n"
        "roofline: GFLOP/s over operations per byte, below the measured ceilings. rate: updates per second over a parameter of the problems, a line "
        "for each choice of the others. tunable: the times of all candidates of a search over the values of one tunable. convergence: the best so "
        "far "
        "over the candidates of each search.",
        {{"plot roofline --as nvidia_h200 --output roofline.svg", "how near everything is to the device's limits"},
         {"plot rate dg_volume order=3 --over elements --db DIR --output rate.svg", "speed over a parameter"},
         {"plot tunable --over block_y --journal ~/.local/share/hone/db/journals/nvidia_h200-0123456789abcdef.jsonl", "what one tunable does"},
         {"plot convergence --journal ~/.local/share/hone/db/journals/nvidia_h200-0123456789abcdef.jsonl --json", "for another program"}},
        plot::declare};
}

}  // namespace hone::tools
