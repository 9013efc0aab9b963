#include "tuner/online/trial.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/online/policy.hpp"

namespace hone::inline v0_1 {

Pace::Pace(int window, int fewest, double drift, int block)
    : most_(static_cast<std::size_t>(window)), fewest_(fewest), drift_(drift), block_length_(static_cast<std::size_t>(block)) {
}

bool Pace::add(double seconds) {
    window_.push_back(seconds);
    if (window_.size() > most_) window_.pop_front();
    median_ = summarise(samples()).median;
    if (reference_ == 0) {
        if (window_.size() == most_) reference_ = median_;
        return false;
    }
    block_.push_back(seconds);
    return block_.size() == block_length_ && moved();
}

bool Pace::moved() {
    const double median = summarise(block_).median;
    const double move = median / reference_ - 1;
    if (std::abs(move) <= drift_)
        moves_ = 0;
    else if (move > 0)
        moves_ = std::max(moves_, 0) + 1;
    else
        moves_ = std::min(moves_, 0) - 1;
    const bool drifted = std::abs(moves_) >= 2;
    if (drifted) {
        window_.assign(block_.begin(), block_.end());
        median_ = reference_ = median;
        moves_ = 0;
    }
    block_.clear();
    return drifted;
}

void Pace::restart(std::span<const double> seconds) {
    window_.assign(seconds.begin(), seconds.end());
    median_ = summarise(samples()).median;
    reference_ = 0;
    block_.clear();
    moves_ = 0;
}

// One step is a probe; then as many as decide whether it is hopeless, then as give an interval of
// the median; then turn by turn.
int Trial::limit(const OnlineRules& rules) const {
    constexpr int hopeless = 3;
    const int seen = static_cast<int>(samples.size());
    if (seen == 0) return 1;
    if (seen < hopeless) return hopeless;
    if (seen < rules.sampling.fewest) return rules.sampling.fewest;
    return std::min(seen + 2 * rules.turn, rules.sampling.period + static_cast<int>(samples.size() - warm().size()));
}

bool Trial::wants_step(const OnlineRules& rules) const {
    return rest_ == 0 && static_cast<int>(samples.size()) + flying_ < limit(rules);
}

bool Trial::wants_rival(const OnlineRules& rules) const {
    return rest_ > 0 || rivals_launched_ < static_cast<int>(samples.size()) + flying_ + rules.turn;
}

void Trial::launched(const OnlineRules& rules) {
    ++flying_;
    ++in_turn_;
    if (in_turn_ < rules.turn && static_cast<int>(samples.size()) + flying_ < limit(rules)) return;
    rest_ = in_turn_;
    in_turn_ = 0;
}

void Trial::launched_rival() {
    ++rivals_launched_;
    rest_ = std::max(0, rest_ - 1);
}

void Trial::sampled(double seconds) {
    flying_ = std::max(0, flying_ - 1);
    samples.push_back(seconds);
    elapsed_ += seconds;
}

std::span<const double> Trial::warm() const {
    return std::span(samples).subspan(static_cast<std::size_t>(warm_up_length(samples)));
}

double Trial::worst(const OnlineRules& rules) const {
    if (samples.empty()) return guess * rules.margin;
    // The first may have loaded code and warmed caches.
    const auto first = samples.begin() + (samples.size() > 1 ? 1 : 0);
    return *std::max_element(first, samples.end());
}

Trial::Verdict Trial::judge(double incumbent, bool alone, const OnlineRules& rules) const {
    if (samples.size() < 2) return Verdict::more;  // the first may have loaded code and warmed caches
    if (*std::min_element(samples.begin(), samples.end()) > rules.twice * incumbent) return Verdict::slower;
    const auto own = warm();
    const auto verdict = hone::judge(own, incumbent, elapsed_, rules.sampling);
    if (verdict == hone::Verdict::worse) return Verdict::slower;
    const auto fewest = static_cast<std::size_t>(rules.sampling.fewest);
    if (!alone && rivals.size() < std::min(own.size(), fewest)) return Verdict::more;
    if (!alone && !is_finalist(candidate) && own.size() >= fewest) {
        const Statistics candidates = summarise({own.begin(), own.end()});
        const Statistics incumbents = summarise(rivals);
        if (candidates.low > incumbents.high) return Verdict::slower;
        if (candidates.high < incumbents.low) return Verdict::faster;
    }
    return verdict == hone::Verdict::more ? Verdict::more : Verdict::enough;
}

}  // namespace hone::inline v0_1
