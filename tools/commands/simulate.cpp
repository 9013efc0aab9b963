#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "foundation/environment.hpp"
#include "tools/charts/gnuplot.hpp"
#include "tools/charts/simulation_plot.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/json.hpp"
#include "tuner/replay/formats/parameter_values.hpp"
#include "tuner/replay/simulation.hpp"

namespace hone::tools {
namespace simulate {

// At which numbers of evaluations the community compares searches.
constexpr std::array<std::int64_t, 5> budgets{25, 50, 100, 200, 400};
constexpr std::size_t most_stuck = 5;  // rows of a strategy; the document of --json has all
constexpr int page = 100;              // columns of sentences
constexpr int most_for_score = 1000;   // evaluations; few spaces need more before random search has covered 95 %

struct Settings {
    std::vector<std::string> files;
    std::string strategies;
    std::int64_t repetitions = 100;
    std::int64_t evaluations = 400;
    std::int64_t seed = 1;
    std::int64_t window = 1;
    std::int64_t stuck = 0;
    std::string until;
    std::string plot;
    bool json = false;
};

// A row of a table: one strategy, or random search as it is exactly.
struct Row {
    std::string name;
    std::vector<std::optional<double>> fractions;  // at the budgets; none where the simulations do not tell
    double score = 0;
    double error = 0;  // of the score: half of its 95 % interval
    double to_5 = 0;   // evaluations
    double to_1 = 0;
    double seconds = 0;  // of a repetition
};

std::vector<const StrategyEntry*> chosen_strategies(const std::string& names) {
    std::vector<const StrategyEntry*> chosen;
    if (names.empty()) return {&strategies().front()};
    if (names == "all") {
        for (const auto& entry : strategies()) chosen.push_back(&entry);
        return chosen;
    }
    for (std::size_t begin = 0; begin <= names.size();) {
        const std::size_t comma = std::min(names.find(',', begin), names.size());
        chosen.push_back(&find_strategy(names.substr(begin, comma - begin)));
        begin = comma + 1;
    }
    return chosen;
}

int bounded(std::int64_t number, const char* option, std::int64_t most) {
    if (number > most) throw Error("simulate", fmt::format("--{} is {}", option, number), fmt::format("use a whole number from 1 to {}", most));
    return static_cast<int>(number);
}

// That `--until` waits for; 0 without.
double part_of(const Settings& settings) {
    return settings.until.empty() ? 0 : parse_proper_percent("--until", settings.until);
}

SimulationSettings simulation_settings(const Settings& settings) {
    return {.repetitions = bounded(settings.repetitions, "repetitions", 100'000),
            .evaluations = bounded(settings.evaluations, "evaluations", 1'000'000),
            .seed = static_cast<std::uint64_t>(settings.seed),
            .window = bounded(settings.window, "window", 10'000),
            .until = part_of(settings)};
}

// What `fraction` says at each budget that the space's simulations tell of.
template <typename Fraction>
std::vector<std::optional<double>> at_budgets(const SimulatedSpace& space, const Fraction& fraction) {
    std::vector<std::optional<double>> fractions;
    fractions.reserve(budgets.size());
    for (const std::int64_t budget : budgets) fractions.push_back(space.tells_of(budget) ? std::optional(fraction(budget)) : std::nullopt);
    return fractions;
}

Row exact_row(const SimulatedSpace& space) {
    const RandomBaseline& baseline = space.baseline;
    Row row{"random, exact", {}, 0, 0, baseline.draws_to(0.05), baseline.draws_to(0.01), 0};
    row.fractions = at_budgets(space, [&](std::int64_t budget) { return baseline.fraction(budget); });
    return row;
}

Row row_of(const Simulation& simulation, const SimulatedSpace& space) {
    const RandomBaseline& baseline = space.baseline;
    const double optimum = baseline.optimum();
    const Score scored = score(simulation, baseline);
    Row row{simulation.strategy, {}, scored.value, scored.error, 0, 0, simulation.seconds};
    row.to_5 = evaluations_to(simulation, optimum, 0.05);
    row.to_1 = evaluations_to(simulation, optimum, 0.01);
    row.fractions = at_budgets(space, [&](std::int64_t budget) { return fraction_of_optimum(simulation, optimum, budget); });
    return row;
}

std::vector<Row> rows_of(const SimulatedSpace& space) {
    std::vector<Row> rows{exact_row(space)};
    for (const auto& simulation : space.simulations) rows.push_back(row_of(simulation, space));
    return rows;
}

// The same row of every space, averaged; only what may be averaged over spaces.
std::vector<Row> mean_rows(const std::vector<SimulatedSpace>& spaces) {
    std::vector<Row> means;
    const double share = 1.0 / static_cast<double>(spaces.size());
    for (const auto& space : spaces) {
        const std::vector<Row> rows = rows_of(space);
        if (means.empty())
            for (const auto& row : rows) means.push_back({row.name, std::vector<std::optional<double>>(budgets.size(), 0.0)});
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t b = 0; b < budgets.size(); ++b) {
                std::optional<double>& mean = means[i].fractions[b];
                const std::optional<double> fraction = rows[i].fractions[b];
                mean = mean && fraction ? std::optional(*mean + share * *fraction) : std::nullopt;
            }
            means[i].score += share * rows[i].score;
            means[i].error = std::hypot(means[i].error, share * rows[i].error);  // repetitions on different spaces are independent
            means[i].seconds += share * rows[i].seconds;
        }
    }
    return means;
}

std::string count_or_more(double evaluations, int simulated) {
    if (evaluations == 0) return "";
    return std::isfinite(evaluations) ? fmt::format("{:.0f}", evaluations) : fmt::format(">{}", simulated);
}

// "0.677 ±0.012"; without an interval where there is none.
std::string score_text(const Row& row) {
    const bool interval = row.error > 0 && std::isfinite(row.error);
    return interval ? fmt::format("{:.3f} ±{:.3f}", row.score, row.error) : fmt::format("{:.3f}", row.score);
}

// `evaluations`: no more were done.
std::string table_of(const std::vector<Row>& rows, std::int64_t evaluations, int simulated, bool one_space) {
    constexpr auto right = Table::Align::right;
    std::vector<Table::Column> columns{{"strategy"}};
    std::vector<std::size_t> shown;
    for (std::size_t b = 0; b < budgets.size(); ++b) {
        if (budgets.at(b) > evaluations || !rows.front().fractions[b]) continue;
        shown.push_back(b);
        columns.push_back({fmt::format("after {}", budgets.at(b)), right});
    }
    columns.push_back({"score", right});
    if (one_space) columns.insert(columns.end(), {{"to 5 %", right}, {"to 1 %", right}});
    columns.push_back({"time", right});
    Table table(columns);
    for (const auto& row : rows) {
        std::vector<std::string> cells{row.name};
        for (const std::size_t b : shown) cells.push_back(fmt::format("{:.3f}", *row.fractions[b]));
        cells.push_back(score_text(row));
        if (one_space) cells.insert(cells.end(), {count_or_more(row.to_5, simulated), count_or_more(row.to_1, simulated)});
        cells.push_back(row.seconds > 0 ? duration(row.seconds) : "");
        table.row(std::move(cells));
    }
    return table.text();
}

int longest(const SimulatedSpace& space) {
    std::size_t evaluations = 0;
    for (const auto& simulation : space.simulations)
        for (const auto& best : simulation.best) evaluations = std::max(evaluations, best.size());
    return static_cast<int>(evaluations);
}

// What a reader of the figures must know where configurations are missing; empty for a whole space.
std::string part_of_space(const RecordedSpace& recorded) {
    if (recorded.whole()) return "";
    const RecordedTitle& title = recorded.title();
    const auto count = static_cast<std::int64_t>(recorded.members().size());
    const std::optional<double> coverage = recorded.coverage();
    const std::string part =
        coverage ? fmt::format("{:.2g} % of the space ({} of {} configurations)", 100 * *coverage, grouped(count), grouped(title.members))
                 : "a part of the space, and not known how large a one";
    std::string why = title.chosen_by.empty() ? "" : ", chosen by the run's own search (" + title.chosen_by + ")";
    if (!title.only.empty()) why += ", restricted to " + title.only;
    return fmt::format("This is {}{}{}: optimum, fractions and scores are those of the part, and say nothing about the rest.", part, why,
                       title.cut ? ", and the run was cut" : "");
}

// "y: 16 for 32" for each parameter in which a member differs from the optimum nearest to it.
std::string differences_text(const RecordedSpace& recorded, const StuckAt& stuck) {
    const std::vector<std::size_t> here = recorded.places(stuck.member);
    const std::vector<std::size_t> best = recorded.places(stuck.nearest_best);
    std::string text;
    for (const std::size_t d : stuck.far) {
        const auto& [name, written] = recorded.parameters()[d];
        text += fmt::format("{}{}={} for {}", text.empty() ? "" : ", ", name, plain_value(written[here[d]]), plain_value(written[best[d]]));
    }
    return text.empty() ? "the optimum" : text;
}

// Where most repetitions of each strategy stood: what they did not get out of.
std::string stuck_table(const SimulatedSpace& space, std::int64_t evaluations) {
    constexpr auto right = Table::Align::right;
    Table table({{"strategy"}, {"runs", right}, {"slower by", right}, {"local optimum", right}, {"differs from the optimum in"}});
    for (const auto& simulation : space.simulations) {
        const std::vector<StuckAt> all = stuck_at(space.recorded, simulation, evaluations);
        for (std::size_t i = 0; i < std::min(all.size(), most_stuck); ++i) {
            const StuckAt& stuck = all[i];
            table.row({i == 0 ? simulation.strategy : "",
                       fmt::format("{:.0f} %", 100.0 * stuck.repetitions / static_cast<double>(simulation.best.size())),
                       std::isfinite(stuck.excess) ? fmt::format("{:.1f} %", 100 * stuck.excess) : "invalid",
                       stuck.valley > 0 ? fmt::format("{}", stuck.valley) : "none", differences_text(space.recorded, stuck)});
        }
    }
    return fmt::format("Where the runs stood after {} evaluations\n\n{}", evaluations, table.text());
}

// When the rule of `--until` ended the runs, and whether it was right.
std::string stops_table(const SimulatedSpace& space, double until) {
    constexpr auto right = Table::Align::right;
    Table table({{"strategy"}, {"ended", right}, {"after", right}, {"optimum / best", right}, {fmt::format("{} % were left", 100 * until), right}});
    for (const auto& simulation : space.simulations) {
        const Stops ended = stops(simulation, space.baseline.optimum(), until);
        const auto percentage = [](double part) { return fmt::format("{:.0f} %", 100 * part); };
        const std::string none = "";
        table.row({simulation.strategy, percentage(ended.ended / static_cast<double>(simulation.best.size())),
                   ended.ended > 0 ? fmt::format("{:.0f}", ended.evaluations) : none, ended.ended > 0 ? fmt::format("{:.3f}", ended.fraction) : none,
                   ended.ended > 0 ? percentage(ended.missed) : none});
    }
    return fmt::format("Runs that ended when hardly {} % seemed left to gain\n\n{}", 100 * until, table.text());
}

void print_space(const SimulatedSpace& space, const Settings& settings, Console& console) {
    const RecordedTitle& title = space.recorded.title();
    const auto count = static_cast<std::int64_t>(space.recorded.members().size());
    const Score range = score(space.simulations.front(), space.baseline);
    console.print("{}: {}{}\n", title.name, title.kernel, title.device.empty() ? "" : " on " + title.device);
    console.print("{} configurations, {} of them invalid; optimum {}, median {}; score from {} to {} evaluations\n\n", grouped(count),
                  grouped(count - space.recorded.valid()), duration(space.baseline.optimum()), duration(space.baseline.median()), range.first,
                  range.last);
    if (const std::string part = part_of_space(space.recorded); !part.empty()) console.print("{}\n\n", wrapped(part, page));
    console.print("{}\n", table_of(rows_of(space), space.evaluations, longest(space), true));
    if (settings.stuck > 0) console.print("{}\n", stuck_table(space, settings.stuck));
    if (!settings.until.empty()) console.print("{}\n", stops_table(space, part_of(settings)));
}

void print_text(const std::vector<SimulatedSpace>& spaces, const Settings& settings, Console& console) {
    for (const auto& space : spaces) print_space(space, settings, console);
    std::int64_t most = 0;
    for (const auto& space : spaces) most = std::max(most, space.evaluations);
    if (spaces.size() > 1) console.print("mean over {} spaces\n\n{}\n", spaces.size(), table_of(mean_rows(spaces), most, 0, false));
    console.print(
        "after N: mean of optimum / best so far, after N distinct evaluations. score: 0 is random search, 1 the optimum at once,\n"
        "with its 95 % confidence interval.\n"
        "to 5 %: evaluations until the best is within 5 % of the optimum, the median repetition (random, exact: the mean).\n"
        "time: of the processor, for the search itself, in one repetition.\n");
}

Json json_of(const Row& row) {
    const auto number = [](double evaluations) { return std::isfinite(evaluations) ? Json(evaluations) : Json(); };
    Json fractions;
    for (std::size_t b = 0; b < budgets.size(); ++b) fractions[std::to_string(budgets.at(b))] = row.fractions[b] ? Json(*row.fractions[b]) : Json();
    Json document{{"strategy", row.name}, {"fraction_of_optimum", std::move(fractions)}, {"score", row.score}};
    if (row.error > 0) document["score_error"] = number(row.error);
    if (row.to_5 > 0) {
        document["evaluations_to_5_percent"] = number(row.to_5);
        document["evaluations_to_1_percent"] = number(row.to_1);
    }
    if (row.seconds > 0) document["seconds_per_repetition"] = row.seconds;
    return document;
}

Json curve_of(const Simulation& simulation, const std::vector<std::int64_t>& at) {
    Json curve = Json::array();
    const auto number = [](double cost) { return std::isfinite(cost) ? Json(cost) : Json(); };
    for (const std::int64_t budget : at)
        curve.push_back({{"evaluations", budget},
                         {"percentile_10", number(percentile(simulation, 0.1, budget))},
                         {"median", number(percentile(simulation, 0.5, budget))},
                         {"percentile_90", number(percentile(simulation, 0.9, budget))}});
    return curve;
}

Json stuck_json(const SimulatedSpace& space, const Simulation& simulation, std::int64_t evaluations) {
    Json all = Json::array();
    for (const StuckAt& stuck : stuck_at(space.recorded, simulation, evaluations)) {
        Json far = Json::array();
        for (const std::size_t d : stuck.far) far.push_back(space.recorded.parameters()[d].name);
        all.push_back({{"configuration", space.recorded.space(0).at(stuck.member).key()},
                       {"repetitions", stuck.repetitions},
                       {"excess", std::isfinite(stuck.excess) ? Json(stuck.excess) : Json()},
                       {"local_optimum", stuck.valley > 0 ? Json(stuck.valley) : Json()},
                       {"differs_in", std::move(far)}});
    }
    return all;
}

Json stops_json(const Stops& stops) {
    if (stops.ended == 0) return {{"ended", 0}};
    return {{"ended", stops.ended}, {"evaluations", stops.evaluations}, {"fraction_of_optimum", stops.fraction}, {"missed", stops.missed}};
}

Json json_of(const SimulatedSpace& space, const Settings& settings) {
    const std::int64_t stuck = settings.stuck;
    const double until = part_of(settings);
    const RecordedTitle& title = space.recorded.title();
    const Score range = score(space.simulations.front(), space.baseline);
    const std::vector<Row> rows = rows_of(space);
    const std::optional<double> coverage = space.recorded.coverage();
    Json strategies = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        strategies.push_back(json_of(rows[i]));
        if (i > 0) strategies.back()["best_seconds"] = curve_of(space.simulations[i - 1], curve_budgets(space.simulations));
        if (i > 0 && stuck > 0) strategies.back()["stuck"] = stuck_json(space, space.simulations[i - 1], stuck);
        if (i > 0 && until > 0) strategies.back()["until"] = stops_json(stops(space.simulations[i - 1], space.baseline.optimum(), until));
    }
    return {{"name", title.name},
            {"kernel", title.kernel},
            {"device", title.device},
            {"cut", title.cut},
            {"configurations", space.recorded.members().size()},
            {"whole", space.recorded.whole()},
            {"coverage", coverage ? Json(*coverage) : Json()},
            {"valid", space.recorded.valid()},
            {"optimum_seconds", space.baseline.optimum()},
            {"median_seconds", space.baseline.median()},
            {"score_from", range.first},
            {"score_to", range.last},
            {"strategies", std::move(strategies)}};
}

Json document_of(const std::vector<SimulatedSpace>& spaces, const Settings& settings) {
    Json documents = Json::array();
    for (const auto& space : spaces) documents.push_back(json_of(space, settings));
    Json means = Json::array();
    for (const auto& row : mean_rows(spaces)) means.push_back(json_of(row));
    return {{"repetitions", settings.repetitions}, {"seed", settings.seed},          {"window", settings.window},
            {"stuck_after", settings.stuck},       {"spaces", std::move(documents)}, {"mean", std::move(means)}};
}

// One line on a terminal, redrawn; nothing elsewhere: it takes seconds.
class Line {
  public:
    explicit Line(Console& console) : console_(&console) {}
    void show(const std::string& text) {
        if (!console_->error_is_terminal) return;
        console_->redraw(text.substr(0, static_cast<std::size_t>(std::max(console_->columns - 1, 1))));
    }
    void clear() { show(""); }

  private:
    Console* console_;
};

// The measured spaces in a folder, by name; of a file, itself.
std::vector<std::string> files_of(const std::string& path) {
    if (!std::filesystem::is_directory(path)) return {path};
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        std::string name = entry.path().filename().string();
        if (name.ends_with(".gz")) name.resize(name.size() - 3);
        const bool measured = name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".space");
        if (measured && !entry.is_directory()) files.push_back(entry.path().string());
    }
    if (files.empty())
        throw Error("simulate", path + " has no measured spaces", "name a folder with files *.json, *.jsonl or *.space, or such a file");
    std::sort(files.begin(), files.end());
    return files;
}

// Those that are named, else those of the folder HONE_SPACES.
std::vector<std::string> chosen_files(const Settings& settings) {
    std::vector<std::string> paths = settings.files;
    if (const std::string folder = environment_variable("HONE_SPACES"); paths.empty() && !folder.empty()) paths.push_back(folder);
    if (paths.empty())
        throw Error(
            "simulate", "no file is named",
            "name measured spaces, or a folder of them, or set HONE_SPACES to one: a cache file of Kernel Tuner, T4 results or a journal of hone");
    std::vector<std::string> files;
    for (const auto& path : paths)
        for (auto& file : files_of(path)) files.push_back(std::move(file));
    return files;
}

// As files call it: time, TotalDuration, time_seconds.
bool is_time(const std::string& objective) {
    return objective.starts_with("time") || objective.find("uration") != std::string::npos;
}

SimulatedSpace load(const std::string& file, Console& console) {
    RecordedSpace recorded = read_recorded_space(file);
    if (!recorded.whole()) console.message("hone: {} holds a part of its space only\n", file);
    const std::string& objective = recorded.title().objective;
    if (!objective.empty() && !is_time(objective)) console.message("hone: {} was measured for {}; its times are replayed\n", file, objective);
    RandomBaseline baseline(recorded);
    return {std::move(recorded), std::move(baseline), {}, 0};
}

// What holds nothing to search is passed over, beside others.
std::vector<SimulatedSpace> load(const std::vector<std::string>& files, Console& console) {
    std::vector<SimulatedSpace> spaces;
    spaces.reserve(files.size());
    for (const auto& file : files) try {
            spaces.push_back(load(file, console));
        } catch (const EmptySpaceError& error) {
            if (files.size() == 1) throw;
            console.message("hone: {} is passed over: {}\n", file, error.what());
        }
    if (spaces.empty())
        throw NothingError("simulate", fmt::format("none of {} files has a configuration that could be found", files.size()), "name others");
    return spaces;
}

bool run_all(std::vector<SimulatedSpace>& spaces, const std::vector<const StrategyEntry*>& chosen, const SimulationSettings& settings,
             Console& console) {
    const InterruptGuard guard;
    Line line(console);
    for (auto& space : spaces)
        for (const auto* strategy : chosen) {
            SimulationSettings own = settings;
            own.evaluations = evaluations_for_score(space.baseline, settings.evaluations, most_for_score);
            space.evaluations = std::min<std::int64_t>(own.evaluations, space.members());
            space.simulations.push_back(hone::simulate(space.recorded, *strategy, own, [&](int done) {
                line.show(fmt::format("{}: {}, {} of {} repetitions", space.recorded.title().name, strategy->name, done, own.repetitions));
                return !guard.requested();
            }));
            if (guard.requested()) return line.clear(), false;
        }
    line.clear();
    return true;
}

Exit run_simulate(const Settings& settings, Console& console) {
    const std::vector<std::string> files = chosen_files(settings);
    const SimulationSettings simulation = simulation_settings(settings);
    const std::vector<const StrategyEntry*> chosen = chosen_strategies(settings.strategies);
    std::vector<SimulatedSpace> spaces = load(files, console);
    if (!settings.plot.empty()) simulation_plot({}, settings.plot);  // a wrong ending is said before the work, not after
    if (!run_all(spaces, chosen, simulation, console)) {
        console.message("hone: interrupted; a part of the repetitions says nothing, so nothing is printed\n");
        return Exit::interrupted;
    }
    if (settings.json)
        print(console, document_of(spaces, settings));
    else
        print_text(spaces, settings, console);
    if (!settings.plot.empty()) {
        draw(simulation_plot(spaces, settings.plot), settings.plot);
        console.message("hone: drew {}\n", settings.plot);
    }
    return Exit::ok;
}

Action declare(Options& options) {
    auto settings = std::make_shared<Settings>();
    options.words(
        "FILE...", settings->files,
        "measured spaces, or folders of them: cache files of Kernel Tuner, T4 results, journals and spaces of hone; gzipped or not; default the "
        "folder HONE_SPACES");
    options.text("strategy", settings->strategies, "NAME,...", "the strategies to replay, or all; default that of 'hone tune'");
    options.number("repetitions", settings->repetitions, "N", "repetitions per strategy, each with all state rebuilt; default 100", 1);
    options.number("evaluations", settings->evaluations, "N", "distinct evaluations per repetition; default 400; up to 1000 if the score needs them",
                   1);
    options.number("seed", settings->seed, "N", "seed of all random choices; default 1");
    options.number("window", settings->window, "N", "at most this many candidates are pending; default 1; 'hone tune' has 8 or more", 1);
    options.number("stuck", settings->stuck, "N", "print the best configurations after this many evaluations, and how far they are from the optimum",
                   1);
    options.text("until", settings->until, "PERCENT",
                 "end runs as 'hone tune --until' does, and print when they ended and whether this much was left to gain");
    options.text("plot", settings->plot, "FILE.png|svg", "draw best-so-far curves with gnuplot: median and 10th to 90th percentile");
    options.flag("json", settings->json, "print one JSON document, with the curves");
    return [settings](Console& console) { return run_simulate(*settings, console); };
}

}  // namespace simulate

Command simulate_command() {
    return {
        "simulate",
        "replay measured search spaces to compare search strategies, without any device",
        "FILE... [options]",
        "Searches a space in which every configuration was measured before. Strategies ask, the file answers, and hundreds of searches take "
        "seconds. Each repetition starts from its own valid configuration and rebuilds all state. Prints how close the strategies come to the "
        "optimum after 25 to 400 distinct evaluations, and their score against random search, which is computed exactly, not simulated.\n\n"
        "An invalid configuration (it did not compile, say) costs an evaluation. A configuration that is not in the file violates a constraint and "
        "costs nothing. To measure your own space, run 'hone tune PROBLEM --strategy exhaustive' and replay its journal from the database's "
        "journals/.",
        {{"simulate tests/spaces --strategy all", "every strategy on the spaces that come with hone"},
         {"simulate space.json --strategy random,local_search --repetitions 500 --plot curves.svg", "two strategies, with a picture"},
         {"simulate space.json --strategy surrogate,genetic --stuck 100", "which local optima their runs had not left after 100 evaluations"},
         {"simulate space.json --json", "curves and scores for a script"}},
        simulate::declare};
}

}  // namespace hone::tools
