#include "tuner/sharing/load_balancer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t most_periods = 8;     // that are remembered
constexpr double sure_sigma = 0.01;         // ... when their times vary by more than this
constexpr int most_trials = 4;              // shared periods before a search settles
constexpr double least_gain_of_two = 0.01;  // of sharing over one device alone, which needs no exchange and leaves the other one free
constexpr double least_gain = 0.02;         // of a move once settled
constexpr double confidence = 2;            // standard deviations
constexpr double rounding = 1e-9;           // relative: what differs by less is a tie, and stays decided as it was
constexpr double doubtful = 1.25;
constexpr double drift = 0.05;
constexpr int drift_periods = 3;

template <typename Value>
void remember(std::vector<Value>& values, const Value& value) {
    values.push_back(value);
    if (values.size() > most_periods) values.erase(values.begin());
}

template <typename Value>
void keep_the_last(std::vector<Value>& values) {
    if (values.size() > 1) values.erase(values.begin(), values.end() - 1);
}

double square(double x) {
    return x * x;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Point {
    double n, seconds;
};

// Least squares of the relative errors of a + b n with a, b >= 0. Points of one n only: through the
// origin, as costs without a constant part are.
std::pair<double, double> fit(const std::vector<Point>& points) {
    double s = 0;
    double sn = 0;
    double snn = 0;
    double st = 0;
    double snt = 0;
    for (const auto& [n, seconds] : points) {
        const double w = 1 / (seconds * seconds);
        s += w;
        sn += w * n;
        snn += w * n * n;
        st += w * seconds;
        snt += w * n * seconds;
    }
    if (s == 0) return {0, 0};
    const double spread = s * snn - sn * sn;
    if (spread <= rounding * s * snn) return {0, snt / snn};
    const double b = (s * snt - sn * st) / spread;
    const double a = (st - b * sn) / s;
    if (a < 0) return {0, snt / snn};
    if (b < 0) return {st / s, 0};
    return {a, b};
}

void check(double seconds, const char* what) {
    if (seconds > 0 && std::isfinite(seconds)) return;
    throw Error("load balancer", fmt::format("{} took {} seconds", what, seconds), "measure a period again");
}

void check(const LoadBalancerSettings& settings) {
    if (settings.units >= 1 && settings.granularity >= 1) return;
    throw Error("load balancer", fmt::format("{} units in steps of {}", settings.units, settings.granularity), "use 1 or more of both");
}

}  // namespace

LoadBalancer::LoadBalancer(const LoadBalancerSettings& settings) : settings_(settings) {
    check(settings_);
    state_.units = settings_.units;
}

LoadBalancer::LoadBalancer(const LoadBalancerSettings& settings, BalancerState state) : settings_(settings), state_(std::move(state)) {
    check(settings_);
    const bool inside = 0 <= state_.units && state_.units <= settings_.units;
    if (!inside || (state_.units != settings_.units && state_.units % settings_.granularity != 0))
        throw Error("load balancer", fmt::format("a state with {} units", state_.units),
                    fmt::format("use one of {} units in steps of {}", settings_.units, settings_.granularity));
}

LoadBalancer::LoadBalancer(const LoadBalancerSettings& settings, const Hybrid& known) : LoadBalancer(settings) {
    const double wanted = known.share * static_cast<double>(settings_.units);
    const auto granularity = static_cast<double>(settings_.granularity);
    const std::int64_t largest = settings_.units / settings_.granularity * settings_.granularity;
    state_.units = std::min(largest, settings_.granularity * static_cast<std::int64_t>(std::llround(wanted / granularity)));
    if (std::abs(static_cast<double>(settings_.units) - wanted) < std::abs(static_cast<double>(state_.units) - wanted))
        state_.units = settings_.units;
    const auto learn = [&](int side, const AffineCost& cost, double alone) {
        BalancerState::Side& of = state_.sides.at(static_cast<std::size_t>(side));
        const auto seconds = [&](std::int64_t n) { return cost.a + cost.b * static_cast<double>(n); };
        if (const double all = alone > 0 ? alone : seconds(settings_.units); all > 0) of.alone = {all};
        const std::int64_t own = units_of(side, at_an_end(state_.units) ? settings_.units / 2 : state_.units);
        if (own > 0 && seconds(own) > 0) of.shared.assign(most_trials, {own, seconds(own)});
    };
    learn(0, known.own_cost, known.own_seconds);
    learn(1, known.partner_cost, known.partner_seconds);
    state_.deviations = {std::max(known.own_cost.sigma, known.partner_cost.sigma)};
    state_.settled = !state_.sides[0].alone.empty() && !state_.sides[1].alone.empty();
    // That one device alone was best says how much a shared step takes beside the two parts, at
    // least.
    if (state_.settled && at_an_end(state_.units) && !sharing_is_vain())
        state_.overheads = {std::max(0.0, predicted(state_.units) - predicted(best_shared()))};
    if (!state_.settled) {
        const std::int64_t start = state_.units;
        state_ = {};
        state_.units = at_an_end(start) ? settings_.units : start;
    }
}

LoadBalancer::Line LoadBalancer::line(int side) const {
    const BalancerState::Side& of = state_.sides.at(static_cast<std::size_t>(side));
    std::vector<Point> points;
    for (const double seconds : of.alone) points.push_back({static_cast<double>(settings_.units), seconds});
    for (const auto& [n, seconds] : of.shared) points.push_back({static_cast<double>(n), seconds});
    return fit(points);
}

double LoadBalancer::overhead() const {
    return median(state_.overheads);
}

double LoadBalancer::alone(int side) const {
    const auto& times = state_.sides.at(static_cast<std::size_t>(side)).alone;
    return times.empty() ? 0 : std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

double LoadBalancer::sigma() const {
    double squares = 0;
    double freedom = 0;
    for (const int side : {0, 1}) {
        const BalancerState::Side& of = state_.sides.at(static_cast<std::size_t>(side));
        const auto [a, b] = line(side);
        for (const auto& [n, seconds] : of.shared) squares += square((seconds - a - b * static_cast<double>(n)) / seconds);
        for (const double seconds : of.alone) squares += square(seconds / alone(side) - 1);
        freedom += std::max(0.0, static_cast<double>(of.shared.size()) - 1) + std::max(0.0, static_cast<double>(of.alone.size()) - 1);
    }
    // Few residuals say little about their spread: about as far as Student's distribution is wider
    // than the normal one.
    const double residual = freedom > 0 ? std::sqrt(squares / freedom) * (1 + 2 / freedom) : 0;
    return std::max(residual, median(state_.deviations));
}

AffineCost LoadBalancer::cost(int side) const {
    const BalancerState::Side& of = state_.sides.at(static_cast<std::size_t>(side));
    const auto [a, b] = line(side);
    return {a, b, sigma(), static_cast<int>(of.alone.size() + of.shared.size())};
}

double LoadBalancer::predicted(std::int64_t units) const {
    if (units == settings_.units && alone(0) > 0) return alone(0);
    if (units == 0 && alone(1) > 0) return alone(1);
    double longest = 0;
    for (const int side : {0, 1}) {
        const auto [a, b] = line(side);
        if (const std::int64_t n = units_of(side, units); n > 0) longest = std::max(longest, a + b * static_cast<double>(n));
    }
    return longest + (at_an_end(units) ? 0 : overhead());
}

// Where the lines cross, on the coarse grid; the better of its two neighbours. Requires that there
// is room for two.
std::int64_t LoadBalancer::best_shared() const {
    const auto [a, b] = line(0);
    const auto [c, d] = line(1);
    const auto all = static_cast<double>(settings_.units);
    const double crossing = b + d > 0 ? (c - a + d * all) / (b + d) : all / 2;
    const auto granularity = static_cast<double>(settings_.granularity);
    const std::int64_t largest = (settings_.units - 1) / settings_.granularity * settings_.granularity;
    const auto below = static_cast<std::int64_t>(std::floor(std::clamp(crossing, 0.0, all) / granularity)) * settings_.granularity;
    const std::int64_t low = std::clamp(below, settings_.granularity, largest);
    const std::int64_t high = std::clamp(below + settings_.granularity, settings_.granularity, largest);
    return predicted(high) < (1 - rounding) * predicted(low) ? high : low;
}

// Costs without constant parts share best: less than that cannot be had.
bool LoadBalancer::sharing_is_vain() const {
    if (settings_.units <= settings_.granularity) return true;
    return state_.trials == 0 && std::min(alone(0), alone(1)) < (1 - rounding) * least_gain_of_two * (alone(0) + alone(1));
}

std::int64_t LoadBalancer::best() const {
    const std::int64_t alone = predicted(settings_.units) <= predicted(0) ? settings_.units : 0;
    if (sharing_is_vain()) return alone;
    const std::int64_t shared = best_shared();
    return predicted(shared) < (1 + rounding) * (1 - least_gain_of_two) * predicted(alone) ? shared : alone;
}

bool LoadBalancer::repays(std::int64_t to) const {
    const double gain = predicted(state_.units) - predicted(to);
    const auto moved = static_cast<double>(std::abs(to - state_.units));
    return std::isinf(settings_.remaining_steps) || gain * settings_.remaining_steps > moved * settings_.seconds_per_moved_unit;
}

void LoadBalancer::note(const SharedTimes& times) {
    remember(state_.deviations, times.sigma);
    if (at_an_end(state_.units)) {
        remember(state_.sides.at(state_.units == 0 ? 1 : 0).alone, times.step);
        return;
    }
    remember(state_.sides[0].shared, {units_of(0, state_.units), times.first});
    remember(state_.sides[1].shared, {units_of(1, state_.units), times.second});
    remember(state_.overheads, std::max(0.0, times.step - std::max(times.first, times.second)));
    ++state_.trials;
}

// Before the times are noted, so that the model is that of the periods before.
void LoadBalancer::watch_for_drift(const SharedTimes& times) {
    const double bound = std::max(drift, confidence * sigma());
    for (const int side : {0, 1}) {
        BalancerState::Side& of = state_.sides.at(static_cast<std::size_t>(side));
        const std::int64_t n = units_of(side, state_.units);
        if (n == 0) continue;
        const auto [a, b] = line(side);
        const bool all = n == settings_.units;
        const double expected = all ? alone(side) : a + b * static_cast<double>(n);
        const double ratio = (all ? times.step : side == 0 ? times.first : times.second) / expected;
        const int direction = ratio > 1 + bound ? 1 : ratio < 1 - bound ? -1 : 0;
        if (direction == 0 || direction * of.off < 0) of.off = 0;
        of.off_ratio = of.off == 0 ? ratio : (of.off_ratio * std::abs(of.off) + ratio) / (std::abs(of.off) + 1);
        of.off += direction;
    }
}

// The costs have changed by a factor: what was learnt about their shape stays.
void LoadBalancer::reopen() {
    for (auto& side : state_.sides) {
        if (std::abs(side.off) >= 1) {
            for (double& seconds : side.alone) seconds *= side.off_ratio;
            for (auto& [n, seconds] : side.shared) seconds *= side.off_ratio;
        }
        side.timed_again = false;
        keep_the_last(side.alone);
        keep_the_last(side.shared);
        side.off = 0;
    }
    state_.overheads.clear();
    state_.settled = false;
    state_.trials = 0;
}

void LoadBalancer::go_to(std::int64_t units) {
    if (units != state_.units)
        for (auto& side : state_.sides) side.off = 0;
    state_.units = units;
}

// Forgets the time of a device alone that something disturbed.
bool LoadBalancer::doubt_an_end() {
    for (const int side : {0, 1}) {
        BalancerState::Side& of = state_.sides.at(static_cast<std::size_t>(side));
        if (of.timed_again || of.shared.empty()) continue;
        const auto& [n, seconds] = of.shared.back();
        if (alone(side) < doubtful * seconds * static_cast<double>(settings_.units) / static_cast<double>(n)) continue;
        of.timed_again = true;
        of.alone.clear();
        return true;
    }
    return false;
}

void LoadBalancer::choose() {
    if (!state_.settled) doubt_an_end();
    if (state_.sides[0].alone.empty()) return go_to(settings_.units);
    if (state_.sides[1].alone.empty()) return go_to(0);
    const std::int64_t goal = best();
    if (!state_.settled) {
        const bool here = goal == state_.units;
        const bool sure = state_.trials > 1 && sigma() < sure_sigma;
        const bool enough = state_.trials >= most_trials || (at_an_end(goal) && sharing_is_vain());
        state_.settled = enough || (here && sure) || (here && at_an_end(goal)) || !repays(goal);
        if (here || repays(goal)) go_to(goal);
        return;
    }
    const double gain = 1 - predicted(goal) / predicted(state_.units);
    if (gain > std::max(least_gain, confidence * sigma()) && repays(goal)) go_to(goal);
}

void LoadBalancer::tell(const SharedTimes& times) {
    check(times.step, "a step");
    if (state_.units > 0 && !at_an_end(state_.units)) check(times.first, "the first device"), check(times.second, "the second device");
    ++state_.periods;
    if (state_.settled) watch_for_drift(times);
    const auto any = [&](int least) {
        return std::any_of(state_.sides.begin(), state_.sides.end(), [&](const auto& side) { return std::abs(side.off) >= least; });
    };
    // What may be drift is not averaged into the model that it is held against, unless it proves to
    // be noise.
    state_.held.push_back(times);
    const bool drifted = any(drift_periods);
    if (!drifted && any(1)) return;
    if (drifted) {
        state_.held = {times};
        reopen();
    }
    for (const auto& held : state_.held) note(held);
    state_.held.clear();
    choose();
}

}  // namespace hone::inline v0_1
