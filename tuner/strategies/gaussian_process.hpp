#pragma once

#include <cstddef>
#include <vector>

#include "tuner/strategies/member_kernel.hpp"

namespace hone::inline v0_1 {

/// A Gaussian process's prediction for one candidate.
struct Expectation {
    double mean = 0;
    double deviation = 0;  ///< of the candidate's own value, with what no other member explains
    double failure = 0;    ///< how much it looks like a failure: about 0 to 1
};

/// A Gaussian process conditioned on members one by one (the rows). It keeps its expectations of a
/// pool of candidates up to date.
///
/// A row may be added before its value is told. Until then its expectation counts as its value.
/// That changes no mean, and removes the uncertainty around it, so that the pending members of a
/// window spread out. A failure has no value. Failures are learnt beside the costs, with the same
/// covariance. Mean and variance of the process are the maximum likelihood estimates.
///
/// Adding a row costs rows^2 + rows * pool operations. Telling a value costs pool operations when
/// rows are told in order. The Cholesky factor of the covariance matrix grows by a row at a time,
/// and the pool's part of it is kept, so no system is solved again. Sources: Rasmussen and
/// Williams, 2006, chapter 2 and algorithm 2.1; Ginsbourger, Le Riche and Carraro, 2010 (the
/// kriging believer: a pending member counts as its expectation).
class GaussianProcess {
  public:
    /// `kernel` is read again for every row and candidate: it must stay as it is.
    GaussianProcess(const MemberKernel& kernel, std::vector<std::size_t> pool);

    std::size_t rows() const { return rows_.size(); }
    void add(std::size_t member);
    /// The value of a row; infinite for a failure.
    void tell(std::size_t row, double value);

    const std::vector<std::size_t>& pool() const { return pool_; }
    /// A further candidate; costs rows^2.
    void extend(std::size_t member);
    Expectation expect(std::size_t place_in_pool) const;
    /// The part of a candidate's variance that the rows do not explain, whatever their values: 0 to
    /// 1.
    double unexplained(std::size_t place_in_pool) const { return left_[place_in_pool]; }
    /// Holds the process to its errors: predicts each of the lower half of the values from all
    /// others, and from now on widens all deviations by as much as these errors are greater than
    /// expected, if they are. Costs rows^3 / 6. Sources: Dubrule, 1983 (the errors without solving
    /// anew); Bachoc, 2013, "Cross validation and maximum likelihood estimations of
    /// hyper-parameters of Gaussian processes with model misspecification".
    void calibrate();
    /// The root of the mean square of these errors over the expected ones, as of the last time; 1
    /// before. Below 1 the process knows the lower values better than it thinks.
    double misfit() const { return misfit_; }

    /// Of the values, as the covariance explains them. Requires one.
    double variance() const;

  private:
    /// The values, and the ones and failures beside them, each multiplied by the inverse of the
    /// factor.
    struct Row {
        std::size_t member = 0;
        std::vector<double> factor;
        double value = 0;
        bool told = false;
        double solved_value = 0;
        double solved_one = 0;
        double solved_failure = 0;
        std::vector<float> pool;  ///< the candidates' covariances with the row, as solved
    };
    void solve(std::size_t row);
    void sum(const Row& row);
    double mean() const { return ones_ > 0 ? cross_ / ones_ : 0; }

    const MemberKernel* kernel_;
    std::vector<std::size_t> pool_;
    KernelColumns columns_;  ///< of the pool
    std::vector<Row> rows_;
    std::size_t last_told_ = 0;  ///< one more than the row
    double squares_ = 0;         ///< sums over rows of solved values, ...
    double cross_ = 0;           ///< ... values times ones
    double ones_ = 0;            ///< ... and ones
    double count_ = 0;           ///< values
    double doubt_ = 1;           ///< squared errors over expected ones
    double misfit_ = 1;          ///< root of squared errors over expected ones, where doubt_ is at least 1
    std::vector<float> left_;    ///< of each candidate: the part of its variance that is not explained yet
    std::vector<float> value_, one_, failure_;
};

}  // namespace hone::inline v0_1
