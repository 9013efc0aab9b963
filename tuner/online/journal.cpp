#include "tuner/online/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "foundation/error.hpp"
#include "foundation/processors.hpp"
#include "runtime/kernel_hash.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr auto patience = std::chrono::milliseconds(500);  // the application may be waiting

/// The file of another run, or one that cannot be read, gives way.
Journal open(const std::filesystem::path& file, const RunDescription& run) {
    try {
        return Journal::resume(file, run);
    } catch (const Error&) {
        return Journal::start(file, run);
    }
}

OnlinePolicy fresh(const OnlineNotes& notes, const OnlineRules& rules, std::int64_t incumbent) {
    std::vector<std::int64_t> promising;
    for (const std::string& key : notes.run.prior) promising.push_back(notes.space.index_of(notes.space.parse(key)));
    OnlineRules own = rules;
    own.tuner = notes.run.settings;
    return {notes.space, find_strategy(notes.run.strategy), *notes.run.seed, incumbent, own, promising};
}

/// Members that a search beside an application begins with: the incumbent, and its neighbours in
/// which one number has its next greater value. A safe configuration demands little of a device, so
/// that it runs everywhere: what gains is to ask for more. A neighbour's text is about as short as
/// that of what runs already, so it is compiled soon.
std::vector<std::string> tried_first(const SearchSpace& space, const Config& incumbent) {
    std::vector<Config> first{incumbent};
    const std::vector<std::size_t> levels = space.levels(space.index_of(incumbent));
    for (std::size_t tunable = 0; tunable < levels.size(); ++tunable) {
        const std::vector<Value>& values = space.tunables()[tunable].values;
        const std::size_t next = levels[tunable] + 1;
        if (next >= values.size() || !std::holds_alternative<std::int64_t>(values[next]) || values[next] < values[levels[tunable]]) continue;
        std::vector<std::size_t> changed = levels;
        changed[tunable] = next;
        if (const auto index = space.index_of(changed)) first.push_back(space.at(*index));
    }
    std::vector<std::string> keys;
    for (const Config& config : first)
        if (config != space.safe() && !space.check(config)) keys.push_back(config.key());
    return keys;
}

bool replay(OnlinePolicy& policy, const std::vector<JournalEntry>& entries, const std::function<bool()>& stop) {
    for (const JournalEntry& entry : entries) {
        if (stop()) return true;
        if (entry.kind == JournalEntry::Kind::finish) policy.resume_finish();
        if (entry.kind != JournalEntry::Kind::evaluation) continue;
        if (!policy.resume({entry.index, {}, entry.purpose}, entry.outcome)) return false;
    }
    return true;
}

}  // namespace

void open_notes(OnlineNotes& notes, const std::filesystem::path& folder, const Family& family, const Problem& problem, const Device& device,
                const Config& incumbent, const OnlineRules& rules, const std::string& strategy, std::uint64_t seed,
                const std::function<bool()>& stop) {
    notes.folder = folder;
    notes.file = journal_path(folder, problem, device.fingerprint);
    notes.file.replace_filename(notes.file.stem().string() + "-online.jsonl");
    const SearchSpace space = family.space(problem, device.limits);
    const Members members = space.members(stop);
    if (stop()) return;
    notes.space = SearchSpace::of_members(space.forms(), members, space.index_of(space.safe()));
    notes.run.strategy = strategies().front().name;
    notes.run.seed = seed;
    notes.run.settings = rules.tuner;
    notes.run.prior = tried_first(notes.space, incumbent);
    try {
        Journal::peek(notes.file, notes.run);
    } catch (const Error&) {  // damaged; `open` puts it aside
    }
    if (!strategy.empty()) notes.run.strategy = strategy;
    notes.run.problem = problem.key();
    notes.run.device = device.fingerprint;
    notes.run.space = space_hash(notes.space, members);
    notes.run.members = std::ssize(members);
    notes.run.version = HONE_VERSION;
    notes.journal.emplace(open(notes.file, notes.run));
    const std::int64_t index = notes.space.index_of(incumbent);
    notes.policy.emplace(fresh(notes, rules, index));
    if (replay(*notes.policy, notes.journal->entries(), stop)) return;
    notes.policy.reset();
    notes.journal.reset();  // releases it
    notes.journal.emplace(Journal::start(notes.file, notes.run));
    notes.policy.emplace(fresh(notes, rules, index));
}

void OnlineNotes::fail(const std::string& reason) {
    if (failed) return;
    failed = true;
    fmt::print(stderr, "hone: warning: what online tuning finds out is not kept: {}\n", reason);
}

void append(OnlineNotes& notes, const std::vector<OnlineEvent>& events, double elapsed) {
    if (notes.failed) return;
    for (const OnlineEvent& event : events) {
        if (event.kind == OnlineEvent::Kind::reopened) {
            ++*notes.run.seed;
            notes.run.prior = {event.candidate.config.key()};
            notes.journal.reset();
            notes.journal.emplace(Journal::start(notes.file, notes.run));
            continue;
        }
        JournalEntry entry;
        entry.elapsed = elapsed;
        entry.index = event.candidate.index;
        entry.purpose = event.candidate.purpose;
        entry.config = event.candidate.config.key();
        entry.outcome = event.outcome;
        if (event.kind == OnlineEvent::Kind::finish) entry.kind = JournalEntry::Kind::finish;
        if (event.kind == OnlineEvent::Kind::done) entry.kind = JournalEntry::Kind::done;
        notes.journal->append(entry);
    }
}

void keep_record(const OnlineNotes& notes, const Families& families, const Problem& problem, const Device& device, const Config& config,
                 const Outcome& outcome, double safe_seconds, int evaluations) {
    Record record;
    record.problem = problem;
    record.config = config;
    record.device = device.fingerprint;
    record.step = outcome.step;
    record.counts = families.of(problem).counts(problem);
    record.verification_error = outcome.verification_error;
    record.tolerance = outcome.tolerance;
    record.verified_on = outcome.verified_on.value_or("");
    record.safe_seconds = safe_seconds;
    record.strategy = notes.run.strategy;
    record.seed = notes.run.seed;
    record.conditions = conditions_of(outcome.device);
    record.evaluations = evaluations;
    record.date = utc_date();
    record.versions = {HONE_VERSION, kernel_hash(families.of(problem).kernel(problem, config, device.limits).text)};
    record.found = "online";
    record.team = team_of(device.fingerprint);
    record.disturbed = implausible_gain(record);
    Database database(families);
    database.add(record);
    database.merge_into(notes.folder, patience);
}

void mark_found_wrong(const OnlineNotes& notes, const Families& families, const Problem& problem, const Device& device, const Config& config,
                      const std::string& reason) {
    const std::string hash = kernel_hash(families.of(problem).kernel(problem, config, device.limits).text);
    mark_wrong(families, notes.folder, {device.fingerprint, device.limits}, {{problem, config, hash, reason + "; found by online tuning"}}, patience);
}

}  // namespace hone::inline v0_1
