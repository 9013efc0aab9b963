#include "tools/charts/result_charts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "foundation/error.hpp"
#include "tools/console/command.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/searches/tuning_story.hpp"

namespace hone::tools {
namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
    return values[values.size() / 2];
}

// Of a journal's problem, whose family may not be known here.
std::string brief_name(const std::string& problem) {
    try {
        return told_briefly(known_families().parse_problem(problem));
    } catch (const Error&) {
        return problem;
    }
}

std::string note_of(const Record& record) {
    return fmt::format("{}: {} a step, {} GFLOP/s, {} GB/s{}", short_key(record.problem, known_families()), duration(record.step.median),
                       significant(record.gigaflops()), significant(record.gigabytes_per_second()),
                       record.ceiling_fraction > 0 ? ", " + percent(record.ceiling_fraction) + " of " + record.ceiling : "");
}

std::string precision_of(const Record& record) {
    for (const Assignment& assignment : record.problem.parameters())
        if (assignment.name == "precision") return to_string(assignment.value);
    return "";
}

void add_roof(SvgChart& chart, const std::string& name, double low, double high, double slope, double level) {
    chart.series.push_back({.name = name,
                            .points = {{low, slope * low + level, name}, {high, slope * high + level, name}},
                            .line = true,
                            .marks = false,
                            .faint = true});
}

// Memory is a slope up to the highest arithmetic ceiling; these are level from the slope on. `low`
// and `high`: operations per byte of the points.
void add_roofs(SvgChart& chart, double bandwidth, const std::map<std::string, std::vector<double>>& peaks, double low, double high) {
    double highest = 0;
    for (const auto& [precision, values] : peaks) highest = std::max(highest, median(values));
    const double end = bandwidth > 0 && highest > 0 ? std::max(low, highest / bandwidth) : high;
    if (bandwidth > 0) add_roof(chart, fmt::format("memory, {} GB/s", significant(bandwidth)), low, end, bandwidth, 0);
    for (const auto& [precision, values] : peaks) {
        const double peak = median(values);
        const double begin = bandwidth > 0 ? std::max(low, peak / bandwidth) : low;
        add_roof(chart, fmt::format("{} arithmetic, {} GFLOP/s", precision, significant(peak)), begin, std::max(begin, high), 0, peak);
    }
}

std::optional<double> number_of(const Record& record, const std::string& parameter) {
    for (const Assignment& assignment : record.problem.parameters()) {
        if (assignment.name != parameter) continue;
        // Choices among numbers are kept as words.
        const Value value = parse_value(to_string(assignment.value));
        if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
    }
    return std::nullopt;
}

std::vector<std::string> parameter_names(const std::vector<Record>& records) {
    std::set<std::string> names;
    for (const Record& record : records)
        for (const Assignment& assignment : record.problem.parameters())
            if (number_of(record, assignment.name)) names.insert(assignment.name);
    return {names.begin(), names.end()};
}

}  // namespace

SvgChart roofline_chart(const std::vector<Record>& records) {
    SvgChart chart{.x_label = "operations per byte of compulsory traffic", .y_label = "GFLOP/s", .logarithmic_x = true, .logarithmic_y = true};
    std::map<std::string, SvgChart::Series> families;
    std::vector<double> bandwidths;
    std::map<std::string, std::vector<double>> peaks;
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const Record& record : records) {
        if (record.counts.bytes <= 0 || record.counts.operations <= 0) continue;
        const double intensity = record.counts.operations / record.counts.bytes;
        low = std::min(low, intensity);
        high = std::max(high, intensity);
        auto& series = families[record.problem.family()];
        series.name = record.problem.family();
        series.points.push_back({intensity, record.gigaflops(), note_of(record)});
        if (record.ceiling_fraction <= 0) continue;
        if (record.ceiling == "memory") bandwidths.push_back(record.gigabytes_per_second() / record.ceiling_fraction);
        if (record.ceiling == "arithmetic") peaks[precision_of(record)].push_back(record.gigaflops() / record.ceiling_fraction);
    }
    for (auto& [name, series] : families) chart.series.push_back(std::move(series));
    if (high > 0) add_roofs(chart, median(bandwidths), peaks, low, high);
    if (!records.empty()) chart.title = "roofline of " + records.front().device.name;
    return chart;
}

SvgChart rate_chart(const std::vector<Record>& records, const std::string& parameter) {
    std::map<std::string, SvgChart::Series> groups;
    std::set<std::string> units;
    std::set<double> numbers;
    for (const Record& record : records) {
        const auto number = number_of(record, parameter);
        if (!number) continue;
        auto& series = groups[told_briefly(record.problem, parameter)];
        series.points.push_back({*number, record.gigaupdates_per_second(), note_of(record)});
        units.insert(record.counts.unit);
        numbers.insert(*number);
    }
    if (groups.empty()) {
        const std::vector<std::string> names = parameter_names(records);
        throw Error("--over", fmt::format("no result has a number \"{}\"", parameter),
                    did_you_mean(parameter, names) + fmt::format("use one of {}", fmt::join(names, ", ")));
    }
    SvgChart chart{.title = "rate over " + parameter + " on " + records.front().device.name,
                   .x_label = parameter,
                   .y_label = fmt::format("G {}/s", fmt::join(units, " or "))};
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (auto& [name, series] : groups) {
        std::sort(series.points.begin(), series.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
        for (const auto& point : series.points) {
            low = std::min(low, point.y);
            high = std::max(high, point.y);
        }
        series.name = name;
        series.line = true;
        chart.series.push_back(std::move(series));
    }
    constexpr double wide = 20;
    chart.logarithmic_y = high > wide * low;
    chart.y_from_zero = true;
    constexpr std::size_t most_named = 12;
    if (numbers.size() <= most_named) chart.x_ticks.assign(numbers.begin(), numbers.end());
    tell_apart(chart);
    return chart;
}

SvgChart tunable_chart(const JournalText& journal, const std::string& tunable) {
    const TuningStory story = story_of(journal);
    const MeasuredSpace measured = measured_space(story, "", Families(std::vector<Family>{}), cpu_limits());
    const auto& tunables = measured.space.tunables();
    const auto found = std::find_if(tunables.begin(), tunables.end(), [&](const Tunable& one) { return one.name == tunable; });
    if (story.measured.empty()) throw NothingError("plot tunable", "this search has no candidate that was measured", "'hone tune' makes some");
    if (found == tunables.end()) {
        std::vector<std::string> names;
        names.reserve(tunables.size());
        for (const Tunable& one : tunables) names.push_back(one.name);
        throw Error("--over", fmt::format("the journal has no tunable \"{}\"", tunable),
                    did_you_mean(tunable, names) + fmt::format("use one of {}", fmt::join(names, ", ")));
    }
    SvgChart chart{.title = journal.run.problem, .x_label = tunable, .y_label = "times the best", .logarithmic_y = true};
    chart.x_names.reserve(found->values.size());
    for (const Value& value : found->values) chart.x_names.push_back(to_string(value));
    SvgChart::Series all{.name = "candidates", .points = {}, .line = false, .marks = true, .faint = true};
    std::vector<double> best(found->values.size(), std::numeric_limits<double>::infinity());
    for (const MeasuredCost& cost : measured.costs) {
        const Config config = measured.space.at(cost.index);
        const Value* const own = config.find(tunable);
        if (own == nullptr) continue;  // of a form without it
        const auto value = static_cast<std::size_t>(std::find(found->values.begin(), found->values.end(), *own) - found->values.begin());
        all.points.push_back({static_cast<double>(value), cost.cost / story.best(), config.key()});
        best[value] = std::min(best[value], cost.cost / story.best());
    }
    SvgChart::Series line{.name = "best with this value", .points = {}, .line = true};
    line.points.reserve(best.size());
    for (std::size_t value = 0; value < best.size(); ++value)
        line.points.push_back({static_cast<double>(value), best[value], fmt::format("{:.3f}x", best[value])});
    chart.series = {std::move(line), std::move(all)};
    return chart;
}

SvgChart convergence_chart(const std::vector<JournalText>& journals) {
    SvgChart chart{.title = "how the searches converged", .x_label = "candidates evaluated", .y_label = "best so far, times the best"};
    double high = 1;
    for (const JournalText& journal : journals) {
        const TuningStory story = story_of(journal);
        if (story.measured.empty()) continue;
        SvgChart::Series series{.name = journal.run.problem, .points = {}, .line = true, .marks = false};
        double before = 0;
        for (const auto& step : story.improvements) {
            const auto at = static_cast<double>(step.evaluation);
            if (before > 0) series.points.push_back({at, before, ""});
            before = step.cost / story.best();
            series.points.push_back({at, before, step.config});
            high = std::max(high, before);
        }
        series.points.push_back({static_cast<double>(story.evaluations), before, ""});
        chart.series.push_back(std::move(series));
    }
    constexpr double wide = 5;
    chart.logarithmic_y = high > wide;
    tell_apart(chart);
    return chart;
}

SvgChart failures_chart(const std::vector<JournalText>& journals) {
    SvgChart chart{.title = "what became of the candidates", .x_label = "", .y_label = "candidates", .y_from_zero = true, .bars = true};
    SvgChart::Series measured{.name = "measured", .points = {}};
    std::map<Status, SvgChart::Series> failed;
    for (const JournalText& journal : journals) {
        const TuningStory story = story_of(journal);
        if (story.evaluations == 0) continue;
        const auto at = static_cast<double>(chart.x_names.size());
        chart.x_names.push_back(brief_name(journal.run.problem));
        const auto count = static_cast<double>(story.measured.size());
        measured.points.push_back({at, count, fmt::format("{}: {} of {} candidates measured", journal.run.problem, count, story.evaluations)});
        std::map<Status, std::pair<int, std::string>> reasons;
        for (const auto& failure : story.failures) {
            auto& [sum, words] = reasons[failure.status];
            sum += failure.count;
            words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", failure.count, failure.reason);
        }
        for (const auto& [status, reason] : reasons) {
            failed[status].name = to_string(status);
            failed[status].points.push_back({at, static_cast<double>(reason.first), fmt::format("{}: {}", journal.run.problem, reason.second)});
        }
    }
    if (chart.x_names.empty()) throw NothingError("plot failures", "these searches have no candidates", "'hone tune' makes some");
    chart.series.push_back(std::move(measured));
    for (auto& [status, series] : failed) chart.series.push_back(std::move(series));
    return chart;
}

}  // namespace hone::tools
