#include "tools/tuning_report.hpp"

#include <fmt/format.h>

#include "tools/format.hpp"
#include "tools/progress.hpp"
#include "tools/record_table.hpp"

namespace hone::tools {
namespace {

std::string search_table(const std::vector<TunedProblem>& problems) {
    constexpr auto right = Table::Align::right;
    Table table(
        {{"search"}, {"evaluated", right}, {"of", right}, {"failed"}, {"time", right}, {"per candidate", right}, {"measuring", right}, {"strategy"}});
    for (const auto& tuned : problems) {
        if (tuned.already_tuned) continue;
        const TuningProgress& run = tuned.result.progress;
        const std::string failed = failures(run.counts);
        table.row({tuned.problem.key(), fmt::format("{}", run.evaluations), grouped(run.members), failed.empty() ? "none" : failed,
                   duration(run.elapsed), duration(run.seconds_per_candidate()), percent(run.measuring_share()),
                   tuned.result.record ? tuned.result.record->strategy : "-"});
    }
    return table.empty() ? "" : "\n" + table.text();
}

}  // namespace

std::string tuning_summary(const std::vector<TunedProblem>& problems) {
    std::vector<Record> records;
    std::string remarks;
    for (const auto& [problem, result, already_tuned] : problems) {
        if (result.record)
            records.push_back(*result.record);
        else
            remarks += fmt::format("\nno result for {}: {}\n", problem.key(), result.why_none);
        if (result.interrupted) remarks += fmt::format("\ninterrupted: {}; --resume goes on with it\n", problem.key());
        if (already_tuned) remarks += fmt::format("\nalready tuned: {}; --force tunes it again\n", problem.key());
    }
    return (records.empty() ? "" : record_table(records)) + search_table(problems) + remarks;
}

Json json_of(const TunedProblem& tuned) {
    const TuningProgress& run = tuned.result.progress;
    Json document{{"problem", json_of(tuned.problem)},
                  {"record", tuned.result.record ? json_of(*tuned.result.record) : Json()},
                  {"interrupted", tuned.result.interrupted},
                  {"already_tuned", tuned.already_tuned}};
    if (!tuned.result.record) document["reason"] = tuned.result.why_none;
    if (tuned.already_tuned) return document;
    Json outcomes = Json::object();
    for (const auto& [status, count] : run.counts) outcomes[to_string(status)] = count;
    document["search"] = {{"members", run.members},
                          {"evaluations", run.evaluations},
                          {"replayed", run.replayed},
                          {"outcomes", std::move(outcomes)},
                          {"seconds", run.elapsed},
                          {"seconds_per_candidate", run.seconds_per_candidate()},
                          {"compile_seconds", run.compile_seconds},
                          {"verify_seconds", run.verify_seconds},
                          {"measure_seconds", run.measure_seconds},
                          {"measuring_share", run.measuring_share()}};
    return document;
}

}  // namespace hone::tools
