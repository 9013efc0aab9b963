#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "solvers/mesh/quad_mesh.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// What gas is where at first: everything of a run that is not mesh, order or time stepping.
struct HydroProblem {
    std::string name;
    int dimension = 2;
    double time = 0;        ///< at the end
    QuadBox box;            ///< its usual mesh
    bool viscosity = true;  ///< off where flows stay smooth
    bool heated = false;    ///< the source of energy of the two-dimensional Taylor-Green vortex
    double blast = 0;       ///< Sedov: energy at the origin, of all 2^d corners that meet there

    std::function<double(const Point&)> gamma = [](const Point&) { return 1.4; };  ///< at a zone's middle
    std::function<double(const Point&)> density = [](const Point&) { return 1.0; };
    std::function<double(const Point&)> energy = [](const Point&) { return 0.0; };  ///< specific internal
    std::function<Point(const Point&)> velocity = [](const Point&) { return Point{}; };
};

/// sedov, triple-point, taylor-green, sod or noh; throws Error naming the nearest. Definitions and
/// sources:
/// - sedov: a blast from a corner. Sedov, Similarity and Dimensional Methods in Mechanics (1959).
/// - triple-point: three gases, a strong shock and a vortex. Galera, Maire, Breil, J. Comput. Phys.
///   229 (2010).
/// - taylor-green: a steady vortex (2D, held by a source of energy; 3D without one). Dobrev, Kolev,
///   Rieben, SIAM J. Sci. Comput. 34 (2012).
/// - sod: a tube with a shock, a contact and a rarefaction. Sod, J. Comput. Phys. 27 (1978).
/// - noh: cold gas that falls on the origin. Noh, J. Comput. Phys. 72 (1987).
HydroProblem hydro_problem(const std::string& name, int dimension);
std::vector<std::string> hydro_problem_names();

/// The source of energy per volume of the heated vortex, at a place.
double vortex_heating(const Point& at);

/// What a run with order 2, RK4 and cfl 0.5 on the problem's usual box comes to, as the
/// mini-application Laghos (CEED, github.com/CEED/Laghos) publishes.
struct KnownRun {
    const char* problem;
    int dimension;
    std::array<int, 3> zones;
    double blast;
    double time;
    int steps;    ///< of the whole run, or until the norm is taken
    bool whole;   ///< the norm is that of the last step
    double norm;  ///< of the coefficients of the energy
};
const std::vector<KnownRun>& known_runs();

}  // namespace hone::inline v0_1::solvers::hydro
