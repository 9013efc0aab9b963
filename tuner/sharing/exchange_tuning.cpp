#include "tuner/sharing/exchange_tuning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "runtime/cuda/nvml.hpp"
#include "runtime/kernel_hash.hpp"
#include "tuner/outcome.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double least_gain = 0.01;
constexpr int most_rounds = 3, last_turns = 3;

template <typename Value>
void set_first(const std::vector<Value>& from, auto& to) {
    if (!from.empty()) to = from.front();
}

// Whether all ranks have the same words, bit by bit.
bool same_on_all(Communicator& communicator, bool here) {
    return all_reduce(communicator, Reduction::smallest, here ? 1 : 0) > 0;
}

class Search {
  public:
    Search(Communicator& communicator, const ExchangeSpace& space, const std::function<ExchangePeriod()>& run,
           const std::function<void(const ExchangeTrial&)>& tell)
        : communicator_(communicator), space_(space), run_(run), tell_(tell) {}

    ExchangeTuning find() {
        ExchangeTrial best = measured(space_.usual());
        for (int round = 0; round < most_rounds; ++round) {
            const ExchangeSettings before = best.settings;
            try_each(space_.messages, &ExchangeSettings::messages, best);
            try_each(space_.edges, &ExchangeSettings::edges, best);
            try_each(space_.depth, &ExchangeSettings::depth, best);
            try_each(space_.every, &ExchangeSettings::every, best);
            if (best.settings == before) break;
        }
        return compared(best);
    }

  private:
    ExchangePeriod period_of(const ExchangeSettings& settings) {
        communicator_.set_exchange_settings(settings);
        ExchangePeriod period = run_();
        const auto samples = static_cast<double>(period.seconds.size());
        if (samples == 0 || all_reduce(communicator_, Reduction::smallest, samples) != all_reduce(communicator_, Reduction::largest, samples))
            throw Error("tuning of exchanges", "ranks have different numbers of samples, or none", "take as many on all");
        for (double& seconds : period.seconds) seconds = all_reduce(communicator_, Reduction::largest, seconds);
        return period;
    }

    ExchangeTrial trial_of(const ExchangeSettings& settings, const ExchangePeriod& period) {
        if (!digits_) digits_ = period.digits;
        const bool same = std::bit_cast<std::uint64_t>(period.digits) == std::bit_cast<std::uint64_t>(*digits_);
        ExchangeTrial trial{settings, summarise(period.seconds), same_on_all(communicator_, same)};
        trials_.push_back(trial);
        if (tell_) tell_(trial);
        return trial;
    }
    ExchangeTrial measured(const ExchangeSettings& settings) { return trial_of(settings, period_of(settings)); }

    template <typename Value, typename Member>
    void try_each(const std::vector<Value>& values, Member member, ExchangeTrial& best) {
        for (const Value& value : values) {
            ExchangeSettings settings = best.settings;
            settings.*member = value;
            if (std::any_of(trials_.begin(), trials_.end(), [&](const ExchangeTrial& trial) { return trial.settings == settings; })) continue;
            if (const ExchangeTrial trial = measured(settings); trial.same_digits && trial.step.median < (1 - least_gain) * best.step.median)
                best = trial;
        }
    }

    // Once more beside what is usual, in turns: of many that are alike, some look fast by chance.
    ExchangeTuning compared(const ExchangeTrial& best) {
        ExchangeTuning result{best, trials_.front(), {}};
        if (!(best.settings == result.usual.settings)) {
            std::array<ExchangePeriod, 2> all;
            for (int turn = 0; turn < last_turns; ++turn)
                for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
                    const ExchangePeriod period = period_of((which == 0 ? result.usual : result.best).settings);
                    all.at(which).seconds.insert(all.at(which).seconds.end(), period.seconds.begin(), period.seconds.end());
                    all.at(which).digits = period.digits;
                }
            result.usual = trial_of(result.usual.settings, all[0]);
            result.best = trial_of(result.best.settings, all[1]);
            if (!result.best.same_digits || result.best.step.median > (1 - least_gain) * result.usual.step.median) result.best = result.usual;
        }
        communicator_.set_exchange_settings(result.best.settings);
        result.trials = std::move(trials_);
        return result;
    }

    Communicator& communicator_;
    const ExchangeSpace& space_;
    const std::function<ExchangePeriod()>& run_;
    const std::function<void(const ExchangeTrial&)>& tell_;
    std::vector<ExchangeTrial> trials_;
    std::optional<double> digits_;
};

}  // namespace

ExchangeSettings ExchangeSpace::usual() const {
    ExchangeSettings settings;
    set_first(messages, settings.messages);
    set_first(edges, settings.edges);
    set_first(depth, settings.depth);
    set_first(every, settings.every);
    return settings;
}

Config ExchangeSpace::configuration(const ExchangeSettings& settings) const {
    std::vector<Assignment> assignments;
    if (!messages.empty()) assignments.push_back({"messages", to_string(settings.messages)});
    if (!edges.empty()) assignments.push_back({"edges", to_string(settings.edges.value_or(edges.front()))});
    if (!depth.empty()) assignments.push_back({"depth", std::int64_t{settings.depth}});
    if (!every.empty()) assignments.push_back({"every", std::int64_t{settings.every}});
    return Config(std::move(assignments));
}

bool ExchangeTuning::verified() const {
    return best.same_digits && usual.same_digits;
}

ExchangeTuning tune_exchange(Communicator& communicator, const ExchangeSpace& space, const std::function<ExchangePeriod()>& run,
                             const std::function<void(const ExchangeTrial&)>& tell) {
    return Search(communicator, space, run, tell).find();
}

Record exchange_record(const Family& family, const Problem& problem, const Config& config, const Device& device, Exchange about,
                       const ExchangeSpace& space, const ExchangeTuning& tuning) {
    about.config = space.configuration(tuning.best.settings);
    about.usual_seconds = tuning.usual.step.median;
    Record record;
    record.problem = problem;
    record.config = config;
    record.device = device.fingerprint;
    record.step = tuning.best.step;
    record.counts = family.counts(problem);
    record.verification_error = tuning.verified() ? 0 : 1;
    record.tolerance = 0;
    record.strategy = "one_by_one";
    record.evaluations = static_cast<int>(tuning.trials.size());
    record.purpose = "exchange";
    record.found = "offline";
    if (traits_of(device.fingerprint.target).has_monitor) record.conditions = conditions_of(DeviceMonitor(device.index).read());
    record.date = utc_date();
    record.versions = {HONE_VERSION, kernel_hash(family.kernel(problem, config, device.limits).text)};
    record.exchange = std::move(about);
    return record;
}

}  // namespace hone::inline v0_1
