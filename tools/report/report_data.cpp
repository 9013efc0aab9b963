#include "tools/report/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "foundation/number_text.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/records/record_diff.hpp"
#include "tools/records/record_kernel.hpp"
#include "tools/records/record_list.hpp"
#include "tools/records/record_table.hpp"
#include "tools/report/explanation.hpp"

namespace hone::tools {
namespace {

// Of 10^5 candidates five digits are enough to draw, and to say 1.00x; the shortest text of a sum
// of samples has seventeen.
double drawn(double value) {
    return number_at_head(fmt::format("{:.5g}", value)).value_or(0);
}

// Positions of things that occur often and are written once.
class Numbered {
  public:
    std::size_t of(const std::string& name) {
        const auto [place, added] = places_.emplace(name, places_.size());
        return place->second;
    }
    std::size_t size() const { return places_.size(); }

  private:
    std::unordered_map<std::string, std::size_t> places_;
};

Json description(const Family& family) {
    Json parameters = Json::array();
    for (const ProblemParameter& parameter : family.parameters)
        parameters.push_back({{"name", parameter.name}, {"help", parameter.help}, {"size", parameter.extent}});
    return {{"name", family.name}, {"summary", family.summary}, {"source", family.source}, {"parameters", std::move(parameters)}};
}

Json description(const DeviceFingerprint& device) {
    return {{"key", device_key(device)}, {"name", device.name},     {"target", to_string(device.target)}, {"architecture", device.architecture},
            {"units", device.units},     {"driver", device.driver}, {"compiler", device.compiler}};
}

constexpr std::array fields{"set",     "device",  "family",  "problem",   "purpose",   "config",      "median", "low",
                            "high",    "minimum", "samples", "unit",      "updates",   "operations",  "bytes",  "ceiling_fraction",
                            "ceiling", "safe",    "error",   "tolerance", "strategy",  "evaluations", "date",   "hone",
                            "source",  "found",   "remark",  "doubt",     "limit",     "joules",      "watts",  "meter",
                            "team",    "share",   "partner", "seed",      "conditions"};

Json row_of(const Record& record, int set, std::size_t device, const Families& families) {
    // JSON has no infinity: what was never verified has no error.
    const Json error = std::isfinite(record.verification_error) ? Json(record.verification_error) : Json();
    Json row{set,
             device,
             record.problem.family(),
             short_key(record.problem, families),
             record.purpose,
             record.config.key(),
             record.step.median,
             record.step.low,
             record.step.high,
             record.step.minimum,
             record.step.samples,
             record.counts.unit,
             record.counts.updates,
             record.counts.operations,
             record.counts.bytes,
             record.ceiling_fraction,
             record.ceiling,
             record.safe_seconds,
             error,
             record.tolerance,
             record.strategy,
             record.evaluations,
             record.date,
             record.versions.hone,
             record.versions.source_hash.substr(0, 16),
             record.found,
             remark(record),
             doubt(record),
             limit_text(record),
             record.energy ? record.energy->joules.median : 0,
             record.energy ? record.energy->watts : 0,
             record.energy ? record.energy->source : "",
             record.team ? team_line(*record.team) : "",
             record.hybrid ? record.hybrid->share : 1,
             record.hybrid ? record.hybrid->partner.name : "",
             record.seed ? std::to_string(*record.seed) : "",
             conditions_line(record)};
    return row;
}

// Records, devices and where each record stands.
class RecordRows {
  public:
    explicit RecordRows(const Families& families) : families_(families) {}

    void add(const std::vector<Record>& records, int set) {
        places_.resize(std::max(places_.size(), static_cast<std::size_t>(set) + 1));
        for (const Record& record : records) {
            const Json device = description(record.device);
            const std::size_t number = numbers_.of(device.dump(-1, ' ', false, Json::error_handler_t::replace));
            if (number == devices_.size()) devices_.push_back(device);
            places_[static_cast<std::size_t>(set)][subject(record)] = static_cast<std::int64_t>(rows_.size());
            rows_.push_back(row_of(record, set, number, families_));
        }
    }
    std::int64_t place(const std::optional<Record>& record, int set) const {
        if (!record) return -1;
        const auto& places = places_.at(static_cast<std::size_t>(set));
        const auto found = places.find(subject(*record));
        return found == places.end() ? -1 : found->second;
    }
    Json take_rows() { return std::move(rows_); }
    Json take_devices() { return std::move(devices_); }

  private:
    const Families& families_;
    Numbered numbers_;
    Json devices_ = Json::array();
    Json rows_ = Json::array();
    std::vector<std::unordered_map<std::string, std::int64_t>> places_;  // by set: subject to position
};

Json comparison(const std::string& before, const std::string& after, const std::vector<RecordChange>& changes, const RecordRows& rows,
                int after_set) {
    Json list = Json::array();
    for (const RecordChange& change : changes)
        list.push_back({rows.place(change.before, 0), rows.place(change.after, after_set), name_of(change.change), drawn(change.ratio),
                        drawn(change.confidence), change.other_configuration, change.other_source});
    return {{"before", before}, {"after", after}, {"mean_ratio", mean_ratio(changes)}, {"rows", std::move(list)}};
}

Json comparisons(const ReportContents& contents, const RecordRows& rows) {
    Json list = Json::array();
    std::map<std::string, std::vector<Record>> models;
    for (const Record& record : contents.records) models[device_key(record.device)].push_back(record);
    if (!contents.against.empty()) {
        std::set<std::string> others;
        for (const Record& record : contents.others) others.insert(device_key(record.device));
        // Two folders of one model each are compared as these models, else model by model.
        const bool two_models = models.size() == 1 && others.size() == 1;
        list.push_back(comparison(contents.database, contents.against, compare(contents.records, contents.others, !two_models), rows, 1));
    }
    for (auto before = models.begin(); before != models.end(); ++before)
        for (auto after = std::next(before); after != models.end(); ++after)
            list.push_back(comparison(before->first, after->first, compare(before->second, after->second, false), rows, 0));
    return list;
}

std::string title_of(const RunDescription& run, const Families& families) {
    try {
        return short_key(families.parse_problem(run.problem), families);
    } catch (const Error&) {
        return run.problem;  // of an application's family, or another tuner's
    }
}

struct Tried {
    const JournalEntry* entry;
    Config config;
};

bool same_tunables(const Config& a, const Config& b) {
    return std::ranges::equal(a.assignments(), b.assignments(), {}, &Assignment::name, &Assignment::name);
}

// Each candidate by its first evaluation, as the story counts them, where it has the same tunables
// as the first.
std::vector<Tried> candidates_of(const JournalText& journal) {
    std::vector<Tried> candidates;
    std::set<std::string> seen;
    for (const JournalEntry& entry : journal.entries) {
        if (entry.kind != JournalEntry::Kind::evaluation || is_finalist(entry) || !seen.insert(entry.config).second) continue;
        Config config = Config::parsed(entry.config);
        if (candidates.empty() || same_tunables(config, candidates.front().config)) candidates.push_back({&entry, std::move(config)});
    }
    return candidates;
}

Json json_of(const std::vector<Tried>& candidates, const Objective& objective) {
    Json tunables = Json::array();
    std::vector<std::map<Value, std::size_t>> places;
    const std::size_t dimensions = candidates.empty() ? 0 : candidates.front().config.assignments().size();
    for (std::size_t d = 0; d < dimensions; ++d) {
        std::map<Value, std::size_t>& values = places.emplace_back();
        for (const Tried& tried : candidates) values.emplace(tried.config.assignments()[d].value, 0);
        Json names = Json::array();
        for (auto& [value, place] : values) {
            place = names.size();
            names.push_back(to_string(value));
        }
        tunables.push_back({{"name", candidates.front().config.assignments()[d].name}, {"values", std::move(names)}});
    }
    Json elapsed = Json::array();
    Json costs = Json::array();
    Json status = Json::array();
    Json values = Json::array();
    for (const auto& [entry, config] : candidates) {
        const double value = entry->outcome.measured() ? cost(objective, entry->outcome) : 0;
        elapsed.push_back(drawn(entry->elapsed));
        costs.push_back(std::isfinite(value) ? drawn(value) : 0);
        status.push_back(to_string(entry->outcome.status));
        for (std::size_t d = 0; d < dimensions; ++d) values.push_back(places[d].at(config.assignments()[d].value));
    }
    return {{"tunables", std::move(tunables)},
            {"elapsed", std::move(elapsed)},
            {"costs", std::move(costs)},
            {"status", std::move(status)},
            {"values", std::move(values)}};
}

struct Searches {
    Json summaries = Json::array();
    std::vector<ReportPart> parts;
    std::vector<std::string> notes;
};

// What is in the part of a search.
Json explained(const NamedJournal& named, const std::string& winner, const Families& families) {
    const SearchExplanation search = explain_search(named.journal, winner, families);
    Json document = tools::json_of(search, named.journal.run, named.name);
    document["missing"] = search.missing;
    return {{"explanation", std::move(document)}, {"candidates", json_of(candidates_of(named.journal), search.story.objective)}};
}

Searches searches_of(const ReportContents& contents, const Families& families) {
    std::map<std::pair<std::string, std::string>, std::string> winners;
    // Journals of other tuners know a device by its name alone.
    for (const Record& record : contents.records)
        for (const std::string& device : {device_key(record.device), record.device.name})
            if (record.purpose.empty()) winners[{record.problem.key(), device}] = record.config.key();
    const auto count = std::ssize(contents.journals);
    std::vector<Json> documents(contents.journals.size());
    std::vector<std::string> failures(contents.journals.size());
    // Each has a model of its own, which takes a second where much was measured.
#pragma omp parallel for schedule(dynamic)
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const NamedJournal& named = contents.journals[static_cast<std::size_t>(i)];
        const RunDescription& run = named.journal.run;
        try {
            auto winner = winners.find({run.problem, device_key(run.device)});
            if (winner == winners.end()) winner = winners.find({run.problem, run.device.name});
            documents[static_cast<std::size_t>(i)] = explained(named, winner == winners.end() ? "" : winner->second, families);
        } catch (const std::exception& error) {
            failures[static_cast<std::size_t>(i)] = error.what();
        }
    }
    Searches searches;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const NamedJournal& named = contents.journals[i];
        if (!failures[i].empty()) {
            searches.notes.push_back(named.name + " is left out: " + failures[i]);
            continue;
        }
        const RunDescription& run = named.journal.run;
        const Json& document = documents[i]["explanation"];
        Json summary{{"part", fmt::format("search-{}", searches.parts.size())},
                     {"problem", title_of(run, families)},
                     {"family", run.problem.substr(0, run.problem.find(' '))},
                     {"device", device_key(run.device)},
                     {"device_name", run.device.name},
                     {"seed", run.seed ? std::to_string(*run.seed) : ""},
                     {"version", run.version}};
        for (const char* const name : {"journal", "objective", "strategy", "members", "evaluations", "measured", "complete", "seconds", "failures",
                                       "best", "median", "worst", "safe", "improvements", "explained"})
            if (document.contains(name)) summary[name] = document[name];
        searches.parts.push_back({summary["part"].get<std::string>(), std::move(documents[i])});
        searches.summaries.push_back(std::move(summary));
    }
    return searches;
}

struct Kernels {
    Json index = Json::array();
    std::vector<ReportPart> parts;
};

// The kernels of one device model and family: most of their lines are the same.
struct KernelTexts {
    Numbered numbers;
    Json lines = Json::array();
    Json kernels = Json::object();

    void add(std::size_t place, const RecordKernel& kernel) {
        const KernelSource& source = *kernel.source;
        Json text = Json::array();
        for (std::size_t begin = 0; begin < source.text.size();) {
            const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
            const std::string line = source.text.substr(begin, end - begin);
            const std::size_t number = numbers.of(line);
            if (number == lines.size()) lines.push_back(line);
            text.push_back(number);
            begin = end + 1;
        }
        kernels[std::to_string(place)] = {
            {"measured", kernel.state == KernelState::same}, {"launches", launch_lines(source)}, {"lines", std::move(text)}};
    }
};

Kernels kernels_of(const std::vector<Record>& records, const Families& families) {
    std::map<std::pair<std::string, std::string>, KernelTexts> groups;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (const RecordKernel kernel = kernel_today(records[i], families); kernel.source)
            groups[{device_key(records[i].device), records[i].problem.family()}].add(i, kernel);
    Kernels result;
    for (auto& [group, texts] : groups) {
        const std::string name = fmt::format("kernels-{}", result.parts.size());
        result.index.push_back({{"device", group.first}, {"family", group.second}, {"part", name}});
        result.parts.push_back({name, {{"lines", std::move(texts.lines)}, {"kernels", std::move(texts.kernels)}}});
    }
    return result;
}

Json rivals_of(const ReportContents& contents) {
    Json list = Json::array();
    for (const NamedRivals& named : contents.rivals)
        for (const Rival& rival : named.rivals)
            list.push_back(
                {{"device", named.device}, {"problem", rival.problem}, {"seconds", rival.seconds}, {"ours", rival.ours}, {"table", named.name}});
    return list;
}

}  // namespace

std::vector<ReportPart> report_parts(const ReportContents& contents, const Families& families) {
    Json known = Json::array();
    for (const Family& family : families) known.push_back(description(family));
    RecordRows rows(families);
    rows.add(contents.records, 0);
    rows.add(contents.others, 1);
    Json compared = comparisons(contents, rows);
    Searches searches = searches_of(contents, families);
    Kernels kernels = contents.kernels ? kernels_of(contents.records, families) : Kernels{};
    std::vector<std::string> notes = contents.notes;
    notes.insert(notes.end(), searches.notes.begin(), searches.notes.end());
    std::vector<ReportPart> parts;
    parts.push_back({"main",
                     {{"hone", HONE_VERSION},
                      {"database", contents.database},
                      {"against", contents.against},
                      {"notes", notes},
                      {"families", std::move(known)},
                      {"devices", rows.take_devices()},
                      {"fields", fields},
                      {"records", rows.take_rows()},
                      {"comparisons", std::move(compared)},
                      {"rivals", rivals_of(contents)},
                      {"searches", std::move(searches.summaries)},
                      {"kernels", std::move(kernels.index)}}});
    for (auto* const list : {&searches.parts, &kernels.parts})
        for (ReportPart& part : *list) parts.push_back(std::move(part));
    return parts;
}

}  // namespace hone::tools
