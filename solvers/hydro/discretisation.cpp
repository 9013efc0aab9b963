#include "solvers/hydro/discretisation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "foundation/error.hpp"
#include "runtime/ranks/ordered_gather.hpp"
#include "solvers/hydro/energy_mass.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

// Index along one axis, of something with x fastest.
std::size_t along(std::size_t index, std::size_t width, int axis) {
    for (int i = 0; i < axis; ++i) index /= width;
    return index % width;
}

std::array<double, 3> from_line(const std::vector<double>& line, std::size_t index, int dimension) {
    std::array<double, 3> at{};
    for (int axis = 0; axis < dimension; ++axis) at[static_cast<std::size_t>(axis)] = line[along(index, line.size(), axis)];
    return at;
}

double determinant(const double* j, int dimension) {
    if (dimension == 2) return j[0] * j[3] - j[1] * j[2];
    return j[0] * (j[4] * j[8] - j[5] * j[7]) - j[1] * (j[3] * j[8] - j[5] * j[6]) + j[2] * (j[3] * j[7] - j[4] * j[6]);
}

// The zones of each node, ascending.
std::vector<std::vector<int>> zones_of_nodes(const std::vector<std::int32_t>& zone_nodes, std::size_t per_zone, std::size_t nodes) {
    std::vector<std::vector<int>> zones(nodes);
    for (std::size_t i = 0; i < zone_nodes.size(); ++i) zones[static_cast<std::size_t>(zone_nodes[i])].push_back(static_cast<int>(i / per_zone));
    return zones;
}

// Rows that share a zone with each row, and no values. Columns of a row have the order of the whole
// mesh, so that sums have.
CsrMatrix pattern_of(const std::vector<std::int32_t>& zone_nodes, std::size_t per_zone, const std::vector<std::vector<int>>& zones_of,
                     const std::vector<std::int32_t>& numbers) {
    const auto before = [&](int a, int b) { return numbers[static_cast<std::size_t>(a)] < numbers[static_cast<std::size_t>(b)]; };
    const std::size_t nodes = numbers.size();
    std::vector<std::vector<int>> rows(nodes);
#pragma omp parallel for schedule(static)
    for (std::size_t node = 0; node < nodes; ++node) {
        std::vector<int>& row = rows[node];
        for (const int zone : zones_of[node]) {
            const auto begin = zone_nodes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(zone) * per_zone);
            row.insert(row.end(), begin, begin + static_cast<std::ptrdiff_t>(per_zone));
        }
        std::sort(row.begin(), row.end(), before);
        row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    CsrMatrix matrix{{0}, {}, {}};
    matrix.row_starts.reserve(nodes + 1);
    for (const std::vector<int>& row : rows) matrix.row_starts.push_back(matrix.row_starts.back() + static_cast<int>(row.size()));
    matrix.columns.resize(static_cast<std::size_t>(matrix.row_starts.back()));
    matrix.values.assign(matrix.columns.size(), 0.0);
#pragma omp parallel for schedule(static)
    for (std::size_t node = 0; node < nodes; ++node)
        std::copy(rows[node].begin(), rows[node].end(), matrix.columns.begin() + matrix.row_starts[node]);
    return matrix;
}

// All of a mesh.
ZoneSelection everything(const QuadMesh& mesh, const QuadLattice& lattice) {
    ZoneSelection all{std::vector<int>(mesh.zones.size()), std::vector<std::int32_t>(static_cast<std::size_t>(lattice.nodes))};
    std::iota(all.zones.begin(), all.zones.end(), 0);
    std::iota(all.nodes.begin(), all.nodes.end(), 0);
    return all;
}

// Zone and corner of the mesh that lie nearest to the origin.
std::pair<std::size_t, std::size_t> corner_at_origin(const QuadMesh& mesh) {
    std::size_t nearest = 0;
    const auto corners = static_cast<std::size_t>(mesh.corners());
    const auto distance = [&](std::size_t i) {
        const Point& at = mesh.vertices[static_cast<std::size_t>(mesh.zones[i / corners][i % corners])];
        return std::hypot(at[0], at[1], at[2]);
    };
    for (std::size_t i = 1; i < mesh.zones.size() * corners; ++i)
        if (distance(i) < distance(nearest)) nearest = i;
    return {nearest / corners, nearest % corners};
}

// A wall holds one component of the velocity, which is the one across it only if it lies across an
// axis.
void check_wall(const QuadMesh& mesh, std::size_t side, int axis, const std::string& where) {
    const auto& vertices = mesh.sides[side].vertices;
    double length = 0;
    double slant = 0;
    const Point& first = mesh.vertices[static_cast<std::size_t>(vertices[0])];
    for (std::size_t i = 1; i < static_cast<std::size_t>(mesh.corners() / 2); ++i) {
        const Point& other = mesh.vertices[static_cast<std::size_t>(vertices[i])];
        length = std::max(length, std::hypot(other[0] - first[0], other[1] - first[1], other[2] - first[2]));
        slant = std::max(slant, std::abs(other[static_cast<std::size_t>(axis)] - first[static_cast<std::size_t>(axis)]));
    }
    constexpr double rounding = 1e-6;  // files have seven digits or more
    if (slant <= rounding * length) return;
    const char name = "xyz"[axis];
    throw Error(where,
                fmt::format("side {0} of the boundary from ({1}) has attribute {2}, a wall across {3}, and is slanted: its {3} differs by {4:.3g}",
                            side, fmt::join(first.begin(), first.begin() + mesh.dimension, ", "), axis + 1, name, slant),
                "give walls that lie across x, y or z the attribute 1, 2 or 3, and sides that move freely another one");
}

}  // namespace

Discretisation::Discretisation(HydroProblem of, int order_of, QuadMesh on, const std::string& where)
    : problem(std::move(of)), order(order_of), dimension(on.dimension), mesh(std::move(on)), quadrature(gauss_legendre(2 * order)) {
    const QuadLattice lattice = number_lattice(mesh, std::clamp(order, 1, 8), where.c_str());
    discretise(mesh, lattice, everything(mesh, lattice), where);
    first_length = length_of(sum_by_halves(zone_sizes), std::ssize(zone_sizes));
}

Discretisation::Discretisation(HydroProblem of, int order_of, const QuadMesh& whole, const QuadLattice& lattice, const ZoneSelection& selection,
                               const std::string& where)
    : problem(std::move(of)), order(order_of), dimension(whole.dimension), quadrature(gauss_legendre(2 * order)) {
    mesh.dimension = dimension;
    mesh.vertices = whole.vertices;
    for (const int zone : selection.zones) {
        mesh.zones.push_back(whole.zones[static_cast<std::size_t>(zone)]);
        mesh.attributes.push_back(whole.attributes[static_cast<std::size_t>(zone)]);
    }
    discretise(whole, lattice, selection, where);
}

void Discretisation::discretise(const QuadMesh& whole, const QuadLattice& lattice, const ZoneSelection& selection, const std::string& where) {
    if (order < 1 || order > 8) throw Error("order of " + problem.name, fmt::format("it is {}", order), "use 1 to 8");
    if (dimension != problem.dimension)
        throw Error(where, fmt::format("it has {} dimensions, {} has {}", dimension, problem.name, problem.dimension),
                    "use --dimension as the mesh has");
    kinematic = lagrange_table(lobatto_nodes(order), quadrature.points);
    thermodynamic = bernstein_table(order - 1, quadrature.points);
    tabulate();
    nodes_ = selection.nodes.size();
    std::vector<std::int32_t> here(static_cast<std::size_t>(lattice.nodes), -1);
    for (std::size_t node = 0; node < nodes_; ++node) here[static_cast<std::size_t>(selection.nodes[node])] = static_cast<std::int32_t>(node);
    for (const int zone : selection.zones)
        for (std::size_t node = 0; node < nodes_of_zone(); ++node)
            zone_nodes.push_back(here[static_cast<std::size_t>(lattice.zone_nodes[static_cast<std::size_t>(zone) * nodes_of_zone() + node])]);
    place_nodes();
    hold_walls(whole, lattice, selection, where);
    measure(selection, where);
    assemble_velocity_mass(selection);
    velocity_mass.elements = {dimension, order, 2 * order, zone_nodes, mass};
    assemble_energy_mass();
    set_first_energies();
    if (problem.blast > 0) set_blast(whole, selection);
    set_first_velocities();
}

void Discretisation::tabulate() {
    const std::size_t width = quadrature.points.size();
    for (std::size_t point = 0; point < points_of_zone(); ++point) {
        double weight = 1;
        for (int axis = 0; axis < dimension; ++axis) weight *= quadrature.weights[along(point, width, axis)];
        weights.push_back(weight);
        // With the derivative along one direction, or none.
        const auto product = [&](const Table& table, std::size_t function, int direction) {
            double value = 1;
            for (int axis = 0; axis < dimension; ++axis) {
                const std::size_t p = along(point, width, axis);
                const std::size_t f = along(function, table.functions, axis);
                value *= axis == direction ? table.derivative(p, f) : table.value(p, f);
            }
            return value;
        };
        constexpr int none = -1;
        for (std::size_t node = 0; node < nodes_of_zone(); ++node) {
            node_values.push_back(product(kinematic, node, none));
            for (int axis = 0; axis < dimension; ++axis) node_gradients.push_back(product(kinematic, node, axis));
        }
        for (std::size_t i = 0; i < energies_of_zone(); ++i) energy_values.push_back(product(thermodynamic, i, none));
    }
}

void Discretisation::place_nodes() {
    const std::vector<double> line = lobatto_nodes(order);
    first.positions.resize(static_cast<std::size_t>(dimension) * nodes_);
    for (std::size_t zone = 0; zone < zones(); ++zone)
        for (std::size_t node = 0; node < nodes_of_zone(); ++node) {
            const Point place = place_in_zone(mesh, zone, from_line(line, node, dimension));
            const auto number = static_cast<std::size_t>(zone_nodes[zone * nodes_of_zone() + node]);
            for (std::size_t c = 0; c < static_cast<std::size_t>(dimension); ++c) first.positions[c * nodes_ + number] = place[c];
        }
}

void Discretisation::hold_walls(const QuadMesh& whole, const QuadLattice& lattice, const ZoneSelection& selection, const std::string& where) {
    const auto d = static_cast<std::size_t>(dimension);
    std::vector<unsigned> held(static_cast<std::size_t>(lattice.nodes));  // of each node of the whole a bit for each component
    const std::size_t per_side = whole.sides.empty() ? 0 : lattice.side_nodes.size() / whole.sides.size();
    for (std::size_t side = 0; side < whole.sides.size(); ++side) {
        const int axis = whole.sides[side].attribute - 1;
        if (axis < 0 || axis >= dimension) continue;
        check_wall(whole, side, axis, where);
        for (std::size_t i = 0; i < per_side; ++i) held[static_cast<std::size_t>(lattice.side_nodes[side * per_side + i])] |= 1U << axis;
    }
    velocity_mass.components = dimension;
    velocity_mass.fixed.resize(d);
    for (std::size_t node = 0; node < nodes_; ++node)
        for (std::size_t c = 0; c < d; ++c)
            if ((held[static_cast<std::size_t>(selection.nodes[node])] >> c & 1U) != 0) velocity_mass.fixed[c].push_back(static_cast<int>(node));
}

void Discretisation::measure(const ZoneSelection& selection, const std::string& where) {
    const std::size_t points = points_of_zone(), n = nodes_of_zone(), count = zones();
    const auto d = static_cast<std::size_t>(dimension);
    zone_sizes.assign(count, 0.0);
    gamma.resize(count);
    mass.resize(count * points);
    first_jacobian.assign(count * points * d * d, 0.0);
    std::size_t bad = count;
    const bool many = count * points * n > 10000;
#pragma omp parallel for schedule(static) reduction(min : bad) if (many)
    for (std::size_t zone = 0; zone < count; ++zone) {
        gamma[zone] = problem.gamma(place_in_zone(mesh, zone, {0.5, 0.5, 0.5}));
        for (std::size_t point = 0; point < points; ++point) {
            double* const jacobian = &first_jacobian[(zone * points + point) * d * d];
            for (std::size_t node = 0; node < n; ++node)
                for (std::size_t row = 0; row < d; ++row) {
                    const double x = first.positions[row * nodes_ + static_cast<std::size_t>(zone_nodes[zone * n + node])];
                    for (std::size_t column = 0; column < d; ++column)
                        jacobian[row * d + column] += x * node_gradients[(point * n + node) * d + column];
                }
            const double size = determinant(jacobian, dimension);
            if (!(size > 0)) bad = std::min(bad, zone);
            const double density = problem.density(place_in_zone(mesh, zone, from_line(quadrature.points, point, dimension)));
            mass[zone * points + point] = density * size * weights[point];
            zone_sizes[zone] += size * weights[point];
        }
    }
    if (bad < count)
        throw Error(where, fmt::format("zone {} is inverted or flat", selection.zones[bad]), "let its corners go around as a right-handed cube's do");
}

double Discretisation::length_of(double size, std::int64_t count) const {
    return std::pow(size / static_cast<double>(count), 1.0 / dimension) / order;
}

void Discretisation::assemble_velocity_mass(const ZoneSelection& selection) {
    const std::size_t n = nodes_of_zone(), points = points_of_zone();
    const std::vector<std::vector<int>> zones_of = zones_of_nodes(zone_nodes, n, nodes_);
    CsrMatrix& matrix = velocity_mass.matrix = pattern_of(zone_nodes, n, zones_of, selection.nodes);
    const auto before = [&](int a, int b) { return selection.nodes[static_cast<std::size_t>(a)] < selection.nodes[static_cast<std::size_t>(b)]; };
    const std::size_t rows = nodes_;
    const bool many = zones() * n * n > 10000;
#pragma omp parallel if (many)
    {
        std::vector<double> products(n);  // of a node's function in a zone with all that are there
#pragma omp for schedule(dynamic, 256)
        for (std::size_t row = 0; row < rows; ++row) {
            const auto begin = matrix.columns.begin() + matrix.row_starts[row], end = matrix.columns.begin() + matrix.row_starts[row + 1];
            // Zones are added in their order.
            for (const int number : zones_of[row]) {
                const auto zone = static_cast<std::size_t>(number);
                const std::int32_t* const numbers = &zone_nodes[zone * n];
                const auto i = static_cast<std::size_t>(std::find(numbers, numbers + n, static_cast<std::int32_t>(row)) - numbers);
                std::fill(products.begin(), products.end(), 0.0);
                for (std::size_t point = 0; point < points; ++point) {
                    const double left = mass[zone * points + point] * node_values[point * n + i];
                    for (std::size_t j = 0; j < n; ++j) products[j] += left * node_values[point * n + j];
                }
                for (std::size_t j = 0; j < n; ++j)
                    matrix.values[static_cast<std::size_t>(std::lower_bound(begin, end, numbers[j], before) - matrix.columns.begin())] += products[j];
            }
        }
    }
}

void Discretisation::assemble_energy_mass() {
    const std::size_t n = energies_of_zone();
    const std::size_t points = points_of_zone();
    energy_mass.assign(zones() * n * n, 0.0);
    const std::size_t count = zones();
    const bool many = count * points * n * n > 10000;
#pragma omp parallel for schedule(static) if (many)
    for (std::size_t zone = 0; zone < count; ++zone)
        for (std::size_t point = 0; point < points; ++point) {
            const double* const values = &energy_values[point * n];
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j) energy_mass[(zone * n + i) * n + j] += mass[zone * points + point] * values[i] * values[j];
        }
}

// The polynomial through the energies at Gauss and Legendre's k points, which lie within the zone:
// a jump between zones stays one.
void Discretisation::set_first_energies() {
    const std::size_t n = energies_of_zone();
    const Quadrature rule = gauss_legendre(order);
    const Table bernstein = bernstein_table(order - 1, rule.points);
    // The inverse of the one-dimensional collocation: B^-1 = (B' B)^-1 B'.
    const auto k = static_cast<std::size_t>(order);
    std::vector<double> normal(k * k);
    for (std::size_t p = 0; p < k; ++p)
        for (std::size_t i = 0; i < k * k; ++i) normal[i] += bernstein.value(p, i / k) * bernstein.value(p, i % k);
    const std::vector<double> inverse = inverse_of(normal, order);
    std::vector<double> solve(k * k);
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t p = 0; p < k; ++p)
            for (std::size_t j = 0; j < k; ++j) solve[i * k + p] += inverse[i * k + j] * bernstein.value(p, j);
    first.energies.assign(zones() * n, 0.0);
    for (std::size_t zone = 0; zone < zones(); ++zone)
        for (std::size_t p = 0; p < n; ++p) {
            const double value = problem.energy(place_in_zone(mesh, zone, from_line(rule.points, p, dimension)));
            for (std::size_t i = 0; value != 0 && i < n; ++i) {
                double part = value;
                for (int axis = 0; axis < dimension; ++axis) part *= solve[along(i, k, axis) * k + along(p, k, axis)];
                first.energies[zone * n + i] += part;
            }
        }
}

// All of a blast is in the coefficient of the corner that lies nearest to the origin.
void Discretisation::set_blast(const QuadMesh& whole, const ZoneSelection& selection) {
    const auto [of_whole, corner] = corner_at_origin(whole);
    const auto found = std::lower_bound(selection.zones.begin(), selection.zones.end(), static_cast<int>(of_whole));
    if (found == selection.zones.end() || *found != static_cast<int>(of_whole)) return;
    const auto zone = static_cast<std::size_t>(found - selection.zones.begin());
    const auto corners = static_cast<std::size_t>(whole.corners());
    const auto words = static_cast<std::size_t>(dimension * dimension);
    double volume = 0;
    for (std::size_t point = 0; point < points_of_zone(); ++point)
        volume += weights[point] * determinant(&first_jacobian[(zone * points_of_zone() + point) * words], dimension);
    const auto k = static_cast<std::size_t>(order);
    std::size_t coefficient = 0;
    for (int axis = dimension - 1; axis >= 0; --axis) coefficient = coefficient * k + (corner >> axis & 1) * (k - 1);
    first.energies[zone * energies_of_zone() + coefficient] =
        problem.blast / static_cast<double>(corners) * static_cast<double>(energies_of_zone()) / volume;
}

void Discretisation::set_first_velocities() {
    const auto d = static_cast<std::size_t>(dimension);
    first.velocities.resize(d * nodes_);
    for (std::size_t node = 0; node < nodes_; ++node) {
        Point at{};
        for (std::size_t c = 0; c < d; ++c) at[c] = first.positions[c * nodes_ + node];
        const Point velocity = problem.velocity(at);
        for (std::size_t c = 0; c < d; ++c) first.velocities[c * nodes_ + node] = velocity[c];
    }
    for (std::size_t c = 0; c < d; ++c)
        for (const int node : velocity_mass.fixed[c]) first.velocities[c * nodes_ + static_cast<std::size_t>(node)] = 0;
}

double Discretisation::internal_energy(std::span<const double> energies) const {
    return sum_by_halves(internal_energies(energies));
}

double Discretisation::kinetic_energy(std::span<const double> velocities) const {
    return sum_by_halves(doubled_kinetic_energies(velocities, nodes_)) / 2;
}

std::vector<double> Discretisation::internal_energies(std::span<const double> energies) const {
    const std::size_t n = energies_of_zone();
    std::vector<double> sums(zones());
    const std::size_t count = zones();
#pragma omp parallel for schedule(static)
    for (std::size_t zone = 0; zone < count; ++zone)
        for (std::size_t row = zone * n; row < (zone + 1) * n; ++row) {
            double share = 0;  // of this coefficient: the functions sum to one
            for (std::size_t j = 0; j < n; ++j) share += energy_mass[row * n + j];
            sums[zone] += share * energies[row];
        }
    return sums;
}

std::vector<double> Discretisation::doubled_kinetic_energies(std::span<const double> velocities, std::size_t nodes) const {
    const CsrMatrix& m = velocity_mass.matrix;
    const auto d = static_cast<std::size_t>(dimension);
    std::vector<double> sums((nodes + node_chunk - 1) / node_chunk);
    const std::size_t count = sums.size();
#pragma omp parallel for schedule(static)
    for (std::size_t chunk = 0; chunk < count; ++chunk)
        for (std::size_t row = chunk * node_chunk; row < std::min(nodes, (chunk + 1) * node_chunk); ++row) {
            std::array<double, 3> products{};
            for (auto i = static_cast<std::size_t>(m.row_starts[row]); i < static_cast<std::size_t>(m.row_starts[row + 1]); ++i)
                for (std::size_t c = 0; c < d; ++c) products.at(c) += m.values[i] * velocities[c * nodes_ + static_cast<std::size_t>(m.columns[i])];
            for (std::size_t c = 0; c < d; ++c) sums[chunk] += velocities[c * nodes_ + row] * products.at(c);
        }
    return sums;
}

}  // namespace hone::inline v0_1::solvers::hydro
