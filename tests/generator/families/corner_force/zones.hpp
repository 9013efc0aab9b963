#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "generator/families/corner_force/reference.hpp"
#include "generator/families/corner_force/shape.hpp"
#include "generator/family.hpp"

namespace hone::test {

/// Makes of a zone of random data, whose velocity compresses it along one axis, another kind: by
/// `number` % 5 that, one that is compressed along two axes, gas at rest in a unit cube, a zone so
/// small that powers of its edges vanish, and one that expands along all axes.
template <typename Real>
void change_zone(const corner::Shape& shape, std::int64_t number, std::int64_t zone, std::vector<HostArray>& arrays) {
    const auto of_zone = [&](std::size_t array, int words) {
        return arrays[array].values<Real>().subspan(static_cast<std::size_t>(zone * words), static_cast<std::size_t>(words));
    };
    const auto x = of_zone(0, shape.vector_words()), v = of_zone(1, shape.vector_words());
    const auto energies = of_zone(2, shape.energies()), initial_inverse = of_zone(3, shape.stress_words()), mass = of_zone(4, shape.points());
    const auto scale = [](std::span<Real> values, int power_of_two) {
        for (Real& value : values) value = std::ldexp(value, power_of_two);
    };
    if (number % 5 == 1) {
        for (Real& value : v) value = -value;
    } else if (number % 5 == 2) {
        const int d = shape.dimension, along = shape.nodes_along;
        for (int i = 0; i < shape.nodes(); ++i)
            for (int c = 0, rest = i; c < d; ++c, rest /= along)
                x[static_cast<std::size_t>(c * shape.nodes() + i)] = static_cast<Real>(shape.element().nodes[static_cast<std::size_t>(rest % along)]);
        std::fill(v.begin(), v.end(), Real(0));
        for (int i = 0; i < shape.stress_words(); ++i)
            initial_inverse[static_cast<std::size_t>(i)] = i / shape.points() % (d + 1) == 0 ? Real(1) : Real(0);
    } else if (number % 5 == 3) {
        // Lengths, velocities and masses of other units, in which forces and steps are as large as
        // before.
        const int length = shape.precision == Precision::f32 ? -5 : -26;
        scale(x, length);
        scale(initial_inverse, -length);
        scale(v, 3 * length);
        scale(energies, 4 * length);
        scale(mass, -3 * length);
    } else if (number % 5 == 4) {
        for (std::size_t i = 0; i < x.size(); ++i) v[i] += 3 * x[i];
    }
}

template <typename Real>
void change_zones(const Problem& problem, std::uint64_t seed, Workload& workload) {
    const corner::Shape shape(problem);
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i)
        pointers.push_back(workload.expected[i].words() != 0 ? workload.expected[i].data() : workload.arrays[i].data());
    const corner::Data<Real> data(shape, pointers);
    const auto number = [&](std::int64_t zone) { return zone + static_cast<std::int64_t>(seed % 5); };
    // What the tolerance is made from. Gas at rest is left out: it is compressed along no axis, and
    // alike along all.
    const auto condition = [&] {
        double sensitivity = 1, magnitude = 1;
        for (std::int64_t zone = 0; zone < shape.zones; ++zone) {
            if (number(zone) % 5 == 2) continue;
            const corner::ZoneAnswer answer = corner::zone_answer(shape, data, zone);
            sensitivity = std::max(sensitivity, answer.sensitivity);
            magnitude = std::max(magnitude, answer.magnitude);
        }
        return sensitivity * magnitude;
    };
    const double before = condition();
    for (std::int64_t zone = 0; zone < shape.zones; ++zone) change_zone<Real>(shape, number(zone), zone, workload.arrays);
    workload.tolerance *= std::max(condition() / before, 1.0);
    corner::reference(problem, pointers, 0, shape.zones);
}

/// The family with zones of all kinds. What is timed are zones of one kind, so that the kernels of
/// a GPU do the same at all points.
inline Family with_zones_of_all_kinds(const Family& family) {
    Family result = family;
    result.workload = [family](const Problem& problem, std::uint64_t seed) {
        Workload workload = family.workload(problem, seed);
        if (corner::Shape(problem).physics())
            problem.precision() == Precision::f32 ? change_zones<float>(problem, seed, workload) : change_zones<double>(problem, seed, workload);
        return workload;
    };
    return result;
}

}  // namespace hone::test
