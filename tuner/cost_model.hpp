#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "generator/search_space.hpp"

namespace hone {

/// A measured member of a space.
struct MeasuredCost {
    std::int64_t index = 0;  ///< SearchSpace::at
    double cost = 0;         ///< positive
};

/// What measured costs say of a whole space: the model that the search strategy `surrogate` uses (a Gaussian process of the costs' logarithms with a
/// covariance that is a product over the tunables, strategies/member_kernel.hpp), asked afterwards.
///
///     const CostModel model(space, costs);
///     for (const auto& effect : model.effects()) ...   // which tunables mattered
///     model.predict(index).cost                        // of a member that nobody measured
///
/// Pure and deterministic. Of more than 300 costs the best half of as many and others evenly over the rest are taken.
class CostModel {
  public:
    /// Fewer say nothing.
    static constexpr std::size_t fewest = 10;

    /// Requires `fewest` costs of different members.
    CostModel(const SearchSpace& space, std::vector<MeasuredCost> costs);
    ~CostModel();
    CostModel(CostModel&&) noexcept;
    CostModel& operator=(CostModel&&) noexcept;

    /// How much of the variance of the logarithms of the costs the model explains, each cost predicted from all others: at most 1; 0 and below:
    /// nothing.
    double explained() const;

    struct Prediction {
        double cost = 0;
        double low = 0;  ///< with `high`: between them lies the cost with 95 %, as far as the model is right
        double high = 0;
        /// The mean part by which the cost is below `bound`, counting 0 where it is not.
        double improvement(double bound) const;
    };
    /// Of any assignment of the space's product, a member or not.
    Prediction predict(std::int64_t index) const;

    /// What one tunable does by itself, or two do together beyond what each does by itself.
    struct Effect {
        std::vector<std::size_t> tunables;  ///< one or two positions in the space's list
        double share = 0;                   ///< of the variance of the logarithms of the costs, 0 to 1
    };
    /// Functional analysis of variance of the model's mean over the product of all values that were tried, each as often as the others: exact,
    /// because the mean is a sum of products over the tunables. Main effects and pairs, the greatest first; what three and more tunables do together
    /// is the rest to 1. Sources: Hutter, Hoos and Leyton-Brown, 2014, "An efficient approach for assessing hyperparameter importance" (the
    /// analysis); Durrande et al., 2013, "ANOVA kernels and RKHS of zero mean functions" (that such kernels allow it in closed form).
    std::vector<Effect> effects() const;

    /// By what factor each value of a tunable changes the cost on the geometric mean over all values of the others; 1 is the mean over its values.
    /// Not a number for values that were not tried.
    std::vector<double> main_effect(std::size_t tunable) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone
