#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/strategies/member_geometry.hpp"

namespace hone::inline v0_1 {

/// The covariance of a Gaussian process over a search space: how much the costs of two members have
/// in common.
///
/// It is a product over the tunables of `1 - share + share * c`, where c falls from 1 with the
/// difference of the two values. So a tunable acts partly by itself and partly together with the
/// others, as in an analysis of variance. For numbers, with or without a decimal point, c is a
/// Matern function of the distance in the ordered list, of smoothness 3/2 because costs have kinks.
/// For whole numbers it is multiplied by an exponential of the difference in alignment, the number
/// of times that a number can be halved: warps, memory banks and transactions depend on that. It is
/// multiplied by one more where one number is a power of two and the other is not: extents of
/// problems and caches mostly are, so that others leave a remainder or need another kernel. For
/// words and truth values c only tells equal from different; so it does for having the tunable and
/// being of a form without it. How fast c falls is a rate per tunable, learnt from the costs.
///
/// Sources: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006 (Matern
/// functions, marginal likelihood); Durrande et al., 2013, "ANOVA kernels and RKHS of zero mean
/// functions" (the form of the product).
class MemberKernel {
  public:
    MemberKernel(const SearchSpace& space, const MemberGeometry& geometry);

    /// Three for each tunable of several values: of the difference, of the alignment, of being a
    /// power of two. One that is zero has no effect, and is not learnt.
    const std::vector<double>& rates() const { return rates_; }
    void set_rate(std::size_t which, double rate);
    /// The tunable that a rate is of.
    std::size_t dimension(std::size_t which) const { return tables_[which / rates_per_table].dimension; }
    /// The rates before any cost is known.
    const std::vector<double>& usual_rates() const { return usual_rates_; }
    /// Variance that no other member explains, as a part of the whole.
    double noise() const { return noise_; }
    void set_noise(double noise) { noise_ = noise; }
    static constexpr double usual_noise = 1e-2;

    /// In (0, 1]; 1 for a member and itself.
    double operator()(std::size_t a, std::size_t b) const {
        double product = 1;
        for (const Table& table : tables_)
            product *= table.value[geometry_->coordinate(a, table.dimension) * table.size + geometry_->coordinate(b, table.dimension)];
        return product;
    }

    const MemberGeometry& geometry() const { return *geometry_; }

    /// The factor of one tunable: of two coordinates (MemberGeometry); 1 for a tunable of one
    /// coordinate.
    double factor(std::size_t dimension, std::size_t a, std::size_t b) const;

  private:
    friend class KernelColumns;
    /// Of a tunable with several coordinates.
    struct Table {
        std::size_t dimension = 0;
        std::size_t size = 0;
        std::vector<double> place;      ///< of each value, 0 to 1 along the ordered list; empty for words
        std::vector<double> alignment;  ///< of each value, 0 to 1; empty where it says no more than the place
        std::vector<double> power;      ///< of each value, whether it is a power of two; empty where it says no more than the place
        std::vector<double> value;      ///< [a][b]
    };
    void fill(std::size_t table);
    static constexpr std::size_t rates_per_table = 3;

    const MemberGeometry* geometry_;
    std::vector<Table> tables_;
    std::vector<double> rates_;  ///< `rates_per_table` each
    std::vector<double> usual_rates_;
    double noise_ = usual_noise;
};

/// Many members whose covariances with one other are asked for at once: their coordinates lie
/// tunable by tunable, which is three times as fast.
class KernelColumns {
  public:
    explicit KernelColumns(const MemberKernel& kernel) : kernel_(&kernel), coordinates_(kernel.tables_.size()) {}
    void add(std::size_t member);
    /// The covariances of `member` with all that were added, in that order.
    std::vector<float> covariances(std::size_t member) const;

  private:
    const MemberKernel* kernel_;
    std::size_t count_ = 0;
    std::vector<std::vector<std::uint32_t>> coordinates_;  ///< [table][place]
};

/// Learns rates and noise: those that make the `values` of `members` likeliest, weighed with a
/// prior. Deterministic, and starts from the middle of the prior whatever the kernel has: what few
/// values had led to would be hard to leave.
///
/// The prior moves with the number of values. With few it is wide and around small rates: a smooth
/// model in which few tunables matter finds the good regions soonest. With many it is narrower and
/// around rates eight times as great. Else what is likeliest may be that some tunable does not
/// matter at all, and a search never looks at its other values again. Source: Berkenkamp, Schoellig
/// and Krause, 2019, "No-regret Bayesian optimization with unknown hyperparameters" (length scales
/// have to shrink as evaluations are made, or a search may stay in a local optimum).
void fit(MemberKernel& kernel, std::span<const std::size_t> members, std::span<const double> values);

}  // namespace hone::inline v0_1
