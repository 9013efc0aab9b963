#include "tools/searches/tuning_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/record_table.hpp"
#include "tools/searches/progress.hpp"

namespace hone::tools {
namespace {

// What the search cost, in one line.
std::string search_line(const TunedProblem& tuned) {
    if (tuned.already_tuned) return "already tuned; --force tunes it again";
    const TuningProgress& run = tuned.result.progress;
    const std::string failed = failures(run.counts);
    return fmt::format("{} of {} candidates by {} in {}, {} each; failed: {}; {} of the time measuring", run.evaluations, grouped(run.members),
                       tuned.result.record->strategy, duration(run.elapsed), duration(run.seconds_per_candidate()), failed.empty() ? "none" : failed,
                       percent(run.measuring_share()));
}

// What prior knowledge was worth, as far as that can be known.
std::string prior_line(const PriorGain& gain) {
    std::string text =
        fmt::format("began with {} configurations of neighbours; within 1 % of the best after {} evaluations", gain.members, gain.reached);
    if (gain.without) text += fmt::format(", where the previous run without them needed {}", *gain.without);
    return text;
}

struct ProfileRow {
    const char* name;
    double seconds;
    const char* help;
};

// The last is what is none of the others.
std::vector<ProfileRow> profile_rows(const TuningProfile& profile) {
    std::vector<ProfileRow> rows{{"setup", profile.setup, "listing the space, starting processes, laying out data"},
                                 {"reference", profile.reference, "random data and the answer of the plain loops"},
                                 {"ceilings", profile.ceilings, "what the device can do at most"},
                                 {"compile", profile.compile, "waiting for compilers, with nothing to measure"},
                                 {"verify", profile.verify, "first steps, compared with the reference"},
                                 {"measure", profile.measure, "sampling periods, finals included"}};
    double rest = profile.total;
    for (const ProfileRow& row : rows) rest -= row.seconds;
    rows.push_back({"rest", std::max(0.0, rest), "search, messages, journal"});
    return rows;
}

double first_candidate_seconds(const TunedProblem& tuned) {
    const double own = tuned.result.profile.first_candidate;
    return own > 0 ? tuned.begun_after + own : 0;
}

}  // namespace

bool succeeded(const std::vector<TunedProblem>& problems, int evaluations) {
    return std::all_of(problems.begin(), problems.end(), [&](const TunedProblem& tuned) {
        const TuningResult& result = tuned.result;
        if (!result.record) return false;
        return result.why_not_kept.empty() ? tuned.not_stored.empty() : result.progress.compared || evaluations == 1;
    });
}

std::string budget_remark(const TuningResult& result) {
    const TuningProfile& profile = result.profile;
    const double other = profile.setup + profile.reference + profile.ceilings;
    if (result.interrupted || result.progress.evaluations >= result.progress.members || other < profile.total / 2) return "";
    return fmt::format(
        "{} of {} went into setup, {} into the reference's answer, {} into ceilings; a smaller problem or a longer budget searches more",
        duration(profile.setup), duration(profile.total), duration(profile.reference), duration(profile.ceilings));
}

std::string repeated_remark(const TuningProgress& run) {
    constexpr int worth_telling = 8;
    if (run.repeated == 0 || run.repeated * worth_telling < run.evaluations) return "";
    return fmt::format(
        "{} of {} candidates have the code and launches of another one: {} made no difference to them; 'hone check' of a kernel folder "
        "tells where it never does",
        run.repeated, run.evaluations, fmt::join(run.idle, ", "));
}

std::string profile_table(const TunedProblem& tuned) {
    const TuningProfile& profile = tuned.result.profile;
    if (profile.total == 0) return "";
    const double first = first_candidate_seconds(tuned);
    std::string text = fmt::format("profile of {}: {}, begun {} after the program; {}\n", short_key(tuned.problem, known_families()),
                                   duration(profile.total), duration(tuned.begun_after),
                                   first > 0 ? fmt::format("first candidate known {} after it", duration(first)) : "no candidate was measured");
    Table table({{"part"}, {"seconds", Table::Align::right}, {"share", Table::Align::right}, {"what"}});
    for (const auto& [name, seconds, help] : profile_rows(profile))
        table.row({name, fmt::format("{:.3f}", seconds), percent(seconds / profile.total), help});
    return text + table.text();
}

Json profile_json(const TunedProblem& tuned) {
    Json document{{"total_seconds", tuned.result.profile.total},
                  {"begun_after_seconds", tuned.begun_after},
                  {"first_candidate_seconds", first_candidate_seconds(tuned)}};
    for (const auto& [name, seconds, help] : profile_rows(tuned.result.profile)) document[std::string(name) + "_seconds"] = seconds;
    return document;
}

std::string tuning_summary(const std::vector<TunedProblem>& problems) {
    std::vector<Record> records;
    std::vector<std::string> remarks;
    std::string rest;
    for (const auto& tuned : problems) {
        const std::string name = short_key(tuned.problem, known_families());
        if (tuned.result.record) {
            records.push_back(*tuned.result.record);
            remarks.push_back(search_line(tuned) + (tuned.result.prior ? "\n    " + prior_line(*tuned.result.prior) : ""));
        } else if (!tuned.result.interrupted) {
            rest += fmt::format("no result for {}: {}\n", name, tuned.result.why_none);
        }
        if (!tuned.not_stored.empty()) rest += fmt::format("not stored: {}: {}\n", name, tuned.not_stored);
        if (tuned.result.interrupted) rest += fmt::format("interrupted: {}; --resume goes on with it\n", name);
    }
    return (records.empty() ? "" : record_table(records, remarks)) + rest;
}

Json json_of(const TunedProblem& tuned) {
    const TuningProgress& run = tuned.result.progress;
    Json document{{"problem", json_of(tuned.problem)},
                  {"record", tuned.result.record ? json_of(*tuned.result.record) : Json()},
                  {"interrupted", tuned.result.interrupted},
                  {"already_tuned", tuned.already_tuned}};
    if (!tuned.result.record) document["reason"] = tuned.result.why_none;
    if (!tuned.result.busy.empty()) document["busy"] = tuned.result.busy;
    if (!tuned.not_stored.empty()) document["not_stored"] = tuned.not_stored;
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
                          {"measuring_share", run.measuring_share()},
                          {"repeated", run.repeated},
                          {"without_effect", run.idle}};
    if (run.outlook) document["search"]["expected_gain"] = run.outlook->gain;
    if (const auto& prior = tuned.result.prior) {
        document["prior"] = {{"members", prior->members}, {"evaluations_to_reach_the_best", prior->reached}};
        if (prior->without) document["prior"]["evaluations_without"] = *prior->without;
    }
    return document;
}

}  // namespace hone::tools
