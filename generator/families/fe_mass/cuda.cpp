#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/families/device/cuda_launch.hpp"
#include "generator/families/fe_mass/shape.hpp"
#include "generator/render.hpp"

// CUDA kernels. In the form by teams a team of threads, one or some columns of points each, works
// on an element, whose half-way results are in shared memory. In all forms a thread for each node
// adds up.

namespace hone::inline v0_1::fe {
namespace {

using Violation = std::optional<std::string>;

constexpr int warp = 32;

// Of points, which are contracted last.
int all_columns(const Shape& shape) {
    return shape.dimension == 2 ? shape.points_along : shape.points_along * shape.points_along;
}

// How elements are laid out over a block.
struct Plan {
    Plan(const Shape& of, const Config& config)
        : shape(of),
          elements(value(config, "elements_per_block")),
          columns(value(config, "columns_per_thread")),
          at_once(config.word("components_at_once") == "all" ? of.components : 1),
          early(config.word("weights") == "early") {}

    static int value(const Config& config, const char* name) { return static_cast<int>(config.integer(name)); }
    static int odd(int words) { return words | 1; }
    int team() const { return all_columns(shape) / columns; }
    // Rows of shared memory have odd lengths: threads with a row each are in different banks.
    int sheet_row() const { return odd(shape.nodes_along); }
    int plane_row() const { return odd(shape.points_along); }
    int sheet_words() const { return (shape.dimension == 2 ? 1 : shape.nodes_along) * shape.points_along * sheet_row(); }
    int plane_words() const { return shape.dimension == 2 ? 0 : shape.points_along * shape.nodes_along * plane_row(); }
    // Teams that are less than half a warp read the same place of several elements at once: these
    // lie in different banks when a team apart.
    int element_words() const {
        const int words = at_once * (sheet_words() + std::max(plane_words(), shape.element_nodes()));
        const int banks = 128 / shape.bytes();
        return team() >= banks ? words : words + (team() - words % banks + banks) % banks;
    }
    bool within_warps() const { return warp % team() == 0 && team() * elements % warp == 0; }
    BlockResources resources() const {
        BlockResources needs;
        needs.threads = std::int64_t{elements} * team();
        needs.shared_bytes = std::int64_t{elements} * element_words() * shape.bytes();
        const int gathered = at_once * shape.nodes_along + shape.nodes_along / 2;
        const int weighed = 2 * shape.nodes_along + shape.points_along;
        needs.registers = shape.bytes() / 4 * (std::max(gathered + (early ? shape.points_along : 0), weighed) + 4) + 28;
        return needs;
    }

    Shape shape;
    int elements, columns, at_once;
    bool early;
};

Violation layout_violation(const Shape& shape, const Config& config) {
    const int all = all_columns(shape), columns = Plan::value(config, "columns_per_thread");
    if (all % columns != 0) return fmt::format("{} columns cannot be dealt out evenly to threads", all);
    if (config.has("weights", "early") && columns != 1) return "weights=early holds those of one column: columns=1";
    return std::nullopt;
}

Block constants(const Plan& plan, const Config& config) {
    Block block = shape_constants(plan.shape, Target::cuda);
    block.line("constexpr int components_at_once = {}, team = {}, elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};",
               plan.at_once, plan.team(), plan.elements, plan.team() * plan.elements, config.integer("min_blocks"));
    block.line("constexpr int sheet_row = {}, plane_row = {};  // odd: threads with a row each are in different banks", plan.sheet_row(),
               plan.plane_row());
    return block.line("constexpr int sheet_words = {}, plane_words = {}, element_words = {};", plan.sheet_words(), plan.plane_words(),
                      plan.element_words());
}

// The threads of a team wait for each other: alone where teams do not cross warps.
Block barrier(const Plan& plan) {
    return Block().line("__device__ __forceinline__ void barrier() {{ {}(); }}", plan.within_warps() ? "__syncwarp" : "__syncthreads");
}

Block weights_of(const Plan& plan, const char* column) {
    Block block;
    block.line("real weight[points_along];");
    return block.line("column_weights({} element, {}, weight);", weights_arguments(plan.shape).lines().front(), column);
}

// As many elements as make a warp or two, and one component at a time: little of everything.
std::vector<Assignment> safe_assignments(const Shape& shape) {
    constexpr int few_threads = 64;
    const int team = all_columns(shape);
    std::int64_t elements = 1;
    while (elements * team < few_threads && elements < warp) elements *= 2;
    std::vector<Assignment> safe{
        {"elements_per_block", elements}, {"columns_per_thread", std::int64_t{1}}, {"components_at_once", "one"}, {"weights", "late"}};
    for (Assignment& assignment : safe_nodes()) safe.push_back(std::move(assignment));
    return safe;
}

KernelSource team_kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Plan plan(shape, config);
    CudaParts parts;
    parts.constants = constants(plan, config);
    parts.barrier = barrier(plan);
    parts.weights = weights_function(shape, Target::cuda);
    parts.elements.lines_of(render(shape.dimension == 2 ? "fe_mass/kernel.cu/elements_2d" : "fe_mass/kernel.cu/elements_3d",
                                   {{"parameters", parameters(shape)},
                                    {"early_weights", plan.early ? weights_of(plan, "member") : Block()},
                                    {"late_weights", plan.early ? Block() : weights_of(plan, "column")},
                                    {"unroll_points", unroll_points(shape, Target::cuda)}}));
    parts.teams = true;
    parts.elements_per_block = plan.elements;
    parts.needs = plan.resources();
    return cuda_source(problem, config, parts);
}

Form team_form(const Problem& problem) {
    const Shape shape(problem);
    FormSpace space;
    space.name = "teams";
    space.help = "threads with columns of points each, half-way results in shared memory";
    space.tunables = {
        {"elements_per_block", elements_help, numbers({1, 2, 4, 8, 16, 32, 64}), {}, "elements"},
        {"columns_per_thread", "columns of points that a thread has of an element", numbers({1, 2, 4}), {}, "columns"},
        {"components_at_once", "of the vectors, in one pass over an element", shape.components == 1 ? words({"one"}) : words({"one", "all"})},
        {"weights", "early: into registers before all else; late: where they are used", words({"early", "late"})}};
    for (Tunable& tunable : node_tunables()) space.tunables.push_back(std::move(tunable));
    space.constraints = {{"layout", [shape](const Config& config) { return layout_violation(shape, config); }, {"columns_per_thread", "weights"}}};
    space.safe = safe_assignments(shape);
    space.former = [](const Config&) { return true; };
    return {.space = std::move(space),
            .resources = [shape](const Config& config) { return Plan(shape, config).resources(); },
            .resources_read = {"elements_per_block", "columns_per_thread", "components_at_once", "weights"},
            .kernel = [problem](const Config& config) { return team_kernel(problem, config); }};
}

}  // namespace

std::vector<Tunable> node_tunables() {
    return {{"node_threads", "threads of a block that adds up at nodes", numbers({64, 128, 256, 512})},
            {"loads_in_flight", "sums of elements that a node loads before it adds the first", numbers({1, 2, 4}), {}, "corners_together"},
            {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8, 16})}};
}

std::vector<Assignment> safe_nodes() {
    return {{"node_threads", std::int64_t{128}}, {"loads_in_flight", std::int64_t{2}}, {"min_blocks", std::int64_t{1}}};
}

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    Forms forms{{team_form(problem)}, "teams"};
    for (Form& form : thread_forms(problem, limits)) forms.list.push_back(std::move(form));
    return forms;
}

KernelSource cuda_source(const Problem& problem, const Config& config, const CudaParts& parts) {
    const Shape shape(problem);
    KernelSource source = common_source(problem, Target::cuda);
    Block constants = parts.constants;
    constants.line("constexpr int node_threads = {}, corners_together = {};", config.integer("node_threads"), config.integer("loads_in_flight"));
    source.text = render("fe_mass/kernel.cu",
                         {{"banner", banner(problem, config, Target::cuda)},
                          {"constants", constants},
                          {"barrier", parts.barrier},
                          {"weights_function", parts.weights},
                          {"unroll_points", unroll_points(shape, Target::cuda)},
                          {"elements", parts.elements}},
                         {{"teams", parts.teams}});
    source.text += render("fe_mass/kernel.cu/nodes", {{"parameters", parameters(shape)}, {"chunks", chunk_count()}},
                          {{"dotted", shape.dotted}, {"summed", shape.summed}});
    Launch of_elements = cuda_launch("multiply_elements", {(shape.elements + parts.elements_per_block - 1) / parts.elements_per_block, 1, 1},
                                     {parts.needs.threads, 1, 1});
    of_elements.range_axis = 0;
    of_elements.range_per_block = parts.elements_per_block;
    of_elements.shared_bytes = parts.needs.shared_bytes;
    const std::int64_t node_threads = config.integer("node_threads");
    source.step = {of_elements, cuda_launch("add_up", {(shape.nodes + node_threads - 1) / node_threads, 1, 1}, {node_threads, 1, 1})};
    if (!shape.dotted) return source;
    source.step.push_back(cuda_launch("finish", {shape.components, 1, 1}, {sum_lanes, 1, 1}));
    return source;
}

}  // namespace hone::inline v0_1::fe
