#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// A measured member of a space.
struct MeasuredCost {
    std::int64_t index = 0;  ///< SearchSpace::at
    double cost = 0;         ///< positive
};

/// A model of the costs of a whole space, fitted to those that were measured. It is the model of
/// the search strategy `surrogate`: a Gaussian process of the logarithms of the costs, with the
/// covariance of strategies/member_kernel.hpp.
///
///     const CostModel model(space, costs);
///     for (const auto& effect : model.effects()) ...   // which tunables mattered
///     model.predict(index).cost                        // of a member that nobody measured
///
/// Pure and deterministic. It uses at most 300 costs: the best 150, and others spread evenly over
/// the rest.
class CostModel {
  public:
    /// With fewer costs there is no model.
    static constexpr std::size_t fewest = 10;

    /// Requires `fewest` costs of different members.
    CostModel(const SearchSpace& space, std::vector<MeasuredCost> costs);
    ~CostModel();
    CostModel(CostModel&&) noexcept;
    CostModel& operator=(CostModel&&) noexcept;

    /// The part of the variance of the costs' logarithms that the model explains, when each cost is
    /// predicted from all others: at most 1. At 0 and below it explains nothing.
    double explained() const;

    struct Prediction {
        double cost = 0;
        double low = 0;  ///< with `high` the 95 % interval of the cost, as far as the model is right
        double high = 0;
        /// The mean part by which the cost is below `bound`, counting 0 where it is not.
        double improvement(double bound) const;
    };
    /// Of any assignment of the space's product, a member or not.
    Prediction predict(std::int64_t index) const;

    /// The expected gain by the `asks` most promising of some members, each of which stands for
    /// `weight` others like it: the chance of a cost below the least that was measured by more than
    /// `part`, and the mean gain (strategies/remaining_gain.hpp: members count as independent, so
    /// it is rather too hopeful).
    Outlook outlook(const std::vector<std::int64_t>& members, double weight, double asks, double part) const;

    /// The main effect of one tunable, or the interaction of two.
    struct Effect {
        std::vector<std::size_t> tunables;  ///< one or two positions in the space's list
        double share = 0;                   ///< of the variance of the logarithms of the costs, 0 to 1
    };
    /// Functional analysis of variance of the model's mean, over the product of all values that
    /// were tried, with equal weights. It is exact, because the mean is a sum of products over the
    /// tunables. That a form does not have a tunable counts as one more value of it. Main effects
    /// and pairs, the greatest first. The rest to 1 is the interaction of three and more tunables.
    /// Sources: Hutter, Hoos and Leyton-Brown, 2014, "An efficient approach for assessing
    /// hyperparameter importance" (the analysis); Durrande et al., 2013, "ANOVA kernels and RKHS of
    /// zero mean functions" (that such kernels allow it in closed form).
    std::vector<Effect> effects() const;

    /// For each value of a tunable, the geometric mean of the cost over all values of the others,
    /// divided by the mean over its values. NaN for values that were not tried.
    std::vector<double> main_effect(std::size_t tunable) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
