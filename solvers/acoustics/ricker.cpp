#include "solvers/acoustics/ricker.hpp"

#include <cmath>
#include <numbers>

namespace hone::inline v0_1::solvers::seismic {
namespace {

using std::numbers::pi;

double decay(double frequency) {
    return pi * pi * frequency * frequency;
}

}  // namespace

double Ricker::operator()(double time) const {
    const double s = time - delay(), as2 = decay(frequency) * s * s;
    return (1 - 2 * as2) * std::exp(-as2);
}

double Ricker::integral(double time) const {
    const double s = time - delay();
    return s * std::exp(-decay(frequency) * s * s);
}

double exact_pressure(int dimension, const Ricker& ricker, double speed, double distance, double time) {
    const double arrival = distance / speed;
    if (time <= arrival) return 0;
    if (dimension == 3) return ricker(time - arrival) / (4 * pi * distance);
    // The wavelet is silent before time 0, and what is integrated is even: the trapezoidal rule
    // converges faster than any power of the step.
    const double end = std::acosh(time / arrival);
    constexpr int steps = 2000;
    double sum = ricker(time - arrival) / 2;
    for (int i = 1; i < steps; ++i) sum += ricker(time - arrival * std::cosh(end * i / steps));
    return sum * end / steps / (2 * pi);
}

}  // namespace hone::inline v0_1::solvers::seismic
