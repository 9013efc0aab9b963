#include <algorithm>
#include <utility>

#include "generator/families/device/cuda_launch.hpp"
#include "generator/families/fe_mass/shape.hpp"
#include "generator/render.hpp"

// The CUDA form in three dimensions whose threads have a layer of points of a component of an element each: a third of the words of the form by teams
// pass through shared memory, and fewer registers are taken than by the form by threads.

namespace hone::fe {
namespace {

constexpr int warp = 32;

struct Plan {
    Plan(const Shape& of, const Config& config) : shape(of), elements(static_cast<int>(config.integer("elements"))) {}

    int banks() const { return 128 / shape.bytes(); }
    int layer() const { return shape.nodes_along * shape.nodes_along; }
    // Neighbouring threads, which have a layer each, are in different banks: rows of odd lengths, which lie as far apart as there are layers.
    int rows_of_layers(int row) const {
        const int words = shape.points_along * row;
        return shape.points_along >= banks() ? words : words + (shape.points_along - words % banks() + banks()) % banks();
    }
    int layer_row() const { return shape.points_along * shape.points_along | 1; }
    int weight_row() const { return rows_of_layers(layer_row()); }
    int line_row() const { return layer() | 1; }
    int line_words() const { return rows_of_layers(line_row()); }
    int node_row() const { return shape.element_nodes() | 1; }
    // Where the layers of components lie: behind the weights and the nodes' numbers.
    int lines_begin() const { return elements * weight_row() + static_cast<int>(shape.index_words(std::int64_t{elements} * node_row())); }
    int threads() const { return elements * shape.components * shape.points_along; }
    bool within_warps() const { return warp % shape.points_along == 0; }
    BlockResources resources() const {
        BlockResources needs;
        needs.threads = threads();
        needs.shared_bytes = (std::int64_t{lines_begin()} + std::int64_t{elements} * shape.components * line_words()) * shape.bytes();
        needs.registers = thread_registers(shape);
        return needs;
    }
    static int thread_registers(const Shape& shape) {
        const int words = 2 * shape.nodes_along * shape.nodes_along + shape.nodes_along + std::min(shape.points_along, 8);
        return shape.bytes() / 4 * words + 24;
    }

    Shape shape;
    int elements;
};

Block constants(const Plan& plan, const Config& config) {
    Block block = shape_constants(plan.shape, Target::cuda);
    block.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", plan.elements, plan.threads(),
               config.integer("min_blocks"));
    block.append(staging_constants(plan.shape.points_along * plan.shape.points_along, plan.layer_row(), plan.weight_row(), plan.node_row()));
    return block.line("constexpr int line_row = {}, line_words = {}, lines_begin = {};", plan.line_row(), plan.line_words(), plan.lines_begin());
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Plan plan(shape, config);
    CudaParts parts;
    parts.constants = constants(plan, config);
    parts.barrier = team_barrier(plan.within_warps());
    parts.elements.lines_of(render("fe_mass/layer_elements.cu",
                                   {{"parameters", parameters(shape)}, {"unroll_points", unroll_points(shape, Target::cuda)}},
                                   {{"stored", shape.stored}, {"solid", true}}));
    if (!shape.stored) parts.weights = weights_function(shape, Target::cuda);
    parts.elements_per_block = plan.elements;
    parts.needs = plan.resources();
    return cuda_source(problem, config, parts);
}

}  // namespace

std::vector<Form> layer_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    if (shape.dimension == 2 || Plan::thread_registers(shape) > limits.max_registers_per_thread) return {};
    FormSpace space;
    space.name = "layers";
    space.help = "a thread for each layer of points of a component of an element, all but sums along z in registers";
    space.tunables = {{"elements", elements_help, numbers({1, 2, 4, 8, 16, 32})}};
    for (Tunable& tunable : node_tunables()) space.tunables.push_back(std::move(tunable));
    space.safe = {{"elements", std::int64_t{4}}};
    for (Assignment& assignment : safe_nodes()) space.safe.push_back(std::move(assignment));
    return {{.space = std::move(space),
             .resources = [shape](const Config& config) { return Plan(shape, config).resources(); },
             .resources_read = {"elements"},
             .kernel = [problem](const Config& config) { return kernel(problem, config); }}};
}

}  // namespace hone::fe
