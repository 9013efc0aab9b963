#include "tuner/replay/outcome_columns.hpp"

#include <algorithm>

#include "tuner/statistics.hpp"

namespace hone::inline v0_1 {

void OutcomeColumns::add(const Outcome& outcome) {
    const std::size_t place = size();
    std::uint32_t failure = 0;
    if (!outcome.measured()) {
        const auto [found, added] = kind_found_.try_emplace({outcome.status, outcome.reason}, static_cast<std::uint32_t>(kinds_.size()));
        if (added) kinds_.emplace_back(outcome.status, outcome.reason);
        failure = found->second + 1;
    }
    failure_.push_back(failure);
    samples_.insert(samples_.end(), outcome.samples.begin(), outcome.samples.end());
    samples_end_.push_back(static_cast<std::uint32_t>(samples_.size()));
    const std::array<double, 3> seconds{outcome.compile_seconds, outcome.verify_seconds, outcome.measure_seconds};
    if (!seconds_.empty() || std::any_of(seconds.begin(), seconds.end(), [](double one) { return one != 0; })) {
        seconds_.resize(place);
        seconds_.push_back(seconds);
    }
    if (from_columns(place) != outcome) whole_.emplace(place, outcome);
}

Outcome OutcomeColumns::from_columns(std::size_t place) const {
    Outcome outcome;
    if (const std::uint32_t kind = failure_[place]; kind > 0) {
        outcome.status = kinds_[kind - 1].first;
        outcome.reason = kinds_[kind - 1].second;
    }
    const std::uint32_t begin = place == 0 ? 0 : samples_end_[place - 1];
    outcome.samples.assign(samples_.begin() + begin, samples_.begin() + samples_end_[place]);
    if (outcome.measured()) outcome.step = summarise(outcome.samples);
    if (!seconds_.empty()) {
        outcome.compile_seconds = seconds_[place][compile];
        outcome.verify_seconds = seconds_[place][verify];
        outcome.measure_seconds = seconds_[place][measure];
    }
    return outcome;
}

Outcome OutcomeColumns::operator[](std::size_t place) const {
    const auto whole = whole_.find(place);
    return whole == whole_.end() ? from_columns(place) : whole->second;
}

}  // namespace hone::inline v0_1
