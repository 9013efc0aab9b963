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

// A block that streams through its elements.
struct Stream {
    static constexpr std::int64_t most_elements = 128;
    std::int64_t elements, threads, width;  // `width` values a copy

    std::vector<Assignment> values() const {
        return {{"elements_per_block", elements}, {"block", threads}, {"copy_width", width}, {"min_blocks", std::int64_t{1}}};
    }
    std::int64_t bytes(const Shape& shape) const { return elements * shape.words() * shape.bytes(); }
    bool copies_fit(const Shape& shape) const { return width * shape.bytes() <= 16 && elements * shape.words() % width == 0; }
    /// More than half of a block's threads have nothing to copy.
    bool idles(const Shape& shape) const { return 2 * elements * shape.words() / width <= threads && elements < most_elements; }
    /// The part of all threads' turns that copy: in a block's last turn, and while the last blocks
    /// of all run.
    double busy(const Shape& shape, const Limits& limits) const {
        const auto filled = [](double parts) { return parts / std::ceil(parts); };
        const double blocks = std::ceil(static_cast<double>(shape.elements) / static_cast<double>(elements));
        const double at_once = static_cast<double>(limits.max_threads_per_multiprocessor / threads * limits.multiprocessors);
        return filled(static_cast<double>(elements * shape.words() / width) / static_cast<double>(threads)) * filled(blocks / at_once);
    }
};

// Copies of 8 bytes at least, with fewer too little is on its way (4 had 90 to 95 % of their rate
// on an H200), as wide as divides an element where such do; and of the blocks that keep threads
// busiest the largest, up to 128 bytes of each array for a thread.
std::vector<Assignment> rk_cuda_safe(const Shape& shape, const Limits& limits) {
    constexpr std::int64_t fewest_bytes = 8, most_bytes = 128;  // of each array, for a thread
    constexpr double as_busy = 0.98, narrow = 0.93;
    const std::int64_t widest = std::max<std::int64_t>(widest_copies(shape), fewest_bytes / shape.bytes());
    std::vector<std::pair<double, Stream>> streams;
    for (const std::int64_t threads : {512, 256, 128})
        for (std::int64_t elements = Stream::most_elements; elements >= 1; elements /= 2)
            for (const std::int64_t width : {widest, std::int64_t{1}}) {
                const Stream stream{elements, threads, width};
                const std::int64_t bytes = stream.bytes(shape);
                if (!stream.copies_fit(shape) || stream.idles(shape) || bytes > most_bytes * threads || bytes < fewest_bytes * threads) continue;
                streams.emplace_back(stream.busy(shape, limits) * (width * shape.bytes() < fewest_bytes ? narrow : 1), stream);
            }
    double busiest = 0;
    for (const auto& [busy, stream] : streams) busiest = std::max(busiest, busy);
    for (const auto& [busy, stream] : streams)
        if (busy >= as_busy * busiest) return stream.values();
    return Stream{Stream::most_elements, 64, widest_copies(shape)}.values();  // elements of a few words
}

Forms rk_cuda_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const auto whole_copies = [shape](const Config& config) -> std::optional<std::string> {
        const Stream stream{config.integer("elements_per_block"), config.integer("block"), config.integer("copy_width")};
        if (stream.copies_fit(shape)) return std::nullopt;
        return fmt::format("copies of {} values do not divide the {} of a block or exceed 16 bytes", stream.width, stream.elements * shape.words());
    };
    const auto idle_threads = [shape](const Config& config) -> std::optional<std::string> {
        const Stream stream{config.integer("elements_per_block"), config.integer("block"), config.integer("copy_width")};
        if (!stream.idles(shape)) return std::nullopt;
        return fmt::format("{} copies leave more than half of {} threads without work", stream.elements * shape.words() / stream.width,
                           stream.threads);
    };
    FormSpace form{.name = "stream",
                   .help = "a block of threads streams through the words of a block of elements",
                   .tunables = {{"elements_per_block", "elements that a block of threads handles", numbers({1, 2, 4, 8, 16, 32, 64, 128})},
                                {"block", "threads of a block", numbers({64, 128, 256, 512})},
                                {"copy_width", "values per load and store", numbers({1, 2, 4})},
                                {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8})}},
                   .constraints = {{"copies", whole_copies, {"elements_per_block", "copy_width"}},
                                   {"idle threads", idle_threads, {"elements_per_block", "block", "copy_width"}}},
                   .safe = rk_cuda_safe(shape, limits),
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
