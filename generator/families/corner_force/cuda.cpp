#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/corner_force/layered.hpp"
#include "generator/families/corner_force/plan.hpp"

// CUDA kernels. Whole zones: a team of threads, one or some for each column of points along the last axis, works on a zone, whose half-way results
// are in shared memory. The paper's dense products: a thread accumulates some rows and columns of F.

namespace hone::corner {
namespace {

using Kind = Pass::Kind;
using Violation = std::optional<std::string>;

constexpr int dense_threads = 256;

int pieces(int value, int size) {
    return (value + size - 1) / size;
}

// How kernel 7 is laid out.
struct CornerLayout {
    explicit CornerLayout(const Plan& plan)
        : rows(plan.number("rows_per_thread")),
          columns(plan.number("columns_per_thread")),
          row_threads(pieces(plan.shape.vector_words(), rows)),
          threads_per_zone(row_threads * (plan.shape.energies() / columns)),
          zones(std::max(1, dense_threads / threads_per_zone)),
          threads(std::min(dense_threads, zones * threads_per_zone)),
          blocks(pieces(zones * threads_per_zone, threads)) {}

    int rows, columns, row_threads, threads_per_zone, zones, threads, blocks;
};

// Words of shared memory from one zone of a block to the next. Teams of less than half a warp read the same place of several zones at once: these lie
// in different banks when zones are a team apart.
int zone_stride(const Plan& plan, int words) {
    const int banks = 128 / plan.shape.bytes();
    const int team = plan.team();
    return team >= banks ? words : words + (team - words % banks + banks) % banks;
}

BlockResources resources(const Plan& plan) {
    BlockResources needs;
    const int zones = plan.number("zones_per_block");
    const int bytes = plan.shape.bytes();
    const int d = plan.shape.dimension;
    needs.threads = std::int64_t{zones} * plan.team();
    if (is_layered(plan.config)) {
        needs.shared_bytes = LayeredLayout(plan).shared_words(zones) * bytes;
        needs.registers = layered_registers(plan);
        return needs;
    }
    bool points = false;
    for (const Pass& pass : plan.passes) {
        if (pass.kind != Kind::zone && pass.kind != Kind::gradients) continue;
        needs.shared_bytes = std::max<std::int64_t>(needs.shared_bytes, std::int64_t{zones} * zone_stride(plan, Buffers(plan, pass).words()) * bytes);
        points = points || pass.points;
    }
    // The derivatives of a pass, and what is alive in the decompositions of one point.
    const int held = points ? 2 * d * d * plan.number("points_per_pass") + (d == 3 ? 48 : 20) : d * d * plan.number("points_per_pass") + 16;
    needs.registers = bytes / 4 * std::max(held, 2 * plan.shape.points_along + plan.shape.nodes_along) + 32;
    return needs;
}

Block constants(const Plan& plan) {
    const bool f32 = plan.shape.precision == Precision::f32;
    Block block = shape_constants(plan);
    block.line("constexpr real smallest = {}, largest = {};  // below and above which squares or inverses fail", f32 ? "1e-30f" : "1e-290",
               f32 ? "3.402823466e+38f" : "1.7976931348623157e+308");
    block.line(
        "constexpr int team = columns * splits, zones_per_block = {}, threads_per_block = team * zones_per_block, blocks_per_multiprocessor = {};",
        plan.number("zones_per_block"), plan.number("min_blocks"));
    if (plan.config.word("decomposition") == "jacobi") block.line("constexpr int sweeps = {};", f32 ? 4 : 5);
    if (plan.has(Kind::corner)) {
        const CornerLayout layout(plan);
        block.line("constexpr int dense_threads = {};", dense_threads);
        block.line("constexpr int rows_per_thread = {}, columns_per_thread = {}, row_threads = {}, threads_per_zone = {};  // of F", layout.rows,
                   layout.columns, layout.row_threads, layout.threads_per_zone);
        block.line("constexpr int corner_zones = {}, corner_threads = {};", layout.zones, layout.threads);
    }
    return block;
}

Block buffers_of(const Plan& plan, const Pass& pass) {
    const Buffers buffers(plan, pass);
    Block pointers;
    pointers.line("value* const buffer = reinterpret_cast<value*>(shared_memory) + threadIdx.x / team * {};", zone_stride(plan, buffers.words()));
    if (pass.kind == Kind::gradients) pointers.text("const int field = blockIdx.y;");
    return pointers.append(buffer_pointers(buffers));
}

// The threads of a team wait for each other: alone where teams do not cross warps.
Block barrier(const Plan& plan) {
    const int team = plan.team();
    const bool within_warps = 32 % team == 0 && team * plan.number("zones_per_block") % 32 == 0;
    return Block().line("__device__ __forceinline__ void barrier() {{ {}(); }}", within_warps ? "__syncwarp" : "__syncthreads");
}

Block entry_of(const Plan& plan, const Pass& pass) {
    const bool zones = pass.kind == Kind::zone || pass.kind == Kind::gradients;
    return zones ? zone_entry(plan, pass, buffers_of(plan, pass), {}) : dense_entry(plan, pass, {});
}

int shared_bytes(const Plan& plan, const Pass& pass) {
    const int zones = plan.number("zones_per_block");
    if (is_layered(plan.config)) return static_cast<int>(LayeredLayout(plan).shared_words(zones)) * plan.shape.bytes();
    return zones * zone_stride(plan, Buffers(plan, pass).words()) * plan.shape.bytes();
}

Launch launch_of(const Plan& plan, const Pass& pass) {
    const Shape& shape = plan.shape;
    Launch launch;
    launch.entry = pass.entry;
    launch.range_axis = 0;
    launch.block = {dense_threads, 1, 1};
    const auto fit = [](int items) { return std::max(1, dense_threads / items); };
    switch (pass.kind) {
        case Kind::zone:
        case Kind::gradients:
            launch.range_per_block = plan.number("zones_per_block");
            launch.block = {launch.range_per_block * plan.team(), 1, 1};
            launch.shared_bytes = shared_bytes(plan, pass);
            if (pass.kind == Kind::gradients) launch.grid[1] = pass.of_w || !shape.physics() ? shape.dimension : 2 * shape.dimension;
            break;
        case Kind::dense_gradients:
            launch.range_per_block = fit(shape.points());
            break;
        case Kind::columns:
            launch.range_per_block = fit(shape.points() * shape.vector_words());
            break;
        case Kind::corner: {
            const CornerLayout layout(plan);
            launch.range_per_block = layout.zones;
            launch.block = {layout.threads, 1, 1};
            launch.grid[1] = layout.blocks;
            break;
        }
        case Kind::sums:
            launch.range_per_block = fit(shape.vector_words());
            break;
        case Kind::products:
            launch.range_per_block = std::max(1, dense_threads / 32 / shape.energies());
            break;
    }
    launch.grid[0] = (shape.zones + launch.range_per_block - 1) / launch.range_per_block;
    return launch;
}

std::vector<Value> divisors(int number, int most) {
    std::vector<Value> result;
    for (int i = 1; i <= std::min(number, most); ++i)
        if (number % i == 0) result.emplace_back(std::int64_t{i});
    return result;
}

bool is_dense(const Config& config) {
    return config.word("form") == "paper" || config.word("form") == "on_the_fly";
}

Violation form_violation(const Shape& shape, const Config& config) {
    const std::string& form_word = config.word("form");
    const bool stored = config.word("gradients") == "stored";
    if (form_word == "layered") {
        if (Violation violation = layered_violation(shape, config)) return violation;
    } else {
        if (config.word("decomposition") == "projector") return "decomposition=projector is of form=layered";
        if (config.integer("splits") == 3 || config.integer("splits") > 4) return "1, 2 or 4 splits, but for form=layered";
        if (config.integer("min_blocks") > 6) return "at most 6 blocks, but for form=layered";
    }
    if (form_word == "paper" && !stored) return "form=paper is gradients=stored";
    if (form_word == "whole" && stored) return "form=whole stores nothing: gradients=fused";
    if (shape.points_along % (config.integer("points_per_pass") * config.integer("splits")) != 0)
        return "points_per_pass does not divide the points that a thread has of a column";
    if (!is_dense(config) && (config.integer("rows_per_thread") != 1 || config.integer("columns_per_thread") != 1))
        return "rows_per_thread and columns_per_thread are those of F, which this form does not have: 1";
    if (is_dense(config) && config.integer("rows_per_thread") * config.integer("columns_per_thread") > 32) return "more than 32 sums in a thread";
    return std::nullopt;
}

std::vector<Assignment> safe_assignments(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    constexpr int few_threads = 64;
    std::int64_t zones = 1;
    while (zones * shape.columns() < few_threads && zones < 32) zones *= 2;
    std::vector<Assignment> safe{{"form", forms(shape, Target::cuda).front()},
                                 {"gradients", "fused"},
                                 {"decomposition", decompositions(shape, Target::cuda).front()},
                                 {"zones_per_block", zones},
                                 {"splits", std::int64_t{shape.dimension == 3 && shape.order >= 3 && shape.order <= 5 ? 2 : 1}},
                                 {"points_per_pass", std::int64_t{1}},
                                 {"rows_per_thread", std::int64_t{1}},
                                 {"columns_per_thread", std::int64_t{1}},
                                 {"min_blocks", std::int64_t{1}}};
    if (shared_violation(resources(Plan(problem, Config(safe), Target::cuda)), 1, limits)) safe[1].value = "stored";
    return safe;
}

}  // namespace

SearchSpace cuda_space(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const std::vector<std::string> all_forms = forms(shape, Target::cuda);
    const bool dense = std::find(all_forms.begin(), all_forms.end(), "on_the_fly") != all_forms.end();
    std::vector<Tunable> tunables{
        {"form",
         "separate: points, forces and work each; force: the first two in one; whole: all in one; on_the_fly: F from columns of A that are never "
         "stored; "
         "paper: kernels 3 to 8 and 10 one by one; layered: all in one, layer by layer of points, at any order",
         words(all_forms)},
        {"gradients", "fused: a zone sums up derivatives where it needs them; stored: a launch before does, one field at a time",
         words({"fused", "stored"})},
        {"decomposition",
         "eigenvalues of 3 x 3 matrices: closed: by a root and deflation; jacobi: by rotations; projector: by a root and projectors (layered)",
         words(decompositions(shape, Target::cuda))},
        {"zones_per_block", "zones of a block, each with a thread or several per column of points", numbers({1, 2, 4, 8, 16, 32})},
        {"splits", "threads that share a column of points, and the sums that its derivatives take; layered: layers of points at a time",
         numbers({1, 2, 3, 4, 6, 8})},
        {"points_per_pass", "points of a column whose derivatives are summed up together", numbers({1, 2, 4})},
        {"rows_per_thread", "rows of F that a thread accumulates", dense ? numbers({1, 2, 3, 4}) : numbers({1})},
        {"columns_per_thread", "columns of F that a thread accumulates", dense ? divisors(shape.energies(), 16) : numbers({1})},
        {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 6, 8, 12, 16})}};
    const auto with_resources = [problem](auto rule) {
        return [problem, rule](const Config& config) -> Violation {
            return rule(resources(Plan(problem, config, Target::cuda)), config.integer("min_blocks"));
        };
    };
    std::vector<Constraint> constraints{
        {"form", [shape](const Config& config) { return form_violation(shape, config); }},
        {"threads", with_resources([limits](const BlockResources& needs, std::int64_t blocks) { return thread_violation(needs, blocks, limits); })},
        {"shared memory",
         with_resources([limits](const BlockResources& needs, std::int64_t blocks) { return shared_violation(needs, blocks, limits); })},
        {"registers",
         with_resources([limits](const BlockResources& needs, std::int64_t blocks) { return register_violation(needs, blocks, limits); })}};
    return SearchSpace(std::move(tunables), std::move(constraints), safe_assignments(problem, limits));
}

KernelSource cuda_kernel(const Problem& problem, const Config& config, const Limits&) {
    const Plan plan(problem, config, Target::cuda);
    KernelSource source = make_source(plan);
    if (is_layered(config)) {
        source.step.push_back(launch_of(plan, plan.passes.front()));
        source.text = layered_text(plan, banner(plan, source.executed_operations), constants(plan), barrier(plan));
        return source;
    }
    Block entries;
    for (const Pass& pass : plan.passes) {
        entries.append(entry_of(plan, pass)).text("");
        source.step.push_back(launch_of(plan, pass));
    }
    source.text = render("corner_force/kernel.cu", {{"banner", banner(plan, source.executed_operations)},
                                                    {"constants", constants(plan)},
                                                    {"barrier", barrier(plan)},
                                                    {"eigen", eigen_functions(plan.shape.dimension, config.word("decomposition"), Target::cuda)},
                                                    {"point", point_functions(plan.shape.dimension, Target::cuda)},
                                                    {"lines", line_functions(plan.shape, Target::cuda)},
                                                    {"entries", entries}});
    return source;
}

}  // namespace hone::corner
