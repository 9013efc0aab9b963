#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "generator/families/elements/reference_element.hpp"
#include "solvers/mesh/connectivity.hpp"
#include "solvers/mesh/geometry.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// What an element is filled with.
struct Material {
    double first = 1;   ///< permittivity of electromagnetic waves, density of sound
    double second = 1;  ///< permeability, speed of sound

    bool operator==(const Material&) const = default;
};

/// One of the equations that the dg families solve.
struct WaveEquation {
    std::string name;  ///< maxwell_3d, maxwell_2d_tm or acoustics_3d
    int dimension;
    std::vector<std::string> fields;  ///< in the order in which they are stored
    bool maxwell;                     ///< otherwise acoustics

    int field_count() const { return static_cast<int>(fields.size()); }
};

/// The row of that name; throws Error naming the nearest.
const WaveEquation& wave_equation(const std::string& name);
std::vector<std::string> wave_equation_names();

/// What each element of a mesh is filled with, by the names of the mesh's groups; see
/// Discretisation, which throws the same Errors.
std::vector<Material> materials_of(const Mesh& mesh, const std::map<std::string, Material>& materials, const std::string& where);

/// SHA-256 of mesh and materials: tells whether two runs are about the same.
std::string fingerprint(const WaveEquation& equation, const Mesh& mesh, const std::vector<Material>& of_elements);

/// A mesh with nodes: what nodal discontinuous Galerkin computes on (Hesthaven & Warburton, Nodal
/// Discontinuous Galerkin Methods, Springer 2008). Fields are stored as [element][field][node].
/// Everything is in double precision here, whatever a solver computes in.
struct Discretisation {
    /// Matches the faces, measures the elements and numbers the nodes. `materials` by the names of
    /// the mesh's groups; a group without one is filled with unit material when it is "default" or
    /// "vacuum", else it is an Error that names an element. `where` says where the mesh comes from.
    Discretisation(const std::string& equation, int order, const Mesh& mesh, const std::map<std::string, Material>& materials = {},
                   const std::string& where = "mesh");
    /// The same with neighbours that are known, as of a part of a mesh: [element][face].
    Discretisation(const std::string& equation, int order, Mesh mesh, const std::vector<Neighbour>& neighbours,
                   const std::map<std::string, Material>& materials, const std::string& where);

    static constexpr int reflecting_wall = -1;  ///< in `neighbour`
    static constexpr int absorbing = -2;

    const WaveEquation* equation;
    const ReferenceElement* element;
    Mesh mesh;
    std::vector<double> geometry;         ///< [element][d * d]: rx, ry(, rz), sx, ...
    std::vector<double> faces;            ///< [element][face][d + 1]: outward normal, Fscale
    std::vector<std::int32_t> neighbour;  ///< [element][face][node of the face]: node behind, in the numbering of all nodes, or what the boundary is
    std::vector<double> jacobian;         ///< [element]
    std::vector<Material> material;       ///< [element]
    bool uniform;                         ///< all material is of unit
    double largest_fscale;
    double largest_speed;  ///< of waves

    int size() const { return mesh.size(); }
    int nodes() const { return element->nodes(); }
    std::int64_t words() const { return std::int64_t{size()} * equation->field_count() * nodes(); }

    /// [element][3]: 1/mu, 1/eps, sqrt(mu/eps); of sound rho c^2, 1/rho, rho c.
    std::vector<double> material_words() const;
    /// A time step that is stable up to a part of about 0.5: `part` / (largest Fscale N^2 c), c the
    /// largest speed.
    double stable_step(double part = 0.5) const;

    using Fields = std::array<double, 6>;                          ///< as many as the equation has
    using Solution = std::function<Fields(const Point&, double)>;  ///< of place and time

    std::vector<double> interpolated(const Solution& solution, double time) const;
    /// Half of the sum over elements of J q' M q, each field times eps, mu; rho, 1/(rho c^2).
    double energy(std::span<const double> q) const;
    std::vector<double> energies(std::span<const double> q) const;  ///< [element]: of which it is the sum
    /// Square root of the sum over fields of the integral of (q - interpolated solution)^2.
    double error(std::span<const double> q, const Solution& solution, double time) const;
    std::vector<double> square_errors(std::span<const double> q, const Solution& solution, double time) const;  ///< [element]: of which it is the sum
};

/// The lowest oscillation of the box [-1, 1]^d between reflecting walls: HW08's cavity of TM waves,
/// constant along z in space, and for sound p = cos(pi x) cos(pi y) cos(pi z) cos(w t).
Discretisation::Solution cavity(const WaveEquation& equation);

/// The lowest TM mode of a cylinder of radius 1 around the z axis, or a disc, between conductors:
/// Ez = J0(j r) cos(j t), j the first zero of J0. Throws Error for sound.
Discretisation::Solution cylinder_mode(const WaveEquation& equation);

/// At rest but for a Gaussian in the middle of the mesh, an eighth of its shortest extent wide: of
/// Ez, alike along z, or of the pressure. Valid at time 0.
Discretisation::Solution pulse(const WaveEquation& equation, const Mesh& mesh);

/// L2 errors of `cavity` that an independent solver in double precision found on boxes of n^d
/// cells, with stable_step(0.5).
struct KnownError {
    const char* equation;
    int order;
    int cells;
    double time;
    double error;
};
constexpr std::array<KnownError, 8> known_errors{{{"maxwell_2d_tm", 3, 4, 1, 9.378e-3},
                                                  {"maxwell_2d_tm", 3, 8, 1, 6.095e-4},
                                                  {"maxwell_3d", 2, 4, 0.5, 8.911e-2},
                                                  {"maxwell_3d", 2, 8, 0.5, 1.152e-2},
                                                  {"maxwell_3d", 3, 4, 0.5, 1.388e-2},
                                                  {"maxwell_3d", 3, 8, 0.5, 8.941e-4},
                                                  {"acoustics_3d", 3, 4, 0.5, 2.458e-2},
                                                  {"acoustics_3d", 3, 8, 0.5, 1.699e-3}}};

}  // namespace hone::inline v0_1::solvers::maxwell
