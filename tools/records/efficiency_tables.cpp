#include "tools/records/efficiency_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tuner/sharing/greenup.hpp"

namespace hone::tools {
namespace {

constexpr auto right = Table::Align::right;

enum Way { processor, gpu, both };
constexpr std::array names{"processor alone", "GPU alone", "together"};

Way way_of(const Record& record) {
    if (record.hybrid) return both;
    return traits_of(record.device.target).shares_processors ? processor : gpu;
}

/// The fastest metered record of each way.
using Ways = std::array<const Record*, 3>;

std::string times(double value) {
    return fmt::format("{:.2f}x", value);
}

void add_rows(Table& table, const std::string& problem, const Ways& ways) {
    const Record* reference = ways[processor];
    table.note(problem);
    for (const Way way : {processor, gpu, both}) {
        const Record* record = ways[way];
        if (record == nullptr) continue;
        std::array<std::string, 3> gains{"-", "-", "-"};
        if (reference != nullptr) {
            const Gains found = gains_over({reference->step.median, reference->energy->watts}, {record->step.median, record->energy->watts});
            gains = {times(found.speed_up), times(found.powerup), times(found.greenup)};
        }
        table.row({fmt::format("  {}", names[way]), duration(record->step.median), significant(record->energy->watts) + " W",
                   significant(record->energy->joules.median) + " J", gains[0], gains[1], gains[2]});
    }
}

}  // namespace

std::string greenup_table(const std::vector<Record>& records) {
    std::map<std::string, Ways> problems;
    for (const Record& record : records) {
        if (!record.energy || record.energy->watts <= 0) continue;
        const Record*& best = problems[short_key(record.problem, known_families())][way_of(record)];
        if (best == nullptr || record.step.median < best->step.median) best = &record;
    }
    // One way alone has nothing to be compared with; its energy stands beside its time.
    std::erase_if(problems, [](const auto& problem) { return std::count(problem.second.begin(), problem.second.end(), nullptr) > 1; });
    if (problems.empty()) return "";
    Table table({{"  way"}, {"step", right}, {"power", right}, {"energy", right}, {"speed-up", right}, {"powerup", right}, {"greenup", right}});
    for (const auto& [problem, ways] : problems) add_rows(table, problem, ways);
    return table.text();
}

std::vector<TimeAndEnergy> pareto_front(std::vector<TimeAndEnergy> points) {
    std::sort(points.begin(), points.end(), [](const TimeAndEnergy& a, const TimeAndEnergy& b) {
        return std::tie(a.seconds, a.joules, a.config) < std::tie(b.seconds, b.joules, b.config);
    });
    std::vector<TimeAndEnergy> front;
    for (auto& point : points)
        if (front.empty() || point.joules < front.back().joules) front.push_back(std::move(point));
    return front;
}

std::vector<TimeAndEnergy> metered_points(const std::vector<JournalEntry>& entries) {
    std::map<std::string, TimeAndEnergy> points;
    for (const JournalEntry& entry : entries) {
        if (entry.kind != JournalEntry::Kind::evaluation || !entry.outcome.measured() || !entry.outcome.energy) continue;
        points[entry.config] = {entry.config, entry.outcome.step.median, entry.outcome.energy->joules.median};
    }
    std::vector<TimeAndEnergy> list;
    list.reserve(points.size());
    for (auto& [config, point] : points) list.push_back(std::move(point));
    return list;
}

std::string pareto_table(const std::vector<TimeAndEnergy>& points) {
    const std::vector<TimeAndEnergy> front = pareto_front(points);
    if (front.empty()) return "";
    Table table({{"configuration"}, {"step", right}, {"energy", right}, {"power", right}, {"slower", right}, {"saves", right}});
    for (const TimeAndEnergy& point : front)
        table.row({point.config, duration(point.seconds), significant(point.joules) + " J", significant(point.joules / point.seconds) + " W",
                   percent(point.seconds / front.front().seconds - 1), percent(1 - point.joules / front.front().joules)});
    return table.text();
}

}  // namespace hone::tools
