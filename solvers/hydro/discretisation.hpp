#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "solvers/hydro/mass_system.hpp"
#include "solvers/hydro/problem.hpp"
#include "solvers/hydro/tables.hpp"
#include "solvers/mesh/quad_mesh.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// What moves: positions and velocities of nodes, [component][node], and coefficients of the
/// energy, [zone][k^d], all in double precision.
struct State {
    std::vector<double> positions, velocities, energies;

    bool operator==(const State&) const = default;
};

/// Some zones of a mesh, and how their nodes are numbered here: a rank's part.
struct ZoneSelection {
    std::vector<int> zones;           ///< of the whole mesh, ascending
    std::vector<std::int32_t> nodes;  ///< [node here]: its number in the whole mesh
};

/// A problem on a mesh in the spaces Qk and Qk-1: Dobrev, Kolev, Rieben, High-order curvilinear
/// finite element methods for Lagrangian hydrodynamics, SIAM J. Sci. Comput. 34 (2012). Positions
/// and velocities are continuous, their nodes those of Gauss and Lobatto; the specific internal
/// energy has coefficients of Bernstein's polynomials in every zone; integrals are Gauss and
/// Legendre's with 2k points a direction. Nodes, coefficients and points of a zone count with x
/// fastest.
///
/// Sides of the boundary with the attributes 1, 2 and 3 are walls across x, y and z, at which that
/// component of the velocity stays 0, and must lie across that axis; other sides move freely,
/// without pressure behind them.
class Discretisation {
  public:
    /// Requires 1 <= order <= 8. Throws Error for zones that are inverted or flat and for slanted
    /// walls. `where` says where the mesh comes from.
    Discretisation(HydroProblem problem, int order, QuadMesh mesh, const std::string& where = "box");
    /// The same of some zones of a whole mesh, with the lattice that number_lattice makes of it. A
    /// node that zones elsewhere have, too, has a part of its mass here; sums over zones have the
    /// order of the whole mesh. `first_length` is to be set by who knows all zones' sizes.
    Discretisation(HydroProblem problem, int order, const QuadMesh& whole, const QuadLattice& lattice, const ZoneSelection& selection,
                   const std::string& where = "box");

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
    std::vector<double> zone_sizes;        ///< [zone]: area or volume at time 0
    double first_length = 0;               ///< h0: edge of a zone of average size, over the order
    MassSystem velocity_mass;              ///< of each component
    std::vector<double> energy_mass;       ///< [zone][k^d][k^d]
    State first;

    std::size_t zones() const { return mesh.zones.size(); }
    std::size_t nodes() const { return nodes_; }
    std::size_t nodes_of_zone() const { return static_cast<std::size_t>(power(order + 1)); }
    std::size_t energies_of_zone() const { return static_cast<std::size_t>(power(order)); }
    std::size_t points_of_zone() const { return static_cast<std::size_t>(power(2 * order)); }

    /// The edge of `count` zones' average, over the order.
    double length_of(double size, std::int64_t count) const;

    double internal_energy(std::span<const double> energies) const;
    double kinetic_energy(std::span<const double> velocities) const;
    /// What these are the sums of, from first to last: by zone; and by node_chunk of the first
    /// `nodes` nodes, these doubled.
    std::vector<double> internal_energies(std::span<const double> energies) const;
    std::vector<double> doubled_kinetic_energies(std::span<const double> velocities, std::size_t nodes) const;
    /// Nodes whose numbers follow each other and are summed up first: what ranks share is made of
    /// whole ones.
    static constexpr std::size_t node_chunk = 256;

  private:
    int power(int base) const { return dimension == 2 ? base * base : base * base * base; }
    void tabulate();
    void place_nodes();
    void discretise(const QuadMesh& whole, const QuadLattice& lattice, const ZoneSelection& selection, const std::string& where);
    void hold_walls(const QuadMesh& whole, const QuadLattice& lattice, const ZoneSelection& selection, const std::string& where);
    void measure(const ZoneSelection& selection, const std::string& where);
    void assemble_velocity_mass(const ZoneSelection& selection);
    void assemble_energy_mass();
    void set_first_energies();
    void set_blast(const QuadMesh& whole, const ZoneSelection& selection);
    void set_first_velocities();

    std::size_t nodes_ = 0;
};

}  // namespace hone::inline v0_1::solvers::hydro
