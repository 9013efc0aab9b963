#include "tuner/replay/simulation.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "foundation/processors.hpp"
#include "foundation/random_words.hpp"
#include "foundation/threads.hpp"
#include "tuner/strategies/member_geometry.hpp"
#include "tuner/tuner.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Processor time of this thread: wall time would count whoever else is on the machine.
double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What the tuner is told: the recorded cost, as if measured once.
Outcome replayed(const RecordedConfiguration& recorded) {
    Outcome outcome;
    outcome.status = recorded.outcome.status;
    if (!std::isfinite(recorded.cost)) {
        outcome.reason = recorded.outcome.reason;
        return outcome;
    }
    outcome.step = {recorded.cost, recorded.cost, recorded.cost, recorded.cost, 1};
    outcome.samples = {recorded.cost};
    return outcome;
}

// After `evaluations`, or as far as the repetition came.
double best_at(const std::vector<double>& best, std::int64_t evaluations) {
    if (best.empty() || evaluations < 1) return infinity;
    return best[static_cast<std::size_t>(std::min<std::int64_t>(evaluations, std::ssize(best)) - 1)];
}

// Student's t that 95 % of its distribution lie within. Source: Abramowitz and Stegun, 26.7.5;
// exact to 0.3 % from three degrees of freedom.
double student_95(std::size_t degrees) {
    if (degrees == 1) return 12.706;
    if (degrees == 2) return 4.303;
    const double z = 1.959964;
    const double n = 1.0 / static_cast<double>(degrees);
    return z + n * (std::pow(z, 3) + z) / 4 + n * n * (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96 +
           n * n * n * (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / 384;
}

}  // namespace

std::uint64_t repetition_seed(std::uint64_t seed, int repetition) {
    // Every repetition its own number of one well mixed sequence: neighbouring seeds give unrelated
    // numbers.
    constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
    return mixed(seed + step * static_cast<std::uint64_t>(repetition));
}

Replay replay(const RecordedSpace& recorded, const StrategyEntry& strategy, std::uint64_t seed, int evaluations, int window, double until) {
    const SearchSpace space = recorded.space(seed);
    TunerSettings settings;
    settings.window = window;
    Tuner tuner(space, strategy, seed, settings);
    std::deque<Candidate> pending;
    GainRule rule(until, window);
    Replay result;
    while (std::ssize(result.best) < evaluations && !result.ended) {
        for (auto candidate = tuner.next(); candidate && !is_finalist(*candidate); candidate = tuner.next()) pending.push_back(*std::move(candidate));
        if (pending.empty()) break;  // every member was asked
        const RecordedConfiguration configuration = recorded.at(pending.front().index);
        tuner.report(pending.front(), replayed(configuration));
        pending.pop_front();
        const bool better = result.best.empty() || configuration.cost < result.best.back();
        result.best.push_back(better ? configuration.cost : result.best.back());
        result.best_member.push_back(better ? configuration.index : result.best_member.back());
        if (until > 0) rule.note(tuner.outlook(until));
        result.ended = rule.met();
    }
    return result;
}

Simulation simulate(const RecordedSpace& recorded, const StrategyEntry& strategy, const SimulationSettings& settings,
                    const std::function<bool(int)>& go_on) {
    const auto repetitions = static_cast<std::size_t>(settings.repetitions);
    std::vector<std::optional<Replay>> replays(repetitions);
    std::vector<double> seconds(repetitions);
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stopped = false;
    std::mutex mutex;
    int done = 0;
    Caught caught;
    Threads threads;
    const auto work = [&] {
        for (std::size_t i = next++; i < repetitions && !stopped && !caught.any() && !threads.any_failed(); i = next++) {
            const double begin = thread_seconds();
            replays[i] = replay(recorded, strategy, repetition_seed(settings.seed, static_cast<int>(i)), settings.evaluations, settings.window,
                                settings.until);
            seconds[i] = thread_seconds() - begin;
            const std::lock_guard lock(mutex);
            if (go_on && !go_on(++done)) stopped = true;
        }
    };
    const int available = settings.threads > 0 ? settings.threads : processors().usable;
    {
        const OnProcessors inherited;
        for (std::size_t i = 1; i < std::min(static_cast<std::size_t>(available), repetitions); ++i) threads.start(work);
        caught.from(work);
    }
    threads.join();
    caught.rethrow();
    Simulation simulation{strategy.name, {}, {}, {}, 0};
    for (std::size_t i = 0; i < repetitions; ++i) {
        if (!replays[i]) continue;
        simulation.seconds += seconds[i];
        simulation.best.push_back(std::move(replays[i]->best));
        simulation.best_member.push_back(std::move(replays[i]->best_member));
        simulation.ended.push_back(replays[i]->ended);
    }
    simulation.seconds /= static_cast<double>(std::max<std::size_t>(1, simulation.best.size()));
    return simulation;
}

RandomBaseline::RandomBaseline(const RecordedSpace& recorded) : costs_(recorded.costs()) {
    const auto valid = static_cast<std::size_t>(recorded.valid());
    median_ = valid % 2 == 1 ? costs_[valid / 2] : 0.5 * (costs_[valid / 2 - 1] + costs_[valid / 2]);
    worst_ = costs_[valid - 1];
}

// The i-th best of n is the best of k draws with probability C(n - 1 - i, k - 1) / C(n, k); each
// follows from the one before.
template <typename Value>
double RandomBaseline::expected(std::int64_t draws, Value value) const {
    constexpr double negligible = 1e-18;
    const auto n = static_cast<double>(costs_.size());
    const double k = std::min(static_cast<double>(draws), n);
    if (k < 1) return value(infinity);
    double probability = k / n;
    double sum = 0;
    for (std::size_t i = 0; i < costs_.size() && probability > negligible; ++i) {
        sum += probability * value(costs_[i]);
        const double rest = n - 1 - static_cast<double>(i);
        probability *= rest < 1 ? 0 : std::max(0.0, rest - k + 1) / rest;
    }
    return sum;
}

double RandomBaseline::cost(std::int64_t draws) const {
    return expected(draws, [&](double cost) { return std::min(cost, worst_); });
}

double RandomBaseline::fraction(std::int64_t draws) const {
    return expected(draws, [&](double cost) { return optimum() / cost; });
}

double RandomBaseline::draws_to(double part) const {
    const auto good = std::upper_bound(costs_.begin(), costs_.end(), optimum() * (1 + part)) - costs_.begin();
    return static_cast<double>(costs_.size() + 1) / static_cast<double>(good + 1);
}

std::int64_t RandomBaseline::draws_to_cover(double part) const {
    const double goal = median_ - part * (median_ - optimum());
    std::int64_t low = 1;
    std::int64_t high = std::ssize(costs_);
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (cost(middle) <= goal)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double fraction_of_optimum(const Simulation& simulation, double optimum, std::int64_t evaluations) {
    double sum = 0;
    for (const auto& best : simulation.best) sum += optimum / best_at(best, evaluations);
    return sum / static_cast<double>(simulation.best.size());
}

double mean_best(const Simulation& simulation, const RandomBaseline& baseline, std::int64_t evaluations) {
    double sum = 0;
    for (const auto& best : simulation.best) sum += std::min(baseline.worst(), best_at(best, evaluations));
    return sum / static_cast<double>(simulation.best.size());
}

double percentile(const Simulation& simulation, double part, std::int64_t evaluations) {
    std::vector<double> costs;
    costs.reserve(simulation.best.size());
    for (const auto& best : simulation.best) costs.push_back(best_at(best, evaluations));
    std::sort(costs.begin(), costs.end());
    return costs[static_cast<std::size_t>(std::lround(part * static_cast<double>(costs.size() - 1)))];
}

double evaluations_to(const Simulation& simulation, double optimum, double part) {
    std::vector<double> counts;
    counts.reserve(simulation.best.size());
    for (const auto& best : simulation.best) {
        const auto reached = std::find_if(best.begin(), best.end(), [&](double cost) { return cost <= optimum * (1 + part); });
        counts.push_back(reached == best.end() ? infinity : static_cast<double>(reached - best.begin() + 1));
    }
    std::sort(counts.begin(), counts.end());
    return counts[counts.size() / 2];
}

Score score(const Simulation& simulation, const RandomBaseline& baseline) {
    std::int64_t simulated = 0;
    for (const auto& best : simulation.best) simulated = std::max<std::int64_t>(simulated, std::ssize(best));
    Score result;
    result.first = std::min(baseline.draws_to_cover(0.5), std::max<std::int64_t>(simulated, 1));
    result.last = std::clamp(baseline.draws_to_cover(0.95), result.first, std::max<std::int64_t>(simulated, result.first));
    // The score is linear in the mean best cost: it is the mean of the repetitions' own scores,
    // which are independent.
    std::vector<double> scores(simulation.best.size());
    int budgets = 0;
    for (std::int64_t t = result.first; t <= result.last; ++t) {
        const double random = baseline.cost(t);
        if (!(random > baseline.optimum())) break;  // it cannot be told apart any more
        for (std::size_t r = 0; r < scores.size(); ++r)
            scores[r] += (random - std::min(baseline.worst(), best_at(simulation.best[r], t))) / (random - baseline.optimum());
        ++budgets;
    }
    if (budgets > 0)
        for (double& one : scores) one /= budgets;
    result.value = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(std::max<std::size_t>(1, scores.size()));
    double squares = 0;
    for (const double one : scores) squares += (one - result.value) * (one - result.value);
    const auto repetitions = static_cast<double>(scores.size());
    result.error = scores.size() < 2 ? infinity : student_95(scores.size() - 1) * std::sqrt(squares / (repetitions - 1) / repetitions);
    return result;
}

Stops stops(const Simulation& simulation, double optimum, double until) {
    Stops result;
    std::vector<double> counts;
    for (std::size_t r = 0; r < simulation.best.size(); ++r) {
        if (!simulation.ended[r]) continue;
        const double best = simulation.best[r].back();
        counts.push_back(static_cast<double>(simulation.best[r].size()));
        result.fraction += optimum / best;
        if (optimum <= best * (1 - until)) ++result.missed;
    }
    result.ended = static_cast<int>(counts.size());
    if (counts.empty()) return result;
    std::sort(counts.begin(), counts.end());
    result.evaluations = counts[counts.size() / 2];
    result.fraction /= static_cast<double>(counts.size());
    result.missed /= static_cast<double>(counts.size());
    return result;
}

namespace {

// The parameters in which two members differ.
std::vector<std::size_t> differences(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    std::vector<std::size_t> differences;
    for (std::size_t d = 0; d < a.size(); ++d)
        if (a[d] != b[d]) differences.push_back(d);
    return differences;
}

// All local optima, the best first. Members of equal cost side by side are one plateau each by
// itself.
std::vector<std::int64_t> local_optima(const RecordedSpace& recorded) {
    const MemberGeometry geometry(recorded.space(0), recorded.members());
    std::vector<double> cost;
    cost.reserve(geometry.size());
    for (const std::int64_t member : recorded.members()) cost.push_back(recorded.cost(member));
    std::vector<std::size_t> optima;
    for (std::size_t member = 0; member < geometry.size(); ++member) {
        if (!std::isfinite(cost[member])) continue;
        const std::vector<std::size_t> near = geometry.neighbours(member);
        if (std::none_of(near.begin(), near.end(), [&](std::size_t one) { return cost[one] < cost[member]; })) optima.push_back(member);
    }
    std::stable_sort(optima.begin(), optima.end(), [&](std::size_t a, std::size_t b) { return cost[a] < cost[b]; });
    std::vector<std::int64_t> indices;
    indices.reserve(optima.size());
    for (const std::size_t member : optima) indices.push_back(geometry.index(member));
    return indices;
}

}  // namespace

std::vector<StuckAt> stuck_at(const RecordedSpace& recorded, const Simulation& simulation, std::int64_t evaluations) {
    std::map<std::int64_t, int> counts;
    for (std::size_t r = 0; r < simulation.best.size(); ++r) {
        const std::int64_t last = std::min<std::int64_t>(evaluations, std::ssize(simulation.best[r])) - 1;
        if (last >= 0) ++counts[simulation.best_member[r][static_cast<std::size_t>(last)]];
    }
    const std::vector<std::int64_t> optima = local_optima(recorded);
    std::vector<StuckAt> found;
    for (const auto& [member, repetitions] : counts) {
        StuckAt stuck{member, repetitions, recorded.cost(member) / recorded.optimum() - 1, 0, optima.front(), {}};
        const auto valley = std::find(optima.begin(), optima.end(), member);
        if (valley != optima.end()) stuck.valley = static_cast<int>(valley - optima.begin()) + 1;
        for (const std::int64_t best : optima) {
            if (recorded.cost(best) > recorded.optimum()) break;
            std::vector<std::size_t> far = differences(recorded.places(member), recorded.places(best));
            if (best != optima.front() && far.size() >= stuck.far.size()) continue;
            stuck.far = std::move(far);
            stuck.nearest_best = best;
        }
        found.push_back(std::move(stuck));
    }
    std::stable_sort(found.begin(), found.end(), [](const StuckAt& a, const StuckAt& b) { return a.repetitions > b.repetitions; });
    return found;
}

int evaluations_for_score(const RandomBaseline& baseline, int evaluations, int most) {
    return static_cast<int>(std::clamp<std::int64_t>(baseline.draws_to_cover(0.95), evaluations, std::max(evaluations, most)));
}

}  // namespace hone::inline v0_1
