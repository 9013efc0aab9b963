#include "tuner/strategies/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hone::inline v0_1 {
namespace {

constexpr double least_variance = 1e-9;  // of a row that others explain wholly, after rounding
constexpr double least_scale = 1e-12;    // of the process: where all costs are equal, what is least known still stands out
constexpr double most_doubt = 100;       // few values may be explained exactly, and any error is far more than expected then

/// to -= factor * from. The length, a multiple of eight, and the restricted pointers let GCC use
/// vector instructions at -O2 already.
void subtract_eights(float* __restrict to, float factor, const float* __restrict from, std::size_t eights) {
    for (std::size_t i = 0; i < 8 * eights; ++i) to[i] -= factor * from[i];
}

void subtract(std::vector<float>& to, float factor, const std::vector<float>& from) {
    const std::size_t eights = to.size() / 8;
    subtract_eights(to.data(), factor, from.data(), eights);
    for (std::size_t i = 8 * eights; i < to.size(); ++i) to[i] -= factor * from[i];
}

double dot(const std::vector<double>& a, const std::vector<double>& b, std::size_t count) {
    double even = 0;
    double odd = 0;
    std::size_t i = 0;
    for (; i + 1 < count; i += 2) {
        even += a[i] * b[i];
        odd += a[i + 1] * b[i + 1];
    }
    return even + odd + (i < count ? a[i] * b[i] : 0);
}

}  // namespace

GaussianProcess::GaussianProcess(const MemberKernel& kernel, std::vector<std::size_t> pool)
    : kernel_(&kernel), pool_(std::move(pool)), columns_(kernel) {
    for (const std::size_t member : pool_) columns_.add(member);
    left_.assign(pool_.size(), 1);
    value_.assign(pool_.size(), 0);
    one_ = failure_ = value_;
}

void GaussianProcess::add(std::size_t member) {
    const std::size_t count = rows_.size();
    Row row;
    row.member = member;
    row.factor.resize(count + 1);
    double left = 1 + kernel_->noise();
    for (std::size_t j = 0; j < count; ++j) {
        const double entry = ((*kernel_)(member, rows_[j].member) - dot(row.factor, rows_[j].factor, j)) / rows_[j].factor[j];
        row.factor[j] = entry;
        left -= entry * entry;
    }
    row.factor[count] = std::sqrt(std::max(left, least_variance));
    row.pool = columns_.covariances(member);
    for (std::size_t j = 0; j < count; ++j) subtract(row.pool, static_cast<float>(row.factor[j]), rows_[j].pool);
    const auto scale = static_cast<float>(1 / row.factor[count]);
    for (std::size_t p = 0; p < pool_.size(); ++p) {
        row.pool[p] *= scale;
        left_[p] -= row.pool[p] * row.pool[p];
    }
    rows_.push_back(std::move(row));
}

void GaussianProcess::tell(std::size_t row, double value) {
    rows_[row].value = value;
    rows_[row].told = true;
    if (row >= last_told_) {
        last_told_ = row + 1;
        solve(row);
        return sum(rows_[row]);
    }
    // Told out of order: what was told after it stands on another footing now.
    value_.assign(pool_.size(), 0);
    one_ = failure_ = value_;
    squares_ = cross_ = ones_ = count_ = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (!rows_[i].told) continue;
        solve(i);
        sum(rows_[i]);
    }
}

void GaussianProcess::solve(std::size_t which) {
    Row& row = rows_[which];
    double value = 0;
    double one = 0;
    double failure = 0;
    for (std::size_t j = 0; j < which; ++j) {
        value += row.factor[j] * rows_[j].solved_value;
        one += row.factor[j] * rows_[j].solved_one;
        failure += row.factor[j] * rows_[j].solved_failure;
    }
    const double diagonal = row.factor[which];
    const bool failed = !std::isfinite(row.value);
    row.solved_failure = ((failed ? 1.0 : 0.0) - failure) / diagonal;
    row.solved_value = failed ? 0 : (row.value - value) / diagonal;
    row.solved_one = failed ? 0 : (1 - one) / diagonal;
}

void GaussianProcess::sum(const Row& row) {
    if (std::isfinite(row.value)) ++count_;
    squares_ += row.solved_value * row.solved_value;
    cross_ += row.solved_value * row.solved_one;
    ones_ += row.solved_one * row.solved_one;
    subtract(value_, static_cast<float>(-row.solved_value), row.pool);
    subtract(one_, static_cast<float>(-row.solved_one), row.pool);
    subtract(failure_, static_cast<float>(-row.solved_failure), row.pool);
}

void GaussianProcess::extend(std::size_t member) {
    std::vector<double> solved(rows_.size());
    double left = 1;
    double value = 0;
    double one = 0;
    double failure = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        Row& row = rows_[i];
        solved[i] = ((*kernel_)(member, row.member) - dot(row.factor, solved, i)) / row.factor[i];
        left -= solved[i] * solved[i];
        row.pool.push_back(static_cast<float>(solved[i]));
        if (!row.told) continue;
        value += solved[i] * row.solved_value;
        one += solved[i] * row.solved_one;
        failure += solved[i] * row.solved_failure;
    }
    pool_.push_back(member);
    columns_.add(member);
    left_.push_back(static_cast<float>(left));
    value_.push_back(static_cast<float>(value));
    one_.push_back(static_cast<float>(one));
    failure_.push_back(static_cast<float>(failure));
}

Expectation GaussianProcess::expect(std::size_t p) const {
    const double left = std::max(1e-8, static_cast<double>(left_[p]));
    return {mean() + value_[p] - mean() * one_[p], std::sqrt(std::max(least_scale, doubt_ * variance()) * (left + kernel_->noise())), failure_[p]};
}

void GaussianProcess::calibrate() {
    struct Miss {
        double value;
        double square;  ///< over the variance of the process
    };
    std::vector<Miss> misses;
    const double variance_now = std::max(least_scale, variance());
    std::vector<double> column(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (!rows_[i].told || !std::isfinite(rows_[i].value)) continue;
        // Of the factor's inverse.
        double precision = 0;
        double weight = 0;
        for (std::size_t j = i; j < rows_.size(); ++j) {
            double sum = j == i ? 1 : 0;
            for (std::size_t k = i; k < j; ++k) sum -= rows_[j].factor[k] * column[k];
            column[j] = sum / rows_[j].factor[j];
            precision += column[j] * column[j];
            weight += column[j] * (rows_[j].solved_value - mean() * rows_[j].solved_one);
        }
        misses.push_back({rows_[i].value, weight * weight / precision / variance_now});
    }
    if (misses.empty()) return;
    const std::size_t half = (misses.size() + 1) / 2;
    std::nth_element(misses.begin(), misses.begin() + static_cast<std::ptrdiff_t>(half - 1), misses.end(),
                     [](const Miss& a, const Miss& b) { return a.value < b.value; });
    double sum = 0;
    for (std::size_t i = 0; i < half; ++i) sum += misses[i].square;
    const double mean_square = sum / static_cast<double>(half);
    doubt_ = std::clamp(mean_square, 1.0, most_doubt);
    misfit_ = std::sqrt(mean_square);
}

double GaussianProcess::variance() const {
    return std::max(0.0, squares_ - mean() * cross_) / count_;
}

}  // namespace hone::inline v0_1
