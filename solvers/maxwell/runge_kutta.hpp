#pragma once

#include <array>

namespace hone::inline v0_1::solvers::maxwell {

/// Low-storage Runge-Kutta of five stages and fourth order: res = a res + dt rhs; q = q + b res.
/// Carpenter & Kennedy, NASA TM-109112 (1994).
struct RungeKuttaStage {
    double a, b;
};
constexpr std::array<RungeKuttaStage, 5> runge_kutta{{{0, 1432997174477.0 / 9575080441755.0},
                                                      {-567301805773.0 / 1357537059087.0, 5161836677717.0 / 13612068292357.0},
                                                      {-2404267990393.0 / 2016746695238.0, 1720146321549.0 / 2090206949498.0},
                                                      {-3550918686646.0 / 2091501179385.0, 3134564353537.0 / 4481467310338.0},
                                                      {-1275806237668.0 / 842570457699.0, 2277821191437.0 / 14882151754819.0}}};

}  // namespace hone::inline v0_1::solvers::maxwell
