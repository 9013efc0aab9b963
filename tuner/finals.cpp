#include "tuner/finals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hone::inline v0_1 {
namespace {

/// 0.995 quantiles of Student's distribution with 1, 2, ... degrees of freedom; of the normal
/// distribution beyond.
constexpr std::array student{63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
                             3.106,  3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845};
constexpr double normal = 2.576;

/// Mean logarithm of second / first, and half the width of its confidence interval.
struct Ratio {
    double mean = 0;
    double half = 0;
};

Ratio ratio(std::span<const Round> first, std::span<const Round> second) {
    const std::size_t rounds = std::min(first.size(), second.size());
    const auto n = static_cast<double>(rounds);
    Ratio ratio;
    double square = 0;
    double own = 0;  // variance that the rounds' own samples tell
    for (std::size_t i = 0; i < rounds; ++i) {
        const double logarithm = std::log(second[i].cost / first[i].cost);
        ratio.mean += logarithm / n;
        square += logarithm * logarithm / n;
        own += (first[i].noise * first[i].noise + second[i].noise * second[i].noise) / n;
    }
    ratio.half = normal * std::sqrt(own / n);
    if (rounds > 1) {
        const double variance = std::max(0.0, square - ratio.mean * ratio.mean) * n / (n - 1);
        const double quantile = rounds - 2 < student.size() ? student[rounds - 2] : normal;
        ratio.half = std::max(ratio.half, quantile * std::sqrt(variance / n));
    }
    return ratio;
}

double mean_logarithm(const std::vector<Round>& rounds) {
    double sum = 0;
    for (const Round& round : rounds) sum += std::log(round.cost);
    return sum / static_cast<double>(rounds.size());
}

}  // namespace

Comparison compare_in_turns(std::span<const Round> first, std::span<const Round> second, double tie) {
    if (first.empty() || second.empty()) return Comparison::open;
    const auto [mean, half] = ratio(first, second);
    if (mean - half > 0) return Comparison::first;
    if (mean + half < 0) return Comparison::second;
    return std::abs(mean) + half <= std::log1p(tie) ? Comparison::equal : Comparison::open;
}

std::optional<std::size_t> Finals::leader() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < finalists_.size(); ++i)
        if (stands(finalists_[i]) && (!best || mean_logarithm(finalists_[i].rounds) < mean_logarithm(finalists_[*best].rounds))) best = i;
    return best;
}

std::vector<std::size_t> Finals::round() {
    std::vector<std::size_t> players;
    const auto lead = leader();
    const bool early = begun_ < (finalists_.size() == 1 ? 1 : rule_.least_rounds);
    bool open = early;
    for (std::size_t i = 0; i < finalists_.size(); ++i) {
        Finalist& finalist = finalists_[i];
        const bool stays = i == rule_.yardstick;
        if (finalist.failed || (finalist.beaten && !stays)) continue;
        const auto verdict = early || i == lead ? Comparison::open : compare_in_turns(finalists_[*lead].rounds, finalist.rounds, rule_.tie);
        finalist.beaten = verdict == Comparison::first;
        // "second" can happen only where one has more rounds than the other: more of them will
        // tell.
        const bool undecided = verdict == Comparison::open || verdict == Comparison::second;
        if (undecided || stays) players.push_back(i);
        open = open || (undecided && i != lead);
    }
    if (!open || players.empty() || (!early && (begun_ >= rule_.most_rounds || finalists_.size() == 1))) return {};
    std::rotate(players.begin(), players.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(begun_) % players.size()), players.end());
    ++begun_;
    return players;
}

void Finals::report(std::size_t finalist, const std::optional<Round>& round) {
    if (round)
        finalists_[finalist].rounds.push_back(*round);
    else
        finalists_[finalist].failed = true;
}

bool Finals::ties_with(std::size_t leader, const Finalist& finalist) const {
    const Comparison comparison = compare_in_turns(finalists_[leader].rounds, finalist.rounds, rule_.tie);
    if (comparison != Comparison::open) return comparison == Comparison::equal;
    return std::abs(ratio(finalists_[leader].rounds, finalist.rounds).mean) <= std::log1p(rule_.tie);
}

std::optional<std::size_t> Finals::winner() const {
    const auto best = leader();
    if (!best) return std::nullopt;
    for (std::size_t i = 0; i < *best; ++i)
        if (stands(finalists_[i]) && !finalists_[i].beaten && ties_with(*best, finalists_[i])) return i;
    return best;
}

std::vector<std::size_t> Finals::unmeasured() const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < finalists_.size(); ++i)
        if (!finalists_[i].failed && finalists_[i].rounds.empty()) numbers.push_back(i);
    return numbers;
}

}  // namespace hone::inline v0_1
