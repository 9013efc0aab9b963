#include "generator/families/dg/rk/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/dg/data.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/tiling.hpp"

namespace hone::inline v0_1 {
namespace dg {
namespace {

std::vector<ArraySpec> rk_arrays(const Problem& problem) {
    const Shape shape(problem);
    return {field_array(shape, "rhs", Access::in, "right-hand side at the nodes"), stage_array(),
            field_array(shape, "res", Access::inout, "residual of the low-storage method"),
            field_array(shape, "q", Access::inout, "fields at the nodes")};
}

Counts rk_counts(const Problem& problem) {
    const Shape shape(problem);
    const auto elements = static_cast<double>(shape.elements);
    return {elements, "elements", update_operations(shape) * elements, 5.0 * shape.words() * shape.bytes() * elements};
}

Plan rk_plan(const Problem& problem, const Config& config) {
    const Fusion update{.passes = {{.entry = "dg_rk", .update = true, .from_rhs = true}}};
    Plan plan({problem, rk_counts(problem), rk_arrays(problem), {update}}, update, config);
    plan.into = "q";
    return plan;
}

Forms rk_cpu_forms(const Problem& problem, const Limits& limits) {
    FormSpace form{.name = "stream",
                   .help = "a thread streams through the words of a block of elements",
                   .tunables = {{"elements_per_block", "elements that a thread takes at a time", numbers({16, 64, 256})}},
                   .safe = {{"elements_per_block", std::int64_t{16}}},
                   .former = [](const Config& config) { return config.find("elements_per_block") != nullptr; }};
    return {{{.space = with_team(std::move(form), limits),
              .kernel = [problem](const Config& config) { return update_cpu_kernel(rk_plan(problem, config)); }}},
            "stream"};
}

// Copies of 8 bytes at least, as wide as divides an element where such do, else across elements:
// with 4 too little is on its way (90 % of what copying moves on an H200, with 8 93 to 98 %). Up to
// 128 bytes of each array for each of 512 threads: blocks that end too often have little on its way
// either. Of elements of a few words fewer threads have enough.
std::vector<Assignment> rk_cuda_safe(const Shape& shape) {
    constexpr std::int64_t most_bytes = 128, fewest_bytes = 32, most_elements = 128, copy_bytes = 8;
    std::int64_t block = 512, elements = 1;
    const std::int64_t bytes = shape.words() * shape.bytes();
    while (elements < most_elements && 2 * elements * bytes <= block * most_bytes) elements *= 2;
    while (elements * bytes < block * fewest_bytes) block /= 2;
    const std::int64_t width = std::max<std::int64_t>(widest_copies(shape), copy_bytes / shape.bytes());
    return {{"elements_per_block", elements}, {"block", block}, {"copy_width", width}, {"min_blocks", std::int64_t{1}}};
}

Forms rk_cuda_forms(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    const auto whole_copies = [shape](const Config& config) -> std::optional<std::string> {
        const int width = number(config, "copy_width"), words = number(config, "elements_per_block") * shape.words();
        if (width * shape.bytes() <= 16 && words % width == 0) return std::nullopt;
        return fmt::format("copies of {} values do not divide the {} of a block or exceed 16 bytes", width, words);
    };
    const auto idle_threads = [shape](const Config& config) -> std::optional<std::string> {
        const int copies = number(config, "elements_per_block") * shape.words() / number(config, "copy_width");
        if (2 * copies > number(config, "block") || number(config, "elements_per_block") == 128) return std::nullopt;
        return fmt::format("{} copies leave more than half of {} threads without work", copies, number(config, "block"));
    };
    FormSpace form{.name = "stream",
                   .help = "a block of threads streams through the words of a block of elements",
                   .tunables = {{"elements_per_block", "elements that a block of threads handles", numbers({1, 2, 4, 8, 16, 32, 64, 128})},
                                {"block", "threads of a block", numbers({64, 128, 256, 512})},
                                {"copy_width", "values per load and store", numbers({1, 2, 4})},
                                {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8})}},
                   .constraints = {{"copies", whole_copies, {"elements_per_block", "copy_width"}},
                                   {"idle threads", idle_threads, {"elements_per_block", "block", "copy_width"}}},
                   .safe = rk_cuda_safe(shape),
                   .former = [](const Config& config) { return config.find("block") != nullptr; }};
    const auto resources = [shape](const Config& config) {
        // Three vectors, twice because two trips are in flight, and addresses.
        return BlockResources{.threads = config.integer("block"), .registers = 6 * number(config, "copy_width") * shape.bytes() / 4 + 26};
    };
    return {{{.space = std::move(form),
              .resources = resources,
              .resources_read = {"block", "copy_width"},
              .kernel = [problem](const Config& config) { return update_cuda_kernel(rk_plan(problem, config)); }}},
            "stream"};
}

template <typename Real>
void rk_run(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const auto* const rhs = static_cast<const Real*>(arrays[0]);
    const auto* const stage = static_cast<const Real*>(arrays[1]);
    auto* const res = static_cast<Real*>(arrays[2]);
    auto* const q = static_cast<Real*>(arrays[3]);
    const auto a = static_cast<double>(stage[0]);
    const auto b = static_cast<double>(stage[1]);
    const auto dt = static_cast<double>(stage[2]);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = first * shape.words(); i < last * shape.words(); ++i) {
        const double residual = a * static_cast<double>(res[i]) + dt * static_cast<double>(rhs[i]);
        res[i] = static_cast<Real>(residual);
        q[i] = static_cast<Real>(static_cast<double>(q[i]) + b * residual);
    }
}

void rk_reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    problem.precision() == Precision::f32 ? rk_run<float>(shape, arrays, first, last) : rk_run<double>(shape, arrays, first, last);
}

template <typename Real>
Workload rk_workload_of(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Workload result;
    for (const ArraySpec& array : rk_arrays(problem)) result.arrays.emplace_back(problem.precision(), array.words);
    const std::int64_t period = data_sets(shape);
    for (const std::size_t i : {0U, 2U, 3U}) {
        Real* const data = result.arrays[i].values<Real>().data();
        for (std::int64_t word = 0; word < period * shape.words(); ++word) data[word] = static_cast<Real>(uniform(random));
        repeat(result.arrays[i], shape.words(), period);
    }
    fill_stage(random, result.arrays[1].values<Real>().data());
    result.expected.resize(4);
    std::vector<void*> pointers{result.arrays[0].data(), result.arrays[1].data()};
    for (const std::size_t i : {2U, 3U}) {
        result.expected[i] = result.arrays[i].copy();
        pointers.push_back(result.expected[i].data());
    }
    rk_run<Real>(shape, pointers, 0, shape.elements);
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = 5 * roundoff * 4;
    result.tolerance_reason =
        fmt::format("n u S with n = 5 roundings, u = {:.3g} and S = 4: the sums are of values below 1, with factors below 1.5", roundoff);
    return result;
}

Workload rk_workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? rk_workload_of<float>(problem, seed) : rk_workload_of<double>(problem, seed);
}

}  // namespace
}  // namespace dg

Family dg_rk() {
    Family family;
    family.name = "dg_rk";
    family.summary = "update of a stage of a low-storage Runge-Kutta method";
    family.source = "M. H. Carpenter, C. A. Kennedy, Fourth-order 2N-storage Runge-Kutta schemes, NASA TM-109112, 1994";
    family.example = "dg_rk equation=maxwell_3d order=5 precision=f32 elements=100000";
    family.parameters = {{"equation", "what is solved", dg::equation_names(), 0, 0, false, ""},
                         {"order", "polynomial order N", {}, 1, 10, false, ""},
                         {"precision", "type of fields", {"f32", "f64"}, 0, 0, false, "f32"},
                         {"elements", "number of tetrahedra or triangles", {}, 1, std::int64_t{1} << 27, true, ""}};
    family.range_unit = "elements";
    family.range = [](const Problem& problem) { return problem.integer("elements"); };
    family.partition = [](const Problem&) { return Partition{}; };  // every word by itself
    family.arrays = dg::rk_arrays;
    set_forms(family, {{Target::cpu, dg::rk_cpu_forms}, {Target::cuda, dg::rk_cuda_forms}});
    family.reference = dg::rk_reference;
    family.workload = dg::rk_workload;
    family.counts = dg::rk_counts;
    return family;
}

}  // namespace hone::inline v0_1
