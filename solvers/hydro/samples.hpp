#pragma once

#include <span>
#include <vector>

#include "solvers/hydro/discretisation.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// A state looked at in points of every zone, [zone][point], x fastest.
struct Samples {
    std::size_t per_zone = 0;
    std::vector<Point> places, velocities;
    std::vector<double> densities, energies, pressures;
};

/// At the points of a tensor grid over every zone: `line` are its places in [0, 1]. Densities
/// follow from those at first and how the gas was compressed since.
Samples sample(const Discretisation& of, const State& state, std::span<const double> line);

}  // namespace hone::inline v0_1::solvers::hydro
