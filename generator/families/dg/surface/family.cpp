#include "generator/families/dg/surface/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>

#include "foundation/caught.hpp"
#include "generator/families/dg/data.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/random_mesh.hpp"
#include "generator/families/dg/surface/reference.hpp"

namespace hone::inline v0_1 {
namespace dg {
namespace {

std::vector<ArraySpec> surface_arrays(const Problem& problem) {
    const Shape shape(problem);
    std::vector<ArraySpec> result{field_array(shape, "q", Access::in, "fields at the nodes")};
    for (ArraySpec& array : face_arrays(shape)) result.push_back(std::move(array));
    result.push_back(field_array(shape, "rhs", Access::inout, "right-hand side at the nodes: of the volume, then complete"));
    return result;
}

Counts surface_counts(const Problem& problem) {
    const Shape shape(problem);
    const auto elements = static_cast<double>(shape.elements);
    const double words = shape.fields * surface_nodes(shape) + 2.0 * shape.words() + shape.faces * shape.face_words() + (shape.materials ? 3 : 0);
    return {elements, "elements", surface_operations(shape) * elements, (words * shape.bytes() + 4.0 * shape.face_points()) * elements};
}

Step surface_step(const Problem& problem) {
    return {problem, surface_counts(problem), surface_arrays(problem), {{.passes = {{.entry = "dg_surface", .surface = true, .from_rhs = true}}}}};
}

template <typename Real>
SurfaceData<Real> surface_data(const Shape& shape, std::span<void* const> arrays) {
    return {static_cast<const Real*>(arrays[0]), static_cast<const Real*>(arrays[1]), static_cast<const int*>(arrays[2]),
            shape.materials ? static_cast<const Real*>(arrays[3]) : nullptr};
}

template <typename Real>
void surface_run(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const SurfaceData<Real> data = surface_data<Real>(shape, arrays);
    auto* const rhs = static_cast<Real*>(arrays.back());
    Caught caught;
#pragma omp parallel for schedule(static)
    for (std::int64_t k = first; k < last; ++k) {
        caught.from([&] {
            const std::vector<double> lifted = surface_of_element(shape, data, k);
            for (int f = 0; f < shape.fields; ++f) {
                const double scale = material_scale(shape, data, k, f);
                for (int n = 0; n < shape.nodes; ++n) {
                    Real& value = rhs[(k * shape.fields + f) * shape.nodes + n];
                    value = static_cast<Real>((static_cast<double>(value) + lifted[static_cast<std::size_t>(f * shape.nodes + n)]) * scale);
                }
            }
        });
    }
    caught.rethrow();
}

void surface_reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    problem.precision() == Precision::f32 ? surface_run<float>(shape, arrays, first, last) : surface_run<double>(shape, arrays, first, last);
}

template <typename Real>
Workload surface_workload_of(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    const std::int64_t period = data_sets(shape);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Workload result;
    for (const ArraySpec& array : surface_arrays(problem)) result.arrays.emplace_back(problem.precision(), array.words);
    const auto fill = [&](HostArray& array) {
        Real* const data = array.values<Real>().data();
        for (std::int64_t i = 0; i < period * shape.words(); ++i) data[i] = static_cast<Real>(uniform(random));
        repeat(array, shape.words(), period);
    };
    fill(result.arrays.front());
    fill(result.arrays.back());
    fill_surface<Real>(shape, period, random, std::span(result.arrays).subspan(1));
    std::vector<void*> pointers;
    for (HostArray& array : result.arrays) pointers.push_back(array.data());
    double largest = 0;
    const SurfaceData<Real> data = surface_data<Real>(shape, pointers);
    Caught caught;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (std::int64_t k = 0; k < period; ++k) {
        caught.from([&] {
            const double scale = std::max(material_scale(shape, data, k, 0), material_scale(shape, data, k, shape.fields - 1));
            largest = std::max(largest, scale * (1 + surface_magnitude(shape, data, k)));
        });
    }
    caught.rethrow();
    result.expected.resize(result.arrays.size());
    result.expected.back() = result.arrays.back().copy();
    pointers.back() = result.expected.back().data();
    surface_run<Real>(shape, pointers, 0, period);
    repeat(result.expected.back(), shape.words(), period);
    // n counts the products of LIFT, the flux's dozen roundings and the operator's own.
    const double n = shape.face_points() + 24.0;
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = rounding_steps(n) * roundoff * largest;
    result.tolerance_reason = fmt::format(
        "min(n, 8 sqrt n) u S with n = {} roundings, u = {:.3g}, S = {:.4g} the largest sum of |rhs| and |LIFT| |flux|", n, roundoff, largest);
    return result;
}

Workload surface_workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? surface_workload_of<float>(problem, seed) : surface_workload_of<double>(problem, seed);
}

}  // namespace
}  // namespace dg

Family dg_surface() {
    Family family;
    family.name = "dg_surface";
    family.summary = "surface terms of nodal discontinuous Galerkin: gather, upwind flux, LIFT";
    family.source = "J. S. Hesthaven, T. Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008";
    family.example = "dg_surface equation=maxwell_3d order=5 precision=f32 materials=uniform elements=100000";
    family.parameters = {
        {"equation", "what is solved", dg::equation_names(), 0, 0, false, ""},
        {"order", "polynomial order N", {}, 1, 10, false, ""},
        {"precision", "type of fields, normals and operator", {"f32", "f64"}, 0, 0, false, "f32"},
        {"materials", "uniform: of unit impedance and speed; per_element: an array of them", {"uniform", "per_element"}, 0, 0, false, "uniform"},
        dg::arithmetic_parameter(),
        {"elements", "number of tetrahedra or triangles", {}, 1, std::int64_t{1} << 27, true, ""}};
    family.range_unit = "elements";
    family.range = [](const Problem& problem) { return problem.integer("elements"); };
    family.arrays = dg::surface_arrays;
    set_forms(family,
              {{Target::cpu, [](const Problem& problem, const Limits& limits) { return dg::pass_cpu_forms(dg::surface_step(problem), limits); }},
               {Target::cuda, [](const Problem& problem, const Limits& limits) { return dg::pass_cuda_forms(dg::surface_step(problem), limits); }}});
    family.reference = dg::surface_reference;
    family.workload = dg::surface_workload;
    family.counts = dg::surface_counts;
    return family;
}

}  // namespace hone::inline v0_1
