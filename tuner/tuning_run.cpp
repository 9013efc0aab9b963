#include "tuner/tuning_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/processors.hpp"
#include "foundation/random_words.hpp"
#include "foundation/text.hpp"
#include "runtime/kernel_hash.hpp"
#include "tuner/disturbance.hpp"
#include "tuner/journal.hpp"
#include "tuner/listed_space.hpp"
#include "tuner/prior.hpp"
#include "tuner/restriction.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::uint64_t default_seed = 1;
constexpr std::int64_t largest_journal = std::int64_t{1} << 30;
constexpr double finals_share = 0.25;  // of the budget

constexpr double usual_part = 0.01;  // of the outlook, where no run waits for one

double system_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Candidates ahead of their reports: enough to give every compiler its work.
int default_window() {
    return std::max(TunerSettings{}.window, processors().usable);
}

TunerSettings with_window(TunerSettings settings, int window) {
    settings.window = window;
    return settings;
}

/// One run over one problem.
class Run {
  public:
    Run(const Family& family, const Problem& problem, const Device& device, Evaluator& evaluator, const TuningOptions& options,
        const TuningHooks& hooks)
        : family_(family),
          problem_(problem),
          device_(device),
          evaluator_(evaluator),
          waited_before_(evaluator.waiting()),
          options_(options),
          hooks_(hooks),
          made_(now()),
          space_(listed_space(family.space(problem, device.limits), [this] { return interrupted() || too_late(); })),
          file_(journal_path(options.folder, problem, device.fingerprint)),
          description_(describe()),
          objective_(parse_objective(description_.objective)),
          only_(requested()),
          tuner_(space_, find_strategy(description_.strategy), *description_.seed, description_.settings, scope()),
          journal_(options.resume ? Journal::resume(file_, description_) : Journal::start(file_, description_)),
          ceilings_(options.ceilings),
          rule_(options.until, description_.settings.window),
          start_(made_) {
        progress_.members = tuner_.members();
        profile_.setup = now() - made_;
    }

    TuningResult operator()() {
        replay();
        while (!tuner_.done() && !interrupted() && !overdue()) step();
        TuningResult result;
        result.interrupted = !tuner_.done() && interrupted();
        if (tuner_.done() && !was_done_) append(JournalEntry::Kind::done);
        evaluator_.abandon();
        update();
        result.progress = progress_;
        result.profile = profile();
        result.device = {device_.fingerprint, device_.limits};
        result.wrong = found_wrong();
        if (before_finals_) result.busy = SystemLoad::busy_beside(device_, *before_finals_, load());
        if (!description_.prior.empty()) result.prior = prior_gain();
        if (progress_.best) {
            result.record = record(*progress_.best, result.busy);
            result.why_not_kept = why_not_kept(progress_.best->config);
        } else {
            result.why_none = why_none();
        }
        return result;
    }

  private:
    RunDescription describe() const {
        RunDescription run;
        run.strategy = strategies().front().name;
        run.seed = default_seed;
        run.settings = options_.tuner;
        for (const Config& config : options_.prior) run.prior.push_back(config.key());
        RunDescription journal = run;
        if (options_.resume && Journal::peek(file_, journal)) {
            journal.settings = run.settings.window == 0 ? with_window(run.settings, journal.settings.window) : run.settings;
            run = journal;
        }
        if (run.settings.window == 0) run.settings.window = std::max(default_window(), options_.least_window);
        run.take(options_);
        run.objective = parse_objective(run.objective).name;
        run.problem = problem_.key();
        run.device = device_.fingerprint;
        const Members members = space_.members();
        run.space = space_hash(space_, members);
        run.members = std::ssize(members);
        run.version = HONE_VERSION;
        return run;
    }

    /// The members that the request leaves, where it leaves some out.
    std::optional<Members> requested() const {
        std::optional<Members> only;
        if (!description_.only.empty()) only = restricted_members(space_, space_.members(), description_.only);
        if (description_.among > 0) only = drawn_members(space_, only ? *only : space_.members(), description_.among, *description_.seed);
        return only;
    }

    TunerScope scope() const {
        TunerScope scope{objective_, only_, {}};
        for (const std::string& key : description_.prior) scope.promising.push_back(space_.index_of(space_.parse(key)));
        return scope;
    }

    double now() const { return hooks_.clock ? hooks_.clock() : system_seconds(); }
    double elapsed() const { return before_ + now() - start_; }
    LoadReading load() const { return hooks_.load ? hooks_.load() : SystemLoad().read(); }
    bool interrupted() const { return hooks_.interrupted && hooks_.interrupted(); }

    void append(JournalEntry::Kind kind) {
        JournalEntry entry;
        entry.kind = kind;
        entry.elapsed = elapsed();
        journal_.append(entry);
    }

    void count(const Candidate& candidate, const Outcome& outcome) {
        if (candidate.purpose == Candidate::Purpose::search) {
            ++progress_.counts[outcome.status];
            note_code(candidate.config, outcome);
        }
        progress_.compile_seconds += outcome.compile_seconds;
        progress_.verify_seconds += outcome.verify_seconds;
        progress_.measure_seconds += outcome.measure_seconds;
        ++rounds_;
        if (!tuner_.finals()) progress_.outlook = tuner_.outlook(rule_.part() > 0 ? rule_.part() : usual_part);
        if (!is_finalist(candidate)) rule_.note(progress_.outlook);
        history_.push_back({JournalEntry::Kind::evaluation, 0, candidate.index, candidate.purpose, "", outcome});
    }

    void note_code(const Config& config, const Outcome& outcome) {
        if (!outcome.code) return;
        const auto [first, added] = codes_.try_emplace(*outcome.code, config);
        if (added) return;
        ++progress_.repeated;
        for (const Assignment& assignment : config.assignments())
            if (const Value* const other = first->second.find(assignment.name); other == nullptr || *other != assignment.value)
                progress_.idle.insert(assignment.name);
    }

    void update() {
        progress_.elapsed = elapsed();
        progress_.evaluations = tuner_.evaluations();
        progress_.finals = tuner_.finals();
        progress_.compared = tuner_.compared();
        progress_.best = tuner_.best();
        progress_.safe = tuner_.safe();
    }

    /// A candidate that was asked for, and its outcome where that is known before those of older
    /// ones.
    struct Asked {
        Candidate candidate;
        std::optional<Outcome> outcome;
        bool prepared = false;
    };

    /// Reports the outcomes that are due. The tuner's candidates follow from its reports, which
    /// come in the order of the candidates.
    void settle() {
        while (!asked_.empty() && asked_.front().outcome) {
            const Asked oldest = std::move(asked_.front());
            asked_.pop_front();
            tuner_.report(oldest.candidate, *oldest.outcome);
            count(oldest.candidate, *oldest.outcome);
        }
    }

    /// The candidate that a journal's line is about, among those that are asked for and have no
    /// outcome yet.
    Asked* asked_for(const JournalEntry& entry) {
        const auto is_it = [&](const Asked& asked) {
            const Candidate& candidate = asked.candidate;
            return !asked.outcome && candidate.index == entry.index && candidate.purpose == entry.purpose && candidate.config.key() == entry.config;
        };
        while (true) {
            const auto found = std::find_if(asked_.begin(), asked_.end(), is_it);
            if (found != asked_.end()) return &*found;
            auto candidate = tuner_.next();
            if (!candidate) return nullptr;
            asked_.push_back({std::move(*candidate), {}});
        }
    }

    /// Where a search last was, in the journal; its size, where it never was.
    std::size_t last_of_search() const {
        const auto& entries = journal_.entries();
        std::size_t last = entries.size();
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (entries[i].kind == JournalEntry::Kind::evaluation && !is_finalist(entries[i])) last = i;
        return last;
    }

    /// Whether the search ended at this line of the journal, and has no more to spend now. Where it
    /// went on later, or compared nothing, or has a longer budget now than it had then, finals are
    /// passed over.
    bool ends_at(std::size_t line) {
        if (!tuner_.compared() || (last_of_search() < journal_.entries().size() && line < last_of_search())) return false;
        before_ = journal_.entries().back().elapsed;
        return spent();
    }

    /// Tells the tuner what the journal knows: it goes the way that it went before.
    void replay() {
        for (std::size_t line = 0; line < journal_.entries().size(); ++line) {
            const JournalEntry& entry = journal_.entries()[line];
            before_ = entry.elapsed;
            if (entry.kind == JournalEntry::Kind::done) continue;
            if (entry.kind == JournalEntry::Kind::finish) {
                if (ends_at(line)) finish();
                continue;
            }
            if (is_finalist(entry) && !tuner_.finals()) continue;
            Asked* const asked = asked_for(entry);
            if (asked == nullptr)
                throw Error("journal " + file_.string(),
                            fmt::format("{} was evaluated where this run would evaluate {}", entry.config,
                                        asked_.empty() ? "nothing" : asked_.front().candidate.config.key()),
                            "tune again without --resume; the journal is kept");
            asked->outcome = entry.outcome;
            settle();
            if (entry.purpose == Candidate::Purpose::search) ++progress_.replayed;
        }
        was_done_ = tuner_.done() && journal_.complete();
    }

    /// Measurements in the finals, where the safe configuration takes part.
    int final_measurements() const { return (description_.settings.finalists + 1) * description_.settings.final_rounds; }

    /// No sampling period may last longer: the finals are to take at most a quarter of the budget.
    double most_sampling_seconds() const {
        return options_.seconds > 0 ? finals_share * options_.seconds / final_measurements() : std::numeric_limits<double>::infinity();
    }

    /// Seconds that the finals will take, foreseen from the evaluations so far.
    double reserve() const {
        const double mean = rounds_ == 0 ? 0 : (progress_.verify_seconds + progress_.measure_seconds) / rounds_;
        // Finalists are verified with other data, too, which are made then.
        return std::min(finals_share * options_.seconds, mean * final_measurements() + evaluator_.waiting().reference - waited_before_.reference);
    }

    /// Nothing is spent before the safe configuration is known. Finals that take longer than
    /// foreseen are shortened once.
    bool spent() const {
        if (tuner_.finals()) return !shortened_ && options_.seconds > 0 && elapsed() >= options_.seconds;
        if (tuner_.evaluations() == 0) return false;
        if (options_.evaluations > 0 && tuner_.evaluations() >= options_.evaluations) return true;
        if (rule_.met()) return true;
        return options_.seconds > 0 && elapsed() + reserve() >= options_.seconds;
    }

    /// The space is enumerated within the budget, too; a short one leaves it a second of the grace.
    bool too_late() const { return options_.seconds > 0 && now() - made_ >= std::max(options_.seconds, std::min(options_.grace, 1.0)); }

    /// Nothing goes on for longer, not even what must be: a compiler may hang at the first
    /// candidate, a device in the finals. Counted from this process's start, so that a resumed run
    /// has its grace again.
    bool overdue() const { return options_.seconds > 0 && now() - start_ >= std::max(0.0, options_.seconds - before_) + options_.grace; }

    bool may_fetch() const {
        const int known = tuner_.evaluations() + static_cast<int>(asked_.size());
        return tuner_.finals() || options_.evaluations <= 0 || known < options_.evaluations;
    }

    void fetch() {
        while (may_fetch()) {
            auto candidate = tuner_.next();
            if (!candidate) break;
            asked_.push_back({std::move(*candidate), {}});
        }
        for (Asked& asked : asked_)
            if (!asked.outcome && !std::exchange(asked.prepared, true)) prepare(asked);
    }

    void prepare(const Asked& asked) {
        if (!begun_) evaluator_.set_objective(objective_);
        if (!begun_) evaluator_.begin(problem_, *description_.seed, most_sampling_seconds());
        evaluator_.prepare(asked.candidate);
        if (!std::exchange(begun_, true)) foresee();
    }

    /// Kernels for processors take most of their tunables as arguments: where some members show
    /// that the space has few texts, all of these are worth compiling.
    void foresee() {
        constexpr std::uint64_t looked_at = 128;
        constexpr std::size_t most_texts = 64;
        if (!traits_of(device_.limits.target).shares_processors) return;
        const Members members_left = only_.value_or(space_.members());
        if (members_left.empty()) return;
        std::set<std::string> texts;
        std::vector<Config> members;
        for (std::uint64_t number = 0; number < looked_at; ++number) {
            Config config = space_.at(members_left[mixed(*description_.seed + number) % members_left.size()]);
            const KernelSource source = family_.kernel(problem_, config, device_.limits);
            if (texts.insert(kernel_hash(source.text)).second) members.push_back(std::move(config));
            if (texts.size() > most_texts) return;
        }
        evaluator_.foresee(members);
    }

    /// The budget is spent; what is not yet reported is dropped.
    void finish() {
        shortened_ = tuner_.finals();
        tuner_.finish();
        asked_.clear();
    }

    TuningProfile profile() const {
        const WaitingTime waited = evaluator_.waiting();
        TuningProfile profile = profile_;
        profile.setup += waited.setup - waited_before_.setup;
        profile.reference = waited.reference - waited_before_.reference;
        profile.compile = waited.compile - waited_before_.compile;
        profile.total = now() - made_;
        return profile;
    }

    /// Of what was just evaluated.
    void note_time(const Outcome& outcome) {
        profile_.verify += outcome.verify_seconds;
        profile_.measure += outcome.measure_seconds;
        if (profile_.first_candidate == 0 && outcome.measured()) profile_.first_candidate = now() - made_;
        constexpr int first_candidates = 3;
        const bool early = tuner_.evaluations() < std::min<std::int64_t>(first_candidates, tuner_.members()) && !tuner_.finals();
        if (asked_ceilings_ || !hooks_.ceilings || early) return;
        asked_ceilings_ = true;
        const double begin = now();
        ceilings_ = hooks_.ceilings();
        profile_.ceilings = now() - begin;
    }

    void step() {
        if (spent()) {
            append(JournalEntry::Kind::finish);
            finish();
            evaluator_.abandon();
        }
        fetch();
        if (asked_.empty()) return;
        if (is_finalist(asked_.front().candidate) && !before_finals_) before_finals_ = load();
        const auto evaluated = evaluate();
        if (!evaluated) return;
        const auto& [candidate, outcome] = *evaluated;
        journal_.append({JournalEntry::Kind::evaluation, elapsed(), candidate.index, candidate.purpose, candidate.config.key(), outcome});
        settle();
        update();
        if (hooks_.progress) hooks_.progress(progress_, candidate, outcome);
        note_time(outcome);
    }

    /// Waits for the outcome of a candidate that has none, the oldest or one that another device
    /// had.
    std::optional<std::pair<Candidate, Outcome>> evaluate() {
        std::vector<Candidate> due;
        std::vector<Asked*> places;
        for (Asked& asked : asked_) {
            if (asked.outcome) continue;
            due.push_back(asked.candidate);
            places.push_back(&asked);
        }
        const auto best = tuner_.best();
        const double incumbent = best && due.front().purpose == Candidate::Purpose::search ? best->outcome.seconds() : 0;
        const auto stop = [this] { return interrupted() || spent() || overdue(); };
        const auto evaluated = evaluator_.evaluate_next(due, incumbent, stop);
        if (!evaluated) return std::nullopt;
        places[evaluated->place]->outcome = evaluated->outcome;
        return std::pair(due[evaluated->place], evaluated->outcome);
    }

    Record record(const Tuner::Best& best, const std::string& busy) const {
        const KernelSource source = family_.kernel(problem_, best.config, device_.limits);
        Record record;
        record.problem = problem_;
        record.config = best.config;
        record.device = device_.fingerprint;
        record.step = best.outcome.step;
        record.counts = family_.counts(problem_);
        record.verification_error = best.outcome.verification_error;
        record.tolerance = best.outcome.tolerance;
        if (progress_.safe && progress_.safe->measured()) {
            record.safe_seconds = progress_.safe->step.median;
            if (progress_.safe->energy) record.safe_joules = progress_.safe->energy->joules.median;
        }
        record.ceiling_fraction = ceiling_seconds(record.counts, problem_.precision(), ceilings_, record.ceiling) / record.step.median;
        record.purpose = objective_.purpose;
        record.team = options_.team ? options_.team : team_of(device_.fingerprint);
        record.energy = best.outcome.energy;
        record.found = "offline";
        record.strategy = description_.strategy;
        record.seed = description_.seed;
        record.evaluations = progress_.evaluations;
        record.conditions = conditions_of(best.outcome.device, busy);
        record.measured_on = best.outcome.measured_on.value_or("");
        record.date = utc_date();
        record.versions = {HONE_VERSION, kernel_hash(source.text)};
        record.disturbed = disturbance(record, source.executed_operations, most_cache_bytes(device_.limits), ceilings_);
        if (!record.disturbed.empty() && !busy.empty()) record.disturbed += "; meanwhile " + busy;
        return record;
    }

    std::vector<WrongResult> found_wrong() const {
        std::map<std::int64_t, std::string> reasons;
        for (const JournalEntry& entry : history_)
            if (entry.outcome.status == Status::wrong) reasons.emplace(entry.index, entry.outcome.reason);
        std::vector<WrongResult> wrong;
        for (const auto& [index, reason] : reasons) {
            const Config config = space_.at(index);
            const std::string hash = kernel_hash(family_.kernel(problem_, config, device_.limits).text);
            wrong.push_back({problem_, config, hash, reason + "; found by a tuning run"});
        }
        return wrong;
    }

    PriorGain prior_gain() const {
        constexpr double near = 1.01;
        double least = std::numeric_limits<double>::infinity();
        for (const JournalEntry& entry : history_)
            if (!is_finalist(entry)) least = std::min(least, cost(objective_, entry.outcome));
        PriorGain gain{static_cast<int>(description_.prior.size()), evaluations_to_reach(history_, objective_, near * least).value_or(0), {}};
        try {
            const std::string previous = file_.string() + ".previous";
            if (!std::filesystem::exists(previous)) return gain;
            const JournalText journal = parse_journal(read_file(previous, largest_journal), previous);
            const RunDescription& run = journal.run;
            if (run.space == description_.space && run.device == description_.device && run.objective == description_.objective &&
                run.only == description_.only && run.among == description_.among && run.prior.empty())
                gain.without = evaluations_to_reach(journal.entries, objective_, near * least);
        } catch (const Error&) {  // a journal that cannot be read tells nothing
        }
        return gain;
    }

    std::string why_none() const {
        if (!progress_.safe && overdue())
            return fmt::format("the budget was spent before the safe configuration was compiled, verified and measured ({:.3g} s, with grace)",
                               now() - start_);
        if (!progress_.safe) return "the run ended before the first candidate was evaluated";
        return fmt::format("none of {} candidates could be measured; the safe configuration: {}: {}", progress_.evaluations,
                           to_string(progress_.safe->status), progress_.safe->reason);
    }

    std::string why_not_kept(const Config& best) const {
        if (!progress_.compared)
            return fmt::format("it is the safe configuration, and none of the other {} was measured in this time", tuner_.members() - 1);
        if (const auto search = tuner_.contradicted())
            return fmt::format("its step takes {} in the finals and took {} in the search: one of them is wrong; tune again on a quiet machine",
                               text::duration(progress_.best->outcome.step.median), text::duration(search->step.median));
        const auto only = parse_restriction(space_, description_.only);
        if (only && !only(best)) return "it is the safe configuration, which is as fast as the best of those that were asked for";
        return "";
    }

    const Family& family_;
    const Problem& problem_;
    const Device& device_;
    Evaluator& evaluator_;
    WaitingTime waited_before_;
    const TuningOptions& options_;
    const TuningHooks& hooks_;
    double made_;  ///< when
    SearchSpace space_;
    std::filesystem::path file_;
    RunDescription description_;
    Objective objective_;
    std::optional<Members> only_;  ///< that may be chosen; nothing: all
    Tuner tuner_;
    Journal journal_;
    TuningProgress progress_;
    std::vector<JournalEntry> history_;    ///< evaluations, replayed ones included
    std::map<std::string, Config> codes_;  ///< the first candidate that executes each
    std::deque<Asked> asked_;              ///< and not reported, in the order of the tuner
    std::optional<LoadReading> before_finals_;
    Ceilings ceilings_;
    TuningProfile profile_;  ///< as far as the run itself knows
    bool asked_ceilings_ = false;
    bool begun_ = false;
    bool shortened_ = false;  ///< the finals
    bool was_done_ = false;   ///< before this process began
    int rounds_ = 0;          ///< evaluations, finals counted
    double before_ = 0;       ///< seconds that the journal tells of
    GainRule rule_;
    double start_ = 0;  ///< of what comes after
};

}  // namespace

TuningResult tune(const Family& family, const Problem& problem, const Device& device, Evaluator& evaluator, const TuningOptions& options,
                  const TuningHooks& hooks) {
    try {
        return Run(family, problem, device, evaluator, options, hooks)();
    } catch (const ListingStopped& stopped) {
        TuningResult result;
        result.interrupted = hooks.interrupted && hooks.interrupted();
        result.why_none = stopped.what();
        return result;
    }
}

std::string keep_result(const TuningResult& result, const Families& families, const std::filesystem::path& folder) {
    mark_wrong(families, folder, result.device, result.wrong);
    if (!result.record) return result.why_none;
    if (!result.why_not_kept.empty()) return result.why_not_kept;
    Database found(families);
    found.add(*result.record);
    found.merge_into(folder);
    return "";
}

}  // namespace hone::inline v0_1
