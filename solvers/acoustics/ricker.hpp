#pragma once

namespace hone::inline v0_1::solvers::seismic {

/// Ricker's wavelet of unit amplitude, (1 - 2 a s^2) exp(-a s^2) with a = (pi frequency)^2 and s
/// the time from its peak. It begins, at time 0, below 1e-8.
struct Ricker {
    double frequency = 10;  ///< of the strongest amplitude, Hz

    double delay() const { return 1.5 / frequency; }               ///< the peak's time, s
    double highest_frequency() const { return 2.76 * frequency; }  ///< above it amplitudes are below 1 % of the strongest
    double operator()(double time) const;
    double integral(double time) const;  ///< s exp(-a s^2)
};

/// Pressure at `distance` from a point source in a homogeneous unbounded medium: the solution of
/// p_tt / speed^2 - Laplace p = ricker(t) delta(x).
///
///     3D: ricker(t - r / c) / (4 pi r)        2D: 1 / (2 pi) integral over theta >= 0 of ricker(t - r / c cosh theta)
///
/// The second is the first, summed along a line of sources. Accurate to about 1e-9 of the peak.
double exact_pressure(int dimension, const Ricker& ricker, double speed, double distance, double time);

}  // namespace hone::inline v0_1::solvers::seismic
