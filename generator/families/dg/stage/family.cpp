#include "generator/families/dg/stage/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "foundation/caught.hpp"
#include "generator/families/dg/data.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/random_mesh.hpp"
#include "generator/families/dg/surface/reference.hpp"
#include "generator/families/dg/volume/reference.hpp"

namespace hone::inline v0_1 {
namespace dg {
namespace {

std::vector<ArraySpec> stage_arrays(const Problem& problem) {
    const Shape shape(problem);
    std::vector<ArraySpec> result{field_array(shape, "q", Access::in, "fields at the nodes"), geometry_array(shape)};
    for (ArraySpec& array : face_arrays(shape)) result.push_back(std::move(array));
    result.push_back(stage_array());
    result.push_back(field_array(shape, "res", Access::inout, "residual of the low-storage method"));
    result.push_back(field_array(shape, "q_next", Access::out, "fields at the nodes after the stage"));
    return result;
}

Counts stage_counts(const Problem& problem) {
    const Shape shape(problem);
    const auto elements = static_cast<double>(shape.elements);
    const double words = 4.0 * shape.words() + shape.geometry_words() + shape.faces * shape.face_words() + (shape.materials ? 3 : 0);
    const double operations = volume_operations(shape) + surface_operations(shape) + update_operations(shape);
    return {elements, "elements", operations * elements, (words * shape.bytes() + 4.0 * shape.face_points()) * elements};
}

Step stage_step(const Problem& problem) {
    const Pass volume{.entry = "dg_stage_volume", .volume = true};
    return {
        problem,
        stage_counts(problem),
        stage_arrays(problem),
        {{"separate",
          "volume, surface and update in a launch each",
          {volume, {.entry = "dg_stage_surface", .surface = true, .from_rhs = true}, {.entry = "dg_stage_update", .update = true, .from_rhs = true}}},
         {"surface_update",
          "volume in one launch, surface and update in another",
          {volume, {.entry = "dg_stage_surface_update", .surface = true, .update = true, .from_rhs = true}}},
         {"whole", "all in one launch", {{.entry = "dg_stage", .volume = true, .surface = true, .update = true}}}}};
}

// The arrays in host memory.
template <typename Real>
struct StageData {
    SurfaceData<Real> surface;
    const Real* geometry;
    const Real* stage;
    Real* res;
    Real* q_next;

    StageData(const Shape& shape, std::span<void* const> arrays)
        : surface{static_cast<const Real*>(arrays[0]), static_cast<const Real*>(arrays[2]), static_cast<const int*>(arrays[3]),
                  shape.materials ? static_cast<const Real*>(arrays[4]) : nullptr},
          geometry(static_cast<const Real*>(arrays[1])),
          stage(static_cast<const Real*>(arrays[arrays.size() - 3])),
          res(static_cast<Real*>(arrays[arrays.size() - 2])),
          q_next(static_cast<Real*>(arrays[arrays.size() - 1])) {}
};

template <typename Real>
void stage_run(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const StageData<Real> data(shape, arrays);
    const auto a = static_cast<double>(data.stage[0]);
    const auto b = static_cast<double>(data.stage[1]);
    const auto dt = static_cast<double>(data.stage[2]);
    Caught caught;
#pragma omp parallel for schedule(static)
    for (std::int64_t k = first; k < last; ++k) {
        caught.from([&] {
            const Real* const q = data.surface.q + k * shape.words();
            const std::vector<double> volume = volume_of_element(shape, q, data.geometry + k * shape.geometry_words());
            const std::vector<double> surface = surface_of_element(shape, data.surface, k);
            for (int i = 0; i < shape.words(); ++i) {
                const auto word = static_cast<std::size_t>(i);
                const double rhs = (volume[word] + surface[word]) * material_scale(shape, data.surface, k, i / shape.nodes);
                Real& res = data.res[k * shape.words() + i];
                const double residual = a * static_cast<double>(res) + dt * rhs;
                res = static_cast<Real>(residual);
                data.q_next[k * shape.words() + i] = static_cast<Real>(static_cast<double>(q[i]) + b * residual);
            }
        });
    }
    caught.rethrow();
}

void stage_reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    problem.precision() == Precision::f32 ? stage_run<float>(shape, arrays, first, last) : stage_run<double>(shape, arrays, first, last);
}

// The largest sum of absolute values that passes through a right-hand side.
template <typename Real>
double largest_magnitude(const Shape& shape, std::span<void* const> arrays, std::int64_t period) {
    const StageData<Real> data(shape, arrays);
    double largest = 0;
    Caught caught;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (std::int64_t k = 0; k < period; ++k) {
        caught.from([&] {
            const double scale = std::max(material_scale(shape, data.surface, k, 0), material_scale(shape, data.surface, k, shape.fields - 1));
            const double volume = volume_magnitude(shape, data.surface.q + k * shape.words(), data.geometry + k * shape.geometry_words());
            largest = std::max(largest, scale * (volume + surface_magnitude(shape, data.surface, k)));
        });
    }
    caught.rethrow();
    return largest;
}

// Random data of the first `period` elements, repeated.
template <typename Real>
void fill_mesh(const Shape& shape, std::int64_t period, std::mt19937_64& random, std::vector<HostArray>& arrays) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const std::size_t i : {std::size_t{0}, arrays.size() - 2}) {
        Real* const data = arrays[i].values<Real>().data();
        for (std::int64_t word = 0; word < period * shape.words(); ++word) data[word] = static_cast<Real>(uniform(random));
        repeat(arrays[i], shape.words(), period);
    }
    Real* const geometry = arrays[1].values<Real>().data();
    for (std::int64_t k = 0; k < period; ++k) {
        const std::vector<double> gradients = random_geometry(shape, random);
        std::transform(gradients.begin(), gradients.end(), geometry + k * shape.geometry_words(),
                       [](double part) { return static_cast<Real>(part); });
    }
    repeat(arrays[1], shape.geometry_words(), period);
    fill_surface<Real>(shape, period, random, std::span(arrays).subspan(2));
    fill_stage(random, arrays[arrays.size() - 3].values<Real>().data());
    arrays.back().poison();
}

template <typename Real>
Workload stage_workload_of(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    const std::int64_t period = data_sets(shape);
    std::mt19937_64 random(seed);
    Workload result;
    for (const ArraySpec& array : stage_arrays(problem)) result.arrays.emplace_back(problem.precision(), array.words);
    fill_mesh<Real>(shape, period, random, result.arrays);
    std::vector<void*> pointers;
    for (HostArray& array : result.arrays) pointers.push_back(array.data());
    const double largest = largest_magnitude<Real>(shape, pointers, period);
    result.expected.resize(result.arrays.size());
    for (std::size_t i = result.arrays.size() - 2; i < result.arrays.size(); ++i) {
        result.expected[i] = result.arrays[i].copy();
        pointers[i] = result.expected[i].data();
    }
    stage_run<Real>(shape, pointers, 0, period);
    for (std::size_t i = result.arrays.size() - 2; i < result.arrays.size(); ++i) repeat(result.expected[i], shape.words(), period);
    // n counts the products of D and of LIFT, the dozen roundings of the metric and of the flux,
    // the operators' own, and the update's. |a|, |b| and |dt| are below 1.5.
    const double n = 2.0 * shape.nodes + shape.face_points() + 40;
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    const auto dt = std::abs(static_cast<double>(static_cast<const Real*>(pointers[pointers.size() - 3])[2]));
    result.tolerance = 1.5 * (rounding_steps(n) * dt * largest + 5) * roundoff;
    result.tolerance_reason = fmt::format(
        "1.5 (min(n, 8 sqrt n) dt S + 5) u with n = {} roundings, u = {:.3g}, dt = {:.3g}, S = {:.4g} the largest sum of |metric| |D| |q| and |LIFT| "
        "|flux|",
        n, roundoff, dt, largest);
    return result;
}

Workload stage_workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? stage_workload_of<float>(problem, seed) : stage_workload_of<double>(problem, seed);
}

}  // namespace
}  // namespace dg

Family dg_stage() {
    Family family;
    family.name = "dg_stage";
    family.summary = "a whole stage of nodal discontinuous Galerkin in time: volume, surface and update, fused as far as it pays";
    family.source =
        "J. S. Hesthaven, T. Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008; M. H. Carpenter, C. A. Kennedy, NASA TM-109112, 1994";
    family.example = "dg_stage equation=maxwell_3d order=2 precision=f32 materials=uniform elements=100000";
    family.parameters = {
        {"equation", "what is solved", dg::equation_names(), 0, 0, false, ""},
        {"order", "polynomial order N", {}, 1, 10, false, ""},
        {"precision", "type of fields, geometry and operators", {"f32", "f64"}, 0, 0, false, "f32"},
        {"materials", "uniform: of unit impedance and speed; per_element: an array of them", {"uniform", "per_element"}, 0, 0, false, "uniform"},
        dg::arithmetic_parameter(),
        {"elements", "number of tetrahedra or triangles", {}, 1, std::int64_t{1} << 27, true, ""}};
    family.range_unit = "elements";
    family.range = [](const Problem& problem) { return problem.integer("elements"); };
    family.arrays = dg::stage_arrays;
    set_forms(family,
              {{Target::cpu, [](const Problem& problem, const Limits& limits) { return dg::pass_cpu_forms(dg::stage_step(problem), limits); }},
               {Target::cuda, [](const Problem& problem, const Limits& limits) { return dg::pass_cuda_forms(dg::stage_step(problem), limits); }}});
    family.reference = dg::stage_reference;
    family.workload = dg::stage_workload;
    family.counts = dg::stage_counts;
    return family;
}

}  // namespace hone::inline v0_1
