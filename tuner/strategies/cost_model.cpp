#include "tuner/strategies/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "tuner/strategies/member_geometry.hpp"
#include "tuner/strategies/member_kernel.hpp"
#include "tuner/strategies/remaining_gain.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t most_rows = 300;
constexpr std::size_t most_fitted = 80;  // learning the covariance takes their third power many times
constexpr double least_variance = 1e-9;  // of a row that others explain wholly, after rounding
constexpr double least_spread = 1e-12;   // variance of the logarithms below which all costs are equal
constexpr double deviations = 1.959964;  // of a normal distribution, on either side: 95 %

// The best half of `most`, and as many evenly over the rest. `costs` ascend.
std::vector<MeasuredCost> thinned(const std::vector<MeasuredCost>& costs, std::size_t most) {
    if (costs.size() <= most) return costs;
    std::vector<MeasuredCost> kept(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(most / 2));
    const std::size_t rest = costs.size() - most / 2;
    const std::size_t wanted = most - most / 2;
    for (std::size_t i = 0; i < wanted; ++i) kept.push_back(costs[most / 2 + i * rest / wanted]);
    return kept;
}

// Lower triangle L with L L^T = K, row by row.
class Factor {
  public:
    explicit Factor(std::size_t size) : size_(size), entries_(size * size) {}

    double& operator()(std::size_t row, std::size_t column) { return entries_[row * size_ + column]; }
    double operator()(std::size_t row, std::size_t column) const { return entries_[row * size_ + column]; }

    void factorise() {
        for (std::size_t i = 0; i < size_; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = (*this)(i, j);
                for (std::size_t k = 0; k < j; ++k) sum -= (*this)(i, k) * (*this)(j, k);
                (*this)(i, j) = i == j ? std::sqrt(std::max(sum, least_variance)) : sum / (*this)(j, j);
            }
    }
    // L x = b
    std::vector<double> forward(std::vector<double> b) const {
        for (std::size_t i = 0; i < size_; ++i) {
            for (std::size_t k = 0; k < i; ++k) b[i] -= (*this)(i, k) * b[k];
            b[i] /= (*this)(i, i);
        }
        return b;
    }
    // L^T x = b
    std::vector<double> backward(std::vector<double> b) const {
        for (std::size_t i = size_; i-- > 0;) {
            for (std::size_t k = i + 1; k < size_; ++k) b[i] -= (*this)(k, i) * b[k];
            b[i] /= (*this)(i, i);
        }
        return b;
    }
    std::vector<double> solve(const std::vector<double>& b) const { return backward(forward(b)); }

  private:
    std::size_t size_;
    std::vector<double> entries_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

struct CostModel::State {
    State(const SearchSpace& space, std::vector<MeasuredCost> costs) {
        std::sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return std::pair(a.cost, a.index) < std::pair(b.cost, b.index); });
        const std::vector<MeasuredCost> rows = thinned(costs, most_rows);
        std::vector<std::int64_t> indices;
        indices.reserve(rows.size());
        for (const MeasuredCost& row : rows) indices.push_back(row.index);
        std::sort(indices.begin(), indices.end());
        geometry.emplace(space, std::move(indices));
        kernel.emplace(space, *geometry);
        learn(thinned(rows, most_fitted));
        for (const MeasuredCost& row : rows) {
            member.push_back(geometry->find(row.index));
            value.push_back(std::log(row.cost));
        }
        condition();
        integrate();
    }

    void learn(const std::vector<MeasuredCost>& sample) {
        std::vector<std::size_t> members;
        std::vector<double> values;
        for (const MeasuredCost& row : sample) {
            members.push_back(geometry->find(row.index));
            values.push_back(std::log(row.cost));
        }
        fit(*kernel, members, values);
    }

    void condition() {
        const std::size_t count = member.size();
        factor.emplace(count);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j <= i; ++j) (*factor)(i, j) = (*kernel)(member[i], member[j]) + (i == j ? kernel->noise() : 0);
        factor->factorise();
        const std::vector<double> ones(count, 1);
        const std::vector<double> solved_ones = factor->solve(ones);
        const std::vector<double> solved = factor->solve(value);
        mean = dot(ones, solved) / dot(ones, solved_ones);
        weight.resize(count);
        for (std::size_t i = 0; i < count; ++i) weight[i] = solved[i] - mean * solved_ones[i];
        variance = 0;
        for (std::size_t i = 0; i < count; ++i) variance += (value[i] - mean) * weight[i] / static_cast<double>(count);
        variance = std::max(variance, 0.0);
    }

    // Means of every row's factors over the values that were tried.
    void integrate() {
        const std::size_t dimensions = geometry->dimensions();
        tried.resize(dimensions);
        average.resize(dimensions);
        whole.assign(member.size(), 1);
        for (std::size_t d = 0; d < dimensions; ++d) {
            std::vector<bool> seen(geometry->levels(d));
            for (const std::size_t one : member) seen[geometry->coordinate(one, d)] = true;
            for (std::size_t v = 0; v < seen.size(); ++v)
                if (seen[v]) tried[d].push_back(v);
            for (const std::size_t one : member) {
                double sum = 0;
                for (const std::size_t v : tried[d]) sum += kernel->factor(d, v, geometry->coordinate(one, d));
                average[d].push_back(sum / static_cast<double>(tried[d].size()));
            }
            for (std::size_t i = 0; i < member.size(); ++i) whole[i] *= average[d][i];
        }
        for (std::size_t i = 0; i < member.size(); ++i) grand += weight[i] * whole[i];
    }

    // f_d: the mean over all others less the grand mean, for each value that was tried.
    std::vector<double> main(std::size_t d) const {
        std::vector<double> effect;
        for (const std::size_t v : tried[d]) {
            double sum = 0;
            for (std::size_t i = 0; i < member.size(); ++i)
                sum += weight[i] * whole[i] / average[d][i] * kernel->factor(d, v, geometry->coordinate(member[i], d));
            effect.push_back(sum - grand);
        }
        return effect;
    }

    double pair_variance(std::size_t d, std::size_t e, const std::vector<double>& main_d, const std::vector<double>& main_e) const {
        double squares = 0;
        for (std::size_t a = 0; a < tried[d].size(); ++a) {
            std::vector<double> left(member.size());
            for (std::size_t i = 0; i < member.size(); ++i)
                left[i] = weight[i] * whole[i] / average[d][i] / average[e][i] * kernel->factor(d, tried[d][a], geometry->coordinate(member[i], d));
            for (std::size_t b = 0; b < tried[e].size(); ++b) {
                double sum = 0;
                for (std::size_t i = 0; i < member.size(); ++i) sum += left[i] * kernel->factor(e, tried[e][b], geometry->coordinate(member[i], e));
                const double interaction = sum - grand - main_d[a] - main_e[b];
                squares += interaction * interaction;
            }
        }
        return squares / static_cast<double>(tried[d].size() * tried[e].size());
    }

    // E[f^2] - E[f]^2: sums of products over the tunables of mean products.
    double total_variance() const {
        std::vector<std::vector<double>> both(geometry->dimensions());
        for (std::size_t d = 0; d < both.size(); ++d) {
            const std::size_t values = geometry->levels(d);
            both[d].assign(values * values, 0);
            for (const std::size_t x : tried[d])
                for (const std::size_t y : tried[d])
                    for (const std::size_t v : tried[d])
                        both[d][x * values + y] += kernel->factor(d, v, x) * kernel->factor(d, v, y) / static_cast<double>(tried[d].size());
        }
        double sum = 0;
        for (std::size_t i = 0; i < member.size(); ++i)
            for (std::size_t j = 0; j < member.size(); ++j) {
                double product = 1;
                for (std::size_t d = 0; d < both.size(); ++d)
                    product *= both[d][geometry->coordinate(member[i], d) * geometry->levels(d) + geometry->coordinate(member[j], d)];
                sum += weight[i] * weight[j] * (product - whole[i] * whole[j]);
            }
        return sum;
    }

    std::optional<MemberGeometry> geometry;
    std::optional<MemberKernel> kernel;
    std::vector<std::size_t> member;
    std::vector<double> value;  // logarithms of costs
    std::optional<Factor> factor;
    double mean = 0;
    double variance = 0;
    std::vector<double> weight;  // the inverse covariance times what the values are above the mean
    std::vector<std::vector<std::size_t>> tried;
    std::vector<std::vector<double>> average;  // [dimension][row]
    std::vector<double> whole;                 // product of a row's averages
    double grand = 0;                          // mean of the model over the product, less `mean`
};

CostModel::CostModel(const SearchSpace& space, std::vector<MeasuredCost> costs) : state_(std::make_unique<State>(space, std::move(costs))) {
}
CostModel::~CostModel() = default;
CostModel::CostModel(CostModel&&) noexcept = default;
CostModel& CostModel::operator=(CostModel&&) noexcept = default;

double CostModel::explained() const {
    const std::size_t count = state_->member.size();
    const double mean = std::accumulate(state_->value.begin(), state_->value.end(), 0.0) / static_cast<double>(count);
    double missed = 0;
    double spread = 0;
    for (std::size_t i = 0; i < count; ++i) {
        // The value predicted from the others differs by the weight over the inverse's diagonal
        // (Rasmussen and Williams, 2006, equation 5.12).
        std::vector<double> unit(count);
        unit[i] = 1;
        const std::vector<double> column = state_->factor->forward(std::move(unit));
        missed += std::pow(state_->weight[i] / dot(column, column), 2);
        spread += std::pow(state_->value[i] - mean, 2);
    }
    return spread > least_spread * static_cast<double>(count) ? 1 - missed / spread : 0;
}

double CostModel::Prediction::improvement(double bound) const {
    const double deviation = std::log(high / low) / 2 / deviations;
    const double steps = deviation > 0 ? std::log(bound / cost) / deviation : 0;
    if (deviation <= 0) return std::max(0.0, 1 - cost / bound);
    // The mean of max(0, 1 - cost / bound) of a log-normal cost.
    const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    return std::max(0.0, below(steps) - cost / bound * std::exp(deviation * deviation / 2) * below(steps - deviation));
}

CostModel::Prediction CostModel::predict(std::int64_t index) const {
    const MemberGeometry& geometry = *state_->geometry;
    const std::vector<std::size_t> coordinates = geometry.coordinates_at(index);
    std::vector<double> common;
    common.reserve(state_->member.size());
    for (const std::size_t one : state_->member) {
        double product = 1;
        for (std::size_t d = 0; d < coordinates.size(); ++d) product *= state_->kernel->factor(d, coordinates[d], geometry.coordinate(one, d));
        common.push_back(product);
    }
    const double logarithm = state_->mean + dot(common, state_->weight);
    const std::vector<double> known = state_->factor->forward(common);
    const double deviation = std::sqrt(state_->variance * std::max(0.0, 1 - dot(known, known)));
    return {std::exp(logarithm), std::exp(logarithm - deviations * deviation), std::exp(logarithm + deviations * deviation)};
}

Outlook CostModel::outlook(const std::vector<std::int64_t>& members, double weight, double asks, double part) const {
    const double best = *std::min_element(state_->value.begin(), state_->value.end());
    struct Promise {
        OpenMember member;
        double improvement;
    };
    std::vector<Promise> promises;
    promises.reserve(members.size());
    for (const std::int64_t index : members) {
        const Prediction prediction = predict(index);
        const double deviation = std::log(prediction.high / prediction.low) / 2 / deviations;
        promises.push_back({{{std::log(prediction.cost), std::max(deviation, 1e-9)}, weight}, prediction.improvement(std::exp(best))});
    }
    std::sort(promises.begin(), promises.end(), [](const Promise& a, const Promise& b) { return a.improvement > b.improvement; });
    std::vector<OpenMember> asked;
    for (const Promise& promise : promises) {
        if (asks <= 0) break;
        asked.push_back(promise.member);
        asked.back().weight = std::min(weight, asks);
        asks -= weight;
    }
    return remaining_gain(asked, best, part);
}

std::vector<CostModel::Effect> CostModel::effects() const {
    const std::size_t dimensions = state_->geometry->dimensions();
    const double total = state_->total_variance();
    if (total < least_spread) return {};
    std::vector<std::vector<double>> mains;
    std::vector<Effect> effects;
    for (std::size_t d = 0; d < dimensions; ++d) {
        mains.push_back(state_->main(d));
        if (mains[d].size() > 1) effects.push_back({{d}, dot(mains[d], mains[d]) / static_cast<double>(mains[d].size()) / total});
    }
    for (std::size_t d = 0; d < dimensions; ++d)
        for (std::size_t e = d + 1; e < dimensions; ++e)
            if (mains[d].size() > 1 && mains[e].size() > 1) effects.push_back({{d, e}, state_->pair_variance(d, e, mains[d], mains[e]) / total});
    std::stable_sort(effects.begin(), effects.end(), [](const Effect& a, const Effect& b) { return a.share > b.share; });
    return effects;
}

std::vector<double> CostModel::main_effect(std::size_t tunable) const {
    std::vector<double> factors(state_->geometry->values(tunable), std::numeric_limits<double>::quiet_NaN());
    const std::vector<double> effect = state_->main(tunable);
    for (std::size_t v = 0; v < effect.size(); ++v)
        if (const std::size_t value = state_->tried[tunable][v]; value < factors.size()) factors[value] = std::exp(effect[v]);
    return factors;
}

}  // namespace hone::inline v0_1
