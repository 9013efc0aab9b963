#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "examples/hydro/mass_system.hpp"
#include "examples/hydro/problem.hpp"
#include "examples/hydro/tables.hpp"
#include "examples/mesh/quad_mesh.hpp"

namespace hone::examples::hydro {

/// What moves: positions and velocities of nodes, [component][node], and coefficients of the energy, [zone][k^d], all in double precision.
struct State {
    std::vector<double> positions, velocities, energies;

    bool operator==(const State&) const = default;
};

/// A problem on a mesh in the spaces Qk and Qk-1: Dobrev, Kolev, Rieben, High-order curvilinear finite element methods for Lagrangian hydrodynamics,
/// SIAM J. Sci. Comput. 34 (2012). Positions and velocities are continuous, their nodes those of Gauss and Lobatto; the specific internal energy has
/// coefficients of Bernstein's polynomials in every zone; integrals are Gauss and Legendre's with 2k points a direction. Nodes, coefficients and
/// points of a zone count with x fastest.
///
/// Sides of the boundary with the attributes 1, 2 and 3 are walls across x, y and z, at which that component of the velocity stays 0; other sides
/// move freely, without pressure behind them.
class Discretisation {
  public:
    /// Requires 1 <= order <= 8. Throws Error for zones that are inverted or flat. `where` says where the mesh comes from.
    Discretisation(HydroProblem problem, int order, QuadMesh mesh, const std::string& where = "box");

    HydroProblem problem;
    int order;
    int dimension;
    QuadMesh mesh;
    Quadrature quadrature;                 ///< of one direction
    Table kinematic, thermodynamic;        ///< of one direction, at the quadrature's points
    std::vector<double> weights;           ///< [point] of a zone
    std::vector<double> node_values;       ///< [point][node] of a zone
    std::vector<double> node_gradients;    ///< [point][node][d], in the unit cube
    std::vector<double> energy_values;     ///< [point][coefficient]
    std::vector<std::int32_t> zone_nodes;  ///< [zone][node of the zone]
    std::vector<double> gamma;             ///< [zone]
    std::vector<double> mass;              ///< [zone][point]: density times volume of the point, which never changes
    std::vector<double> first_jacobian;    ///< [zone][point][d][d]: d x_row / d xi_column at time 0
    double first_length = 0;               ///< h0: edge of a zone of average size, over the order
    MassSystem velocity_mass;              ///< of each component
    std::vector<double> energy_mass;       ///< [zone][k^d][k^d]
    State first;

    std::size_t zones() const { return mesh.zones.size(); }
    std::size_t nodes() const { return nodes_; }
    std::size_t nodes_of_zone() const { return static_cast<std::size_t>(power(order + 1)); }
    std::size_t energies_of_zone() const { return static_cast<std::size_t>(power(order)); }
    std::size_t points_of_zone() const { return static_cast<std::size_t>(power(2 * order)); }

    double internal_energy(std::span<const double> energies) const;
    double kinetic_energy(std::span<const double> velocities) const;

  private:
    int power(int base) const { return dimension == 2 ? base * base : base * base * base; }
    void tabulate();
    void place_nodes();
    void hold_walls(const QuadLattice& lattice);
    void measure(const std::string& where);
    void assemble_velocity_mass();
    void assemble_energy_mass();
    void set_first_energies();
    void set_blast();
    void set_first_velocities();

    std::size_t nodes_ = 0;
};

}  // namespace hone::examples::hydro
