#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// Median, its distribution-free confidence interval and the minimum of the seconds of single time
/// steps, in any order.
///
/// The mean is left out on purpose: one interrupted step moves it, and no such step belongs to the
/// kernel. No samples give zeros.
Statistics summarise(std::vector<double> seconds);

/// Ranks (from 0) of the two order statistics of `samples` values that enclose the median with 95 %
/// confidence, whatever the distribution: the largest k with 1 - 2 P(Binomial(samples, 1/2) <= k)
/// >= 0.95 and its mirror image. Source: David & Nagaraja, Order Statistics, 7.1. Fewer than 6
/// samples cannot give that confidence; their whole range is returned. Requires at least one
/// sample.
std::pair<int, int> median_interval(int samples);

/// The number of first samples that are warm-up: those slower than every sample of the second half,
/// at most a quarter of all.
int warm_up_length(std::span<const double> seconds);

/// The rule that decides how long a candidate is measured. A sample is one time step, or the mean
/// of several where one is too short for the clock.
struct SamplingRule {
    int period = 40;                ///< samples in a full period, as in the published tuner of a hydrodynamics code
    int fewest = 6;                 ///< the first number that gives a 95 % interval of the median
    double narrow = 0.01;           ///< an interval so narrow, relative to the median, has decided: differences below 1 % are left to the finals
    double worse = 1.1;             ///< an interval wholly above this multiple of the incumbent has decided too
    double hopeless = 1.5;          ///< so have three samples all above this multiple
    double most_seconds = 1.0;      ///< a period ends after so much measured time and three samples
    double shortest_sample = 5e-5;  ///< seconds; device events resolve about half a microsecond, 1 % of this
    double energy_seconds = 0;      ///< a candidate that survives its sampling period runs so long under the power meter; 0: no energy is wanted

    /// Times `hopeless`: a single sample so far behind has decided as three have. What disturbs a
    /// step seldom doubles its time.
    static constexpr double hopeless_alone = 2;
    /// For `energy_seconds`: a meter that is read every 5 ms tells a period of this length to 1 %,
    /// as `narrow` does for time.
    static constexpr double enough_for_energy = 0.5;
    /// Metering ends after so many times `energy_seconds`, and the time that the meter needs to
    /// forget what was before, whatever it said.
    static constexpr double longest_metering = 4;
};

enum class Verdict {
    more,      ///< take another sample
    settled,   ///< the interval is narrow
    worse,     ///< clearly worse than the incumbent
    complete,  ///< the period is over
};

/// Whether a sampling period may end after `seconds` (warm-up removed), given the incumbent's
/// median (0: there is none) and the time that all samples took together.
Verdict judge(std::span<const double> seconds, double incumbent, double elapsed, const SamplingRule& rule);

/// The number of time steps in a sample when one takes `step_seconds`.
int steps_per_sample(double step_seconds, const SamplingRule& rule);

}  // namespace hone::inline v0_1
