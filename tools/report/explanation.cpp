#include "tools/report/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <unordered_set>

#include "tools/console/format.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::tools {
namespace {

constexpr double trusted = 0.3;  // explained variance from which on the model's word is worth something

Limits limits_of(const DeviceFingerprint& device) {
    try {
        return generous_limits(device);
    } catch (const Error&) {
        return cpu_limits();  // another tuner's journal: its space is not a family's
    }
}

std::string launch_text(const Launch& launch) {
    const auto product = [](const Dim3& size) { return fmt::format("{} x {} x {}", size[0], size[1], size[2]); };
    return fmt::format("{}: {} blocks of {} threads{}", launch.entry, product(launch.grid), product(launch.block),
                       launch.shared_bytes > 0 ? ", " + bytes(static_cast<double>(launch.shared_bytes)) + " of dynamic shared memory" : "");
}

Json document_of(const Neighbour& neighbour, const SearchSpace& space) {
    constexpr std::array<const char*, 3> kinds{"measured", "predicted", "impossible"};
    Json document{{"tunable", space.tunables()[neighbour.tunable].name},
                  {"value", json_of(neighbour.value)},
                  {"kind", kinds.at(static_cast<std::size_t>(neighbour.kind))}};
    if (neighbour.ratio > 0) document["ratio"] = neighbour.ratio;
    if (neighbour.kind == Neighbour::Kind::predicted) document["interval"] = {neighbour.low, neighbour.high};
    if (!neighbour.reason.empty()) document["reason"] = neighbour.reason;
    return document;
}

Json document_of(const CostModel& model, const SearchSpace& space) {
    Json list = Json::array();
    for (const CostModel::Effect& effect : model.effects()) {
        Json names = Json::array();
        for (const std::size_t tunable : effect.tunables) names.push_back(space.tunables()[tunable].name);
        Json entry{{"tunables", std::move(names)}, {"share", effect.share}};
        if (effect.tunables.size() == 1) {
            Json factors = Json::array();
            const std::vector<double> mains = model.main_effect(effect.tunables.front());
            for (std::size_t v = 0; v < mains.size(); ++v)
                if (std::isfinite(mains[v]))
                    factors.push_back({{"value", json_of(space.tunables()[effect.tunables.front()].values[v])}, {"factor", mains[v]}});
            entry["values"] = std::move(factors);
        }
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace

namespace {

// The most promising of members that were not measured, of which a thousand are drawn.
std::optional<SearchExplanation::FurtherMinute> further_minute(const SearchExplanation& search, std::int64_t members) {
    constexpr std::size_t most_drawn = 1000;
    constexpr int most_tries = 20000;
    const TuningStory& story = search.story;
    const SearchSpace& space = search.measured.space;
    if (!search.tells() || story.elapsed <= 0) return std::nullopt;
    const double open = static_cast<double>((members > 0 ? members : space.product()) - story.evaluations);
    if (open <= 0) return SearchExplanation::FurtherMinute{0, {0, 0}, true};
    std::unordered_set<std::int64_t> seen;
    for (const MeasuredCost& cost : search.measured.costs) seen.insert(cost.index);
    std::vector<std::int64_t> drawn;
    std::mt19937_64 engine(1);  // the same journal is told the same
    const auto product = static_cast<std::uint64_t>(space.product());
    for (int i = 0; i < most_tries && drawn.size() < most_drawn; ++i)
        if (const auto index = static_cast<std::int64_t>(engine() % product); seen.insert(index).second && !space.check(space.at(index)))
            drawn.push_back(index);
    if (drawn.empty()) return std::nullopt;
    const double rate = 60 * story.evaluations / story.elapsed;
    const double asks = std::min(rate, open);
    const double weight = std::max(1.0, open / static_cast<double>(drawn.size()));
    return SearchExplanation::FurtherMinute{asks, search.model->outlook(drawn, weight, asks, 0.01), rate >= open};
}

}  // namespace

bool SearchExplanation::tells() const {
    return model && explained >= trusted;
}

Config SearchExplanation::winning() const {
    return config_in(measured.space, winner);
}

SearchExplanation explain_search(const JournalText& journal, const std::string& recorded_winner, const Families& families) {
    SearchExplanation search;
    search.story = story_of(journal);
    if (search.story.measured.empty()) return search;
    search.measured = measured_space(search.story, journal.run.problem, families, limits_of(journal.run.device));
    if (search.measured.costs.size() >= CostModel::fewest) {
        search.model.emplace(search.measured.space, tempered(search.measured.costs));
        search.explained = search.model->explained();
    } else {
        search.missing.push_back(fmt::format("what mattered: {} measured candidates are too few", search.measured.costs.size()));
    }
    const auto& measured = search.story.measured;
    const bool there = std::any_of(measured.begin(), measured.end(), [&](const auto& one) { return one.config == recorded_winner; });
    search.winner = there ? recorded_winner : measured.front().config;
    search.neighbours = neighbours_of(search.winning(), search.measured, search.tells() ? &*search.model : nullptr);
    search.minute = further_minute(search, journal.run.members);
    if (!search.measured.whole)
        search.missing.emplace_back("which configurations are impossible: the journal's space is not one of this hone's families");
    return search;
}

Json json_of(const SearchExplanation& search, const RunDescription& run, const std::string& file) {
    const TuningStory& story = search.story;
    Json failures = Json::array();
    for (const auto& failure : story.failures)
        failures.push_back({{"status", to_string(failure.status)}, {"reason", failure.reason}, {"count", failure.count}});
    Json histogram = Json::array();
    for (const CostBin& bin : cost_histogram(story))
        histogram.push_back({{"from", bin.low}, {"to", std::isinf(bin.high) ? Json() : Json(bin.high)}, {"count", bin.count}});
    Json improvements = Json::array();
    for (const auto& step : story.improvements)
        improvements.push_back({{"evaluation", step.evaluation}, {"elapsed", step.elapsed}, {"cost", step.cost}, {"configuration", step.config}});
    Json document{{"journal", file},
                  {"objective", story.objective.name},
                  {"strategy", run.strategy},
                  {"members", run.members},
                  {"evaluations", story.evaluations},
                  {"measured", story.measured.size()},
                  {"complete", story.complete},
                  {"seconds", story.elapsed},
                  {"failures", std::move(failures)}};
    if (story.measured.empty()) return document;
    document["best"] = story.best();
    document["median"] = story.median();
    document["worst"] = story.worst();
    if (story.safe > 0) document["safe"] = story.safe;
    document["histogram"] = std::move(histogram);
    document["improvements"] = std::move(improvements);
    document["winner"] = search.winner;
    if (search.model) {
        document["explained"] = search.explained;
        document["effects"] = search.tells() ? document_of(*search.model, search.measured.space) : Json::array();
    }
    if (search.minute)
        document["further_minute"] = {{"candidates", search.minute->candidates},
                                      {"chance_of_one_percent", search.minute->outlook.chance},
                                      {"gain", search.minute->outlook.gain},
                                      {"all_that_is_left", search.minute->all}};
    Json neighbours = Json::array();
    for (const Neighbour& neighbour : search.neighbours) neighbours.push_back(document_of(neighbour, search.measured.space));
    document["neighbours"] = std::move(neighbours);
    return document;
}

std::vector<std::string> launch_lines(const KernelSource& source) {
    std::vector<std::string> lines;
    if (!traits_of(source.target).has_blocks) return lines;
    for (const Launch& launch : source.step)
        if (const std::string line = launch_text(launch); std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    constexpr std::size_t most = 4;
    if (lines.size() > most) lines.resize(most);
    return lines;
}

std::string limit_text(const Record& record) {
    if (record.ceiling_fraction <= 0) return "its part of the device's ceiling was not measured: tune it again, with --force";
    const double left = 1 / record.ceiling_fraction;
    const std::string what = record.ceiling == "memory" ? "traffic" : "operations";
    std::string verdict = "it cannot be faster without doing less";
    if (left > 1.005) verdict = fmt::format("a kernel of the same {} can be {:.2f}x as fast at most", what, left);
    if (left < 0.95)
        verdict = "beyond it: caches hold a part of the data, the form does less than is counted, or one of the two figures was disturbed";
    return fmt::format("{} of the measured {} ceiling; {}", percent(record.ceiling_fraction), record.ceiling, verdict);
}

std::string compile_report_command(const Record& record, const Families& families) {
    const bool cpu = !traits_of(record.device.target).has_blocks;
    return fmt::format("hone compile {} --target {} --config {} --report", short_key(record.problem, families),
                       cpu ? "cpu" : "cuda --arch " + record.device.architecture, record.config.key());
}

}  // namespace hone::tools
