#include "solvers/hydro/samples.hpp"

#include <array>

namespace hone::inline v0_1::solvers::hydro {
namespace {

using Axes = std::array<std::size_t, 3>;

Axes axes_of(std::size_t index, std::size_t width) {
    return {index % width, index / width % width, index / width / width};
}

// What one zone's nodes say at a point: value, and the derivatives of a field with as many
// components as directions.
struct Local {
    Point value{};
    std::array<Point, 3> slope{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};  // [component][axis]; of a plane, across it

    double volume() const {
        const auto& j = slope;
        return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) - j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
               j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
    }
};

Local look(const Discretisation& of, const std::vector<double>& field, std::size_t zone, const Table& table, const Axes& at) {
    Local result;
    const auto d = static_cast<std::size_t>(of.dimension);
    for (std::size_t c = 0; c < d; ++c) result.slope[c] = {};
    for (std::size_t node = 0; node < of.nodes_of_zone(); ++node) {
        const Axes n = axes_of(node, table.functions);
        const auto number = static_cast<std::size_t>(of.zone_nodes[zone * of.nodes_of_zone() + node]);
        double value = 1;
        Point slope{1, 1, 1};
        for (std::size_t axis = 0; axis < d; ++axis) {
            value *= table.value(at[axis], n[axis]);
            for (std::size_t along = 0; along < d; ++along)
                slope[along] *= along == axis ? table.derivative(at[axis], n[axis]) : table.value(at[axis], n[axis]);
        }
        for (std::size_t c = 0; c < d; ++c) {
            const double word = field[c * of.nodes() + number];
            result.value[c] += value * word;
            for (std::size_t axis = 0; axis < d; ++axis) result.slope[c][axis] += slope[axis] * word;
        }
    }
    if (d == 2) result.slope[2] = {0, 0, 1};
    return result;
}

double energy_at(const Discretisation& of, const State& state, std::size_t zone, const Table& table, const Axes& at) {
    double sum = 0;
    for (std::size_t i = 0; i < of.energies_of_zone(); ++i) {
        const Axes n = axes_of(i, table.functions);
        double value = 1;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(of.dimension); ++axis) value *= table.value(at[axis], n[axis]);
        sum += value * state.energies[zone * of.energies_of_zone() + i];
    }
    return sum;
}

// Gases meet where zones do: a density at first is taken a little inside.
Point inside(const Discretisation& of, std::size_t zone, std::span<const double> line, const Axes& at) {
    constexpr double shrunk = 1 - 1e-9;
    std::array<double, 3> u{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(of.dimension); ++axis) u[axis] = 0.5 + (line[at[axis]] - 0.5) * shrunk;
    return place_in_zone(of.mesh, zone, u);
}

}  // namespace

Samples sample(const Discretisation& of, const State& state, std::span<const double> line) {
    const Table kinematic = lagrange_table(lobatto_nodes(of.order), line);
    const Table thermodynamic = bernstein_table(of.order - 1, line);
    Samples samples;
    samples.per_zone = line.size() * line.size() * (of.dimension == 3 ? line.size() : 1);
    for (std::size_t zone = 0; zone < of.zones(); ++zone)
        for (std::size_t point = 0; point < samples.per_zone; ++point) {
            const Axes at = axes_of(point, line.size());
            const Local now = look(of, state.positions, zone, kinematic, at);
            const Local first = look(of, of.first.positions, zone, kinematic, at);
            const double density = of.problem.density(inside(of, zone, line, at)) * first.volume() / now.volume();
            const double energy = energy_at(of, state, zone, thermodynamic, at);
            samples.places.push_back(now.value);
            samples.velocities.push_back(look(of, state.velocities, zone, kinematic, at).value);
            samples.densities.push_back(density);
            samples.energies.push_back(energy);
            samples.pressures.push_back((of.gamma[zone] - 1) * density * energy);
        }
    return samples;
}

}  // namespace hone::inline v0_1::solvers::hydro
