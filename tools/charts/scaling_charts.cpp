#include "tools/charts/scaling_charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "foundation/error.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/efficiency_tables.hpp"
#include "tuner/sharing/greenup.hpp"

namespace hone::tools {
namespace {

std::string title_of(const std::string& problem) {
    try {
        return short_key(known_families().parse_problem(problem), known_families());
    } catch (const Error&) {
        return problem;  // of a family that is not known here
    }
}

// What is known of the three ways to compute a problem.
struct Ways {
    std::optional<double> processor, gpu, both;  // seconds
    std::optional<double> processor_watts, gpu_watts, both_watts;

    void take(std::optional<double>& seconds, std::optional<double>& watts, double found, const std::optional<Energy>& energy) {
        if (found <= 0 || (seconds && *seconds <= found)) return;
        seconds = found;
        watts = energy && energy->watts > 0 ? std::optional(energy->watts) : std::nullopt;
    }
    void take(const Record& record) {
        if (!record.hybrid) {
            if (traits_of(record.device.target).shares_processors)
                take(processor, processor_watts, record.step.median, record.energy);
            else
                take(gpu, gpu_watts, record.step.median, record.energy);
            return;
        }
        take(both, both_watts, record.step.median, record.energy);
        for (const auto& [device, seconds] :
             {std::pair(record.device.target, record.hybrid->own_seconds), std::pair(record.hybrid->partner.target, record.hybrid->partner_seconds)})
            take(traits_of(device).shares_processors ? processor : gpu, traits_of(device).shares_processors ? processor_watts : gpu_watts, seconds,
                 std::nullopt);
    }
};

struct GainSeries {
    SvgChart::Series speed_up, greenup;

    void add(double at, const std::string& problem, const std::optional<double>& reference, const std::optional<double>& reference_watts,
             const std::optional<double>& seconds, const std::optional<double>& watts) {
        if (!reference || !seconds) return;
        speed_up.points.push_back({at, *reference / *seconds, fmt::format("{}: {:.3g}x as fast", problem, *reference / *seconds)});
        if (!reference_watts || !watts) return;
        const Gains gains = gains_over({*reference, *reference_watts}, {*seconds, *watts});
        greenup.points.push_back({at, gains.greenup, fmt::format("{}: {:.3g}x less energy", problem, gains.greenup)});
    }
};

struct Units {
    double units = 0;
    double value = 0;  // seconds, or updates per second
    std::string note;
};

void add_scaling(SvgChart& chart, const std::string& name, std::vector<Units> points, Scaling scaling, bool rates) {
    std::sort(points.begin(), points.end(), [](const Units& a, const Units& b) { return a.units < b.units; });
    if (points.size() < 2) return;
    const Units& first = points.front();
    SvgChart::Series series{.name = name, .points = {}, .line = true};
    for (const Units& point : points) {
        const double times = rates ? point.value / first.value : first.value / point.value;
        // A unit keeps its rate: the same time for the same work each, or so many times the rate of
        // all.
        const double y = scaling == Scaling::strong ? times : rates ? times * first.units / point.units : times;
        series.points.push_back({point.units, y, point.note});
    }
    chart.series.push_back(std::move(series));
}

SvgChart finished(SvgChart chart, Scaling scaling) {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const auto& series : chart.series)
        for (const auto& point : series.points) {
            low = std::min(low, point.x);
            high = std::max(high, point.x);
        }
    if (high == 0) return chart;
    SvgChart::Series ideal{.name = "ideal", .points = {}, .line = true, .marks = false, .faint = true};
    ideal.points = {{low, 1, "ideal"}, {high, scaling == Scaling::strong ? high / low : 1, "ideal"}};
    chart.series.push_back(std::move(ideal));
    chart.y_label = scaling == Scaling::strong ? "times as fast as with the fewest" : "part of the rate per unit that is kept";
    chart.y_from_zero = true;
    return chart;
}

std::size_t required(const CsvTable& table, const std::vector<std::string>& names, const std::string& remedy) {
    for (const std::string& name : names) {
        const auto found = std::find(table.header.begin(), table.header.end(), name);
        if (found != table.header.end()) return static_cast<std::size_t>(found - table.header.begin());
    }
    throw Error(table.where, fmt::format("it has no column {}", fmt::join(names, " or ")), remedy);
}

SvgChart share_frame() {
    return {.title = "share of a step over periods", .x_label = "period", .y_label = "share of the first device", .y_from_zero = true};
}

struct Remeasured {
    std::string problem;  // key
    double before = 0;    // seconds
    double ratio = 0;     // of the times, now over then
};

SvgChart drift_of(const std::vector<Remeasured>& results, const std::string& where, const std::string& remedy) {
    SvgChart chart{.title = "times measured again over the recorded ones",
                   .x_label = "microseconds of a step as recorded",
                   .y_label = "time now over then",
                   .logarithmic_x = true};
    std::map<std::string, SvgChart::Series> families;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const Remeasured& one : results) {
        if (!(one.before > 0) || !(one.ratio > 0)) continue;
        auto& series = families[one.problem.substr(0, one.problem.find(' '))];
        series.name = one.problem.substr(0, one.problem.find(' '));
        series.points.push_back(
            {one.before * 1e6, one.ratio, fmt::format("{}: {:.3g}x the recorded {}", title_of(one.problem), one.ratio, duration(one.before))});
        least = std::min(least, one.before * 1e6);
        most = std::max(most, one.before * 1e6);
    }
    for (auto& [name, series] : families) chart.series.push_back(std::move(series));
    if (chart.series.empty()) throw NothingError(where, "no result in it was measured again", remedy);
    SvgChart::Series equal{.name = "as recorded", .points = {}, .line = true, .marks = false, .faint = true};
    equal.points = {{least, 1, "as recorded"}, {most, 1, "as recorded"}};
    chart.series.push_back(std::move(equal));
    return chart;
}

void refuse_empty(const SvgChart& chart, const std::string& where, const std::string& found, const std::string& remedy) {
    if (chart.series.empty()) throw NothingError(where, found, remedy);
}

}  // namespace

SvgChart energy_chart(const std::vector<JournalText>& journals) {
    SvgChart chart{.title = "time against energy", .x_label = "seconds of a step", .y_label = "joules of a step"};
    for (const JournalText& journal : journals) {
        const std::vector<TimeAndEnergy> points = metered_points(journal.entries);
        if (points.empty()) continue;
        const std::string name = title_of(journal.run.problem);
        const auto drawn = [](const std::vector<TimeAndEnergy>& from) {
            std::vector<SvgChart::Point> list;
            list.reserve(from.size());
            for (const TimeAndEnergy& point : from)
                list.push_back(
                    {point.seconds, point.joules, fmt::format("{}: {} and {} J", point.config, duration(point.seconds), significant(point.joules))});
            return list;
        };
        chart.series.push_back({.name = name + ", nobody beats these in both", .points = drawn(pareto_front(points)), .line = true});
        chart.series.push_back({.name = name + ", candidates", .points = drawn(points), .faint = true});
    }
    refuse_empty(chart, "plot energy", "no candidate of these journals was metered", "'hone tune --objective energy' meters them");
    return chart;
}

SvgChart energy_chart(const std::vector<Record>& records) {
    SvgChart chart{.title = "time against energy",
                   .x_label = "nanoseconds of an update",
                   .y_label = "nanojoules of an update",
                   .logarithmic_x = true,
                   .logarithmic_y = true};
    std::map<std::string, SvgChart::Series> families;
    for (const Record& record : records) {
        if (!record.energy || record.counts.updates <= 0) continue;
        auto& series = families[record.problem.family()];
        series.name = record.problem.family();
        series.points.push_back({record.step.median / record.counts.updates * 1e9, record.energy->joules.median / record.counts.updates * 1e9,
                                 fmt::format("{}{}: {}, {} J, {} W by {}", short_key(record.problem, known_families()),
                                             record.purpose.empty() ? "" : " for " + record.purpose, duration(record.step.median),
                                             significant(record.energy->joules.median), significant(record.energy->watts), record.energy->source)});
    }
    for (auto& [name, series] : families) chart.series.push_back(std::move(series));
    refuse_empty(chart, "plot energy", "no such result has its energy", "'hone tune --energy' meters it");
    return chart;
}

SvgChart greenup_chart(const std::vector<Record>& records) {
    std::map<std::string, Ways> problems;
    std::map<std::string, std::string> choices;  // few letters, below the axis
    for (const Record& record : records) {
        const std::string key = short_key(record.problem, known_families());
        problems[key].take(record);
        choices[key] = told_briefly(record.problem);
    }
    std::erase_if(problems, [](const auto& entry) { return !entry.second.processor || (!entry.second.gpu && !entry.second.both); });
    SvgChart chart{.title = "gains over the processor alone", .x_label = "", .y_label = "times", .y_from_zero = true, .bars = true};
    GainSeries gpu;
    GainSeries both;
    gpu.speed_up = {.name = "speed-up of the GPU alone", .points = {}};
    gpu.greenup = {.name = "greenup of the GPU alone", .points = {}};
    both.speed_up = {.name = "speed-up of both", .points = {}};
    both.greenup = {.name = "greenup of both", .points = {}};
    for (const auto& [problem, ways] : problems) {
        const auto at = static_cast<double>(chart.x_names.size());
        chart.x_names.push_back(choices[problem]);
        gpu.add(at, problem, ways.processor, ways.processor_watts, ways.gpu, ways.gpu_watts);
        both.add(at, problem, ways.processor, ways.processor_watts, ways.both, ways.both_watts);
    }
    for (auto* series : {&gpu.speed_up, &gpu.greenup, &both.speed_up, &both.greenup})
        if (!series->points.empty()) chart.series.push_back(std::move(*series));
    refuse_empty(chart, "plot greenup", "no problem was measured on the processor and on a GPU",
                 "'hone balance' measures both ways of a problem, or tune it on each");
    SvgChart::Series alone{.name = "the processor alone", .points = {}, .line = true, .marks = false, .faint = true};
    alone.points = {{-0.5, 1, ""}, {static_cast<double>(chart.x_names.size()) - 0.5, 1, ""}};
    chart.series.push_back(std::move(alone));
    return chart;
}

SvgChart greenup_over_untuned_chart(const std::vector<Record>& records) {
    SvgChart chart{
        .title = "gains over the untuned configuration on the same device", .x_label = "", .y_label = "times", .y_from_zero = true, .bars = true};
    SvgChart::Series speed_up{.name = "speed-up", .points = {}};
    SvgChart::Series greenup{.name = "greenup", .points = {}};
    for (const Record& record : records) {
        if (greenup_over_safe(record) <= 0 || gain(record) <= 0) continue;
        const auto at = static_cast<double>(chart.x_names.size());
        const std::string problem =
            short_key(record.problem, known_families()) + (record.purpose.empty() ? "" : " for " + record.purpose) + " on " + record.device.name;
        chart.x_names.push_back(told_briefly(record.problem) + (record.purpose.empty() ? "" : ", " + record.purpose));
        speed_up.points.push_back({at, gain(record), fmt::format("{}: {:.3g}x as fast", problem, gain(record))});
        greenup.points.push_back({at, greenup_over_safe(record), fmt::format("{}: {:.3g}x less energy", problem, greenup_over_safe(record))});
    }
    if (chart.x_names.empty())
        throw NothingError("plot greenup", "no result has the energy of its untuned configuration",
                           "'hone tune --energy' meters both, where the device has a meter; 'hone doctor' says what is missing");
    SvgChart::Series untuned{.name = "untuned", .points = {}, .line = true, .marks = false, .faint = true};
    untuned.points = {{-0.5, 1, ""}, {static_cast<double>(chart.x_names.size()) - 0.5, 1, ""}};
    chart.series = {std::move(speed_up), std::move(greenup), std::move(untuned)};
    return chart;
}

SvgChart share_chart(const Json& balance) {
    SvgChart chart = share_frame();
    SvgChart::Series series{.name = "share", .points = {}, .line = true};
    if (balance.is_object() && balance.contains("periods") && balance["periods"].is_array())
        for (const Json& period : balance["periods"])
            if (period.is_object() && period.contains("share") && period["share"].is_number())
                series.points.push_back({static_cast<double>(series.points.size() + 1), period["share"].get<double>(), ""});
    if (!series.points.empty()) chart.series.push_back(std::move(series));
    if (chart.series.empty()) throw NothingError("plot share", "the document has no periods with a share", "give what 'hone balance --json' printed");
    return chart;
}

SvgChart share_chart(const CsvTable& table) {
    constexpr const char* remedy = "give a table of runs with the columns run, part and share";
    const std::size_t run = required(table, {"run"}, remedy);
    const std::size_t part = required(table, {"part"}, remedy);
    const std::size_t share = required(table, {"share"}, remedy);
    const std::size_t units = required(table, {"units"}, remedy);
    SvgChart chart = share_frame();
    std::map<std::string, SvgChart::Series> runs;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        if (table.rows[row][part] != "periods") continue;
        auto& series = runs[table.rows[row][run]];
        series.name = table.rows[row][run];
        series.line = true;
        series.points.push_back(
            {static_cast<double>(series.points.size() + 1), table.number(row, share, "share"), fmt::format("{} units", table.rows[row][units])});
    }
    for (auto& [name, series] : runs) chart.series.push_back(std::move(series));
    if (chart.series.empty()) throw NothingError(table.where, "it has no rows of periods", remedy);
    return chart;
}

SvgChart drift_chart(const Json& verified) {
    // Null where there is no such member: the document may be any.
    const auto member = [](const Json& of, const char* name) { return of.is_object() && of.contains(name) ? of[name] : Json(); };
    std::vector<Remeasured> results;
    for (const Json& check : member(verified, "checks")) {
        const Json record = member(check, "record");
        const Json problem = member(record, "problem");
        const Json family = member(problem, "family");
        const Json before = member(member(record, "step_seconds"), "median");
        const Json ratio = member(check, "ratio");
        if (!family.is_string() || !before.is_number() || !ratio.is_number()) continue;
        std::string key = family.get<std::string>();
        const Json parameters = member(problem, "parameters");
        if (parameters.is_object())
            for (const auto& [name, value] : parameters.items())
                key += fmt::format(" {}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
        results.push_back({key, before.get<double>(), ratio.get<double>()});
    }
    return drift_of(results, "plot drift", "give what 'hone verify --json' printed");
}

SvgChart drift_chart(const CsvTable& table) {
    constexpr const char* remedy = "give a table with the columns problem, seconds_before and ratio";
    const std::size_t problem = required(table, {"problem"}, remedy);
    const std::size_t before = required(table, {"seconds_before"}, remedy);
    const std::size_t ratio = required(table, {"ratio"}, remedy);
    std::vector<Remeasured> results;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        results.push_back({table.rows[row][problem], table.number(row, before, "time in seconds"), table.number(row, ratio, "ratio of times")});
    return drift_of(results, table.where, remedy);
}

SvgChart scaling_chart(const std::vector<Record>& records, Scaling scaling) {
    // By what is compared: the device's name but for its units, and the problem, of which sizes may
    // differ where it grows with the units.
    std::map<std::pair<std::string, std::string>, std::map<int, const Record*>> groups;
    for (const Record& record : records) {
        if (record.of_several_devices()) continue;
        const std::string problem = scaling == Scaling::strong ? short_key(record.problem, known_families()) : record.problem.class_key();
        const Record*& best = groups[{record.device.name + " " + record.device.architecture, problem}][record.device.units];
        if (best == nullptr || record.gigaupdates_per_second() > best->gigaupdates_per_second()) best = &record;
    }
    SvgChart chart{.title = scaling == Scaling::strong ? "strong scaling" : "weak scaling", .x_label = "threads or multiprocessors", .y_label = ""};
    for (const auto& [group, by_units] : groups) {
        std::vector<Units> points;
        for (const auto& [units, record] : by_units)
            points.push_back(
                {static_cast<double>(units), record->gigaupdates_per_second(),
                 fmt::format("{} on {} units: {} a step", short_key(record->problem, known_families()), units, duration(record->step.median))});
        add_scaling(chart, group.second, std::move(points), scaling, true);
    }
    refuse_empty(chart, "plot scaling", "no problem was measured with different numbers of units",
                 "tune with other OMP_NUM_THREADS, or give a table of a program's runs with --table FILE.csv");
    return finished(std::move(chart), scaling);
}

SvgChart scaling_chart(const CsvTable& table, Scaling scaling) {
    constexpr const char* remedy = "give a table with the columns units (or ranks, devices, threads) and seconds, and perhaps run";
    const std::size_t units = required(table, {"units", "ranks", "devices", "threads"}, remedy);
    const std::size_t seconds = required(table, {"seconds"}, remedy);
    const auto run = static_cast<std::size_t>(std::find(table.header.begin(), table.header.end(), "run") - table.header.begin());
    std::map<std::string, std::vector<Units>> runs;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const Units point{table.number(row, units, "number of units"), table.number(row, seconds, "time in seconds"),
                          table.rows[row][seconds] + " s"};
        if (point.units <= 0 || point.value <= 0) throw Error(table.place(row), "units and seconds must be more than 0", remedy);
        runs[run < table.header.size() ? table.rows[row][run] : "measured"].push_back(point);
    }
    SvgChart chart{.title = scaling == Scaling::strong ? "strong scaling" : "weak scaling", .x_label = table.header[units], .y_label = ""};
    for (auto& [name, points] : runs) add_scaling(chart, name, std::move(points), scaling, false);
    if (chart.series.empty()) throw NothingError(table.where, "no run has two rows", remedy);
    return finished(std::move(chart), scaling);
}

}  // namespace hone::tools
