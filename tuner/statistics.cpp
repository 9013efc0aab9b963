#include "tuner/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace hone::inline v0_1 {
namespace {

constexpr double confidence = 0.95;

/// Largest k with 2 P(Binomial(n, 1/2) <= k) <= 1 - confidence, or -1. Adds up the ranks between k
/// and its mirror image, from the middle outwards: 0.5^n would underflow.
int tail_rank(int n) {
    double middle = 1;  // P(2 m of them = m), m = n / 2
    for (int i = 1; i <= n / 2; ++i) middle *= 1 - 0.5 / i;
    int k = (n - 1) / 2;
    double probability = middle * n / (n % 2 == 0 ? n + 2 : n + 1);  // of k
    double between = n % 2 == 0 ? middle : 0;
    for (; k >= 0 && between < confidence; --k) {
        between += 2 * probability;
        probability *= static_cast<double>(k) / (n - k + 1);
    }
    return k;
}

}  // namespace

std::pair<int, int> median_interval(int samples) {
    const int k = std::max(0, tail_rank(samples));
    return {k, samples - 1 - k};
}

Statistics summarise(std::vector<double> seconds) {
    Statistics result;
    if (seconds.empty()) return result;
    std::sort(seconds.begin(), seconds.end());
    const std::size_t n = seconds.size();
    const auto [low, high] = median_interval(static_cast<int>(n));
    result.median = n % 2 == 1 ? seconds[n / 2] : 0.5 * (seconds[n / 2 - 1] + seconds[n / 2]);
    result.low = seconds[static_cast<std::size_t>(low)];
    result.high = seconds[static_cast<std::size_t>(high)];
    result.minimum = seconds.front();
    result.samples = static_cast<int>(n);
    return result;
}

int warm_up_length(std::span<const double> seconds) {
    if (seconds.size() < 4) return 0;
    const double slowest = *std::max_element(seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    const std::size_t most = seconds.size() / 4;
    std::size_t length = 0;
    while (length < most && seconds[length] > slowest) ++length;
    return static_cast<int>(length);
}

Verdict judge(std::span<const double> seconds, double incumbent, double elapsed, const SamplingRule& rule) {
    const int samples = static_cast<int>(seconds.size());
    if (samples == 0) return Verdict::more;
    const Statistics summary = summarise({seconds.begin(), seconds.end()});
    if (incumbent > 0 && summary.minimum > SamplingRule::hopeless_alone * rule.hopeless * incumbent) return Verdict::worse;
    if (samples < 3) return Verdict::more;
    if (incumbent > 0 && summary.minimum > rule.hopeless * incumbent) return Verdict::worse;
    if (samples >= rule.fewest) {
        if (incumbent > 0 && summary.low > rule.worse * incumbent) return Verdict::worse;
        if (summary.high - summary.low <= rule.narrow * summary.median) return Verdict::settled;
    }
    return samples >= rule.period || elapsed >= rule.most_seconds ? Verdict::complete : Verdict::more;
}

int steps_per_sample(double step_seconds, const SamplingRule& rule) {
    if (step_seconds >= rule.shortest_sample) return 1;
    const double most = 1000;  // a clock that says zero must not ask for ever
    return static_cast<int>(std::ceil(std::min(most, rule.shortest_sample / std::max(step_seconds, 1e-12))));
}

}  // namespace hone::inline v0_1
