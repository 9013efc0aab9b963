#include "generator/families/corner_force/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "foundation/caught.hpp"
#include "generator/families/corner_force/reference.hpp"

namespace hone::inline v0_1::corner {
namespace {

using Square = std::array<double, 9>;

// Operations of contractions along all axes, the last one at the points: `lengths` values become
// points_along, in `terms[axis]` kinds of lines.
double contraction_operations(const Shape& shape, int length, const std::array<int, 3>& terms) {
    double operations = 0;
    for (int axis = 0; axis < shape.dimension; ++axis) {
        double lines = 1;
        for (int other = 0; other < shape.dimension; ++other)
            if (other != axis) lines *= other < axis ? shape.points_along : length;
        operations += 2.0 * lines * length * shape.points_along * terms[static_cast<std::size_t>(axis)];
    }
    return operations;
}

std::array<int, 3> gradient_terms(const Shape& shape) {
    return shape.dimension == 2 ? std::array<int, 3>{2, 2, 0} : std::array<int, 3>{2, 3, 3};
}

struct Random {
    std::mt19937_64 bits;
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(bits); }
};

// A rotation about a random axis (2D: the axis stands on the plane), by the formula of Rodrigues.
Square random_rotation(Random& random, int d) {
    const double angle = random.uniform(0, 2 * std::numbers::pi);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    if (d == 2) return {c, -s, s, c};
    const double z = random.uniform(-1, 1);
    const double longitude = random.uniform(0, 2 * std::numbers::pi);
    const double n[3] = {std::sqrt(1 - z * z) * std::cos(longitude), std::sqrt(1 - z * z) * std::sin(longitude), z};
    Square r{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) r[3 * i + j] = (1 - c) * n[i] * n[j] + (i == j ? c : 0);
    r[1] -= s * n[2], r[2] += s * n[1], r[3] += s * n[2], r[5] -= s * n[0], r[6] -= s * n[1], r[7] += s * n[0];
    return r;
}

// R diag R^T.
Square turned(const Square& rotation, const std::array<double, 3>& diagonal, int d) {
    Square result{};
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            for (int l = 0; l < d; ++l)
                result[static_cast<std::size_t>(i * d + j)] += rotation[static_cast<std::size_t>(i * d + l)] * diagonal[static_cast<std::size_t>(l)] *
                                                               rotation[static_cast<std::size_t>(j * d + l)];
    return result;
}

// A vector field M x + a wave of random direction: what positions and velocities of a zone are made
// from.
struct SmoothField {
    Square matrix{};
    std::array<double, 3> offset{}, amplitude{}, phase{};
    Square direction{};

    SmoothField(Random& random, const Square& of, double wave) : matrix(of) {
        for (std::size_t c = 0; c < 3; ++c) {
            offset[c] = random.uniform(-0.1, 0.1);
            amplitude[c] = wave * random.uniform(-1, 1);
            phase[c] = random.uniform(0, 2 * std::numbers::pi);
        }
        for (double& value : direction) value = random.uniform(-1, 1);
    }
    double at(const double* x, int c, int d) const {
        double value = offset[static_cast<std::size_t>(c)];
        double along = phase[static_cast<std::size_t>(c)];
        for (int g = 0; g < d; ++g) {
            value += matrix[static_cast<std::size_t>(c * d + g)] * x[g];
            along += direction[static_cast<std::size_t>(c * d + g)] * x[g];
        }
        return value + amplitude[static_cast<std::size_t>(c)] * std::sin(along);
    }
};

template <typename Real>
void fill_field(const Shape& shape, const SmoothField& field, Real* to, bool mirrored) {
    const int n = shape.nodes_along;
    for (int i = 0; i < shape.nodes(); ++i) {
        const auto& nodes = shape.element().nodes;
        const double along = nodes[static_cast<std::size_t>(i % n)];
        const double x[3] = {mirrored ? 1 - along : along, nodes[static_cast<std::size_t>(i / n % n)],
                             shape.dimension == 2 ? 0 : nodes[static_cast<std::size_t>(i / (n * n))]};
        for (int c = 0; c < shape.dimension; ++c) to[c * shape.nodes() + i] = static_cast<Real>(field.at(x, c, shape.dimension));
    }
}

// Zones of size one or so; velocity gradients whose eigenvalues lie well apart, the smallest one
// compressing, so that its direction is well defined.
template <typename Real>
void fill_zone(const Shape& shape, std::int64_t zone, Random& random, std::span<void* const> pointers) {
    const int d = shape.dimension;
    const int points = shape.points();
    const Data<Real> data(shape, pointers);
    const auto words = [](const Real* array, std::int64_t offset) { return const_cast<Real*>(array) + offset; };
    const auto stretch = [&] { return std::array<double, 3>{random.uniform(0.8, 1.25), random.uniform(0.8, 1.25), random.uniform(0.8, 1.25)}; };
    if (shape.works()) {
        const Square any = turned(random_rotation(random, d), {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}, d);
        fill_field(shape, SmoothField(random, any, 0.2), words(data.w, zone * shape.vector_words()), false);
    }
    if (!shape.physics()) {
        Real* const stress = words(data.stress_in, zone * shape.stress_words());
        for (int i = 0; i < shape.stress_words(); ++i) stress[i] = static_cast<Real>(random.uniform(-1, 1) / points);
        return;
    }
    const bool mirrored = zone % 11 == 7;  // inside out
    fill_field(shape, SmoothField(random, turned(random_rotation(random, d), stretch(), d), 0.05), words(data.x, zone * shape.vector_words()),
               mirrored);
    const std::array<double, 3> strain{random.uniform(-1.5, -0.8), random.uniform(0.4, 0.6), random.uniform(0.8, 1.2)};
    fill_field(shape, SmoothField(random, turned(random_rotation(random, d), strain, d), 0.1), words(data.v, zone * shape.vector_words()), mirrored);
    const double sign = zone % 7 == 3 ? -1 : 1;  // cold: a negative energy counts as none
    for (int j = 0; j < shape.energies(); ++j) words(data.e, zone * shape.energies())[j] = static_cast<Real>(sign * random.uniform(0.3, 1));
    const Square start = turned(random_rotation(random, d), stretch(), d);
    const double density = random.uniform(0.5, 2);
    for (int q = 0; q < points; ++q) {
        for (int i = 0; i < d * d; ++i)
            words(data.initial_inverse, zone * shape.stress_words())[i * points + q] =
                static_cast<Real>(start[static_cast<std::size_t>(i)] + random.uniform(-0.02, 0.02));
        words(data.mass, zone * points)[q] = static_cast<Real>(density * random.uniform(0.9, 1.1) / points);
    }
    *words(data.gamma, zone) = static_cast<Real>(random.uniform(1.2, 1.8));
}

// Zones whose data differ: as many as the reference does in a few hundredths of a second.
std::int64_t data_sets(const Shape& shape) {
    const double pairs = static_cast<double>(shape.points()) * shape.nodes();
    const double cost = pairs * (20.0 * shape.dimension * shape.dimension + (shape.keeps_corner() ? 4.0 * shape.dimension * shape.energies() : 0));
    std::int64_t sets = 1;
    for (const std::int64_t prime : {2, 3, 5, 7, 13, 31, 61, 127})
        if (static_cast<double>(prime) * cost < 5e7) sets = prime;
    return std::min(sets, shape.zones);
}

template <typename Real>
Workload workload_of(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    const std::vector<ArraySpec> specs = arrays(problem);
    const std::int64_t period = data_sets(shape);
    Random random{std::mt19937_64(seed)};
    Workload result;
    std::vector<void*> pointers;
    for (const ArraySpec& spec : specs) {
        result.arrays.emplace_back(problem.precision(), spec.words);
        pointers.push_back(result.arrays.back().data());
        const auto values = result.arrays.back().values<Real>();
        if (spec.access == Access::out) result.arrays.back().poison();
        if (spec.name == "settings") std::copy_n(std::array<Real, 4>{Real(0.5), Real(0.5), Real(2), Real(0.5)}.begin(), 4, values.begin());
    }
    for (std::int64_t zone = 0; zone < period; ++zone) fill_zone<Real>(shape, zone, random, pointers);
    result.expected.resize(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].access == Access::in) {
            if (specs[i].slices.words_per_unit != 0) repeat(result.arrays[i], specs[i].slices.words_per_unit, period);
            continue;
        }
        result.expected[i] = result.arrays[i].copy();
        pointers[i] = result.expected[i].data();
    }
    double sensitivity = 1;
    double magnitude = 1;
    const Data<Real> data(shape, pointers);
    Caught caught;
#pragma omp parallel for schedule(dynamic) reduction(max : sensitivity, magnitude)
    for (std::int64_t zone = 0; zone < period; ++zone) {
        caught.from([&] {
            const ZoneAnswer answer = zone_answer(shape, data, zone);
            sensitivity = std::max(sensitivity, answer.sensitivity);
            magnitude = std::max(magnitude, answer.magnitude);
        });
    }
    caught.rethrow();
    reference(problem, pointers, 0, period);
    for (std::size_t i = 0; i < specs.size(); ++i)
        if (specs[i].access != Access::in) repeat(result.expected[i], specs[i].slices.words_per_unit, period);
    // n counts the products of a derivative and of an integral along every axis, and some thirty
    // roundings of a point's physics.
    const double n = shape.dimension * (shape.nodes_along + shape.points_along) + 30;
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = 4 * rounding_steps(n) * roundoff * sensitivity * magnitude;
    result.tolerance_reason = fmt::format(
        "4 min(n, 8 sqrt n) u C M with n = {} roundings, u = {:.3g}, C = {:.4g} the condition of a point's physics and M = {:.4g} the largest sum of "
        "absolute values",
        n, roundoff, sensitivity, magnitude);
    return result;
}

}  // namespace

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Shape shape(problem);
    const int d = shape.dimension;
    const auto per_zone = [&](const char* name, Access access, std::vector<std::int64_t> of_a_zone, const char* help) {
        std::int64_t words = 1;
        std::string text = "[zones]";
        for (const std::int64_t extent : of_a_zone) {
            words *= extent;
            text += fmt::format("[{}]", extent);
        }
        of_a_zone.insert(of_a_zone.begin(), shape.zones);
        return laid_out({name, access, shape.zones * words, text, help, {words}}, of_a_zone);
    };
    const std::vector<std::int64_t> vector{d, shape.nodes()};
    const std::vector<std::int64_t> stress{d, d, shape.points()};
    std::vector<ArraySpec> result;
    if (shape.physics()) {
        result.push_back(per_zone("x", Access::in, vector, "positions of the nodes"));
        result.push_back(per_zone("v", Access::in, vector, "velocities of the nodes"));
        result.push_back(per_zone("e", Access::in, {shape.energies()}, "Bernstein coefficients of the energy"));
        result.push_back(per_zone("initial_inverse", Access::in, stress, "inverse of the Jacobian at the start, [axis][component]"));
        result.push_back(per_zone("mass", Access::in, {shape.points()}, "density times |J| times weight at the start"));
        result.push_back(per_zone("gamma", Access::in, {}, "ratio of specific heats"));
        result.push_back({"settings", Access::in, 4, "[4]", "h0, cfl, quadratic and linear coefficient of the viscosity", {}, {1}});
    }
    if (shape.works()) result.push_back(per_zone("w", Access::in, vector, "velocities that do the work"));
    if (shape.result == "energy") result.push_back(per_zone("stress", Access::in, stress, "w |J| sigma J^-T"));
    if (shape.keeps_stress()) result.push_back(per_zone("stress", Access::out, stress, "w |J| sigma J^-T"));
    if (shape.keeps_corner()) result.push_back(per_zone("corner", Access::out, {shape.energies(), d, shape.nodes()}, "F, column by column"));
    if (shape.physics()) result.push_back(per_zone("force", Access::out, vector, "F.1"));
    if (shape.works()) result.push_back(per_zone("work", Access::out, {shape.energies()}, "F^T w"));
    if (shape.physics()) result.push_back(per_zone("dt", Access::out, {}, "bound on the time step"));
    return result;
}

double gradient_operations(const Shape& shape, int fields) {
    return fields * contraction_operations(shape, shape.nodes_along, gradient_terms(shape));
}

double physics_operations(const Shape& shape) {
    // Inverse, three products of matrices, eigenpair and singular value (square roots and divisions
    // count once), state, stress.
    const double at_a_point = shape.dimension == 2 ? 120 : 480;
    return at_a_point * shape.points() + contraction_operations(shape, shape.energies_along, {1, 1, 1});
}

double force_operations(const Shape& shape) {
    return gradient_operations(shape, shape.dimension);
}

double work_operations(const Shape& shape) {
    return gradient_operations(shape, shape.dimension) + 2.0 * shape.stress_words() + contraction_operations(shape, shape.energies_along, {1, 1, 1});
}

double assembly_operations(const Shape& shape) {
    // Axis by axis, the last one first: at every node there, products with the nodal functions,
    // then sums for every coefficient.
    const int d = shape.dimension;
    const double k = shape.energies_along;
    double operations = 0;
    double lines = d;  // pairs of a node and a coefficient of the axes done, for all components
    for (int axis = 0; axis < d; ++axis) {
        const double points = std::pow(shape.points_along, d - axis);
        const double kinds = axis == 0 ? d : d == 2 || axis == 2 ? 1 : 2;
        operations += lines * shape.nodes_along * points * (2 * kinds * k + (axis == 0 ? d : 3));
        lines *= shape.nodes_along * k;
    }
    return operations;
}

Counts counts(const Problem& problem) {
    const Shape shape(problem);
    double bytes = 0;
    for (const ArraySpec& array : arrays(problem)) bytes += static_cast<double>(array.words) * shape.bytes();
    double operations = 0;
    if (shape.physics()) operations += gradient_operations(shape, 2 * shape.dimension) + physics_operations(shape) + force_operations(shape);
    if (shape.works()) operations += work_operations(shape);
    if (shape.keeps_corner()) operations += assembly_operations(shape);
    const auto zones = static_cast<double>(shape.zones);
    return {zones, "zones", operations * zones, bytes};
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? workload_of<float>(problem, seed) : workload_of<double>(problem, seed);
}

}  // namespace hone::inline v0_1::corner
