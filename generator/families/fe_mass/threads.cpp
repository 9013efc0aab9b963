#include <algorithm>
#include <utility>

#include "generator/families/device/cuda_copies.hpp"
#include "generator/families/device/cuda_launch.hpp"
#include "generator/families/fe_mass/shape.hpp"
#include "generator/render.hpp"

// The CUDA form whose threads have a component of an element each: no half-way result leaves a
// thread's registers.

namespace hone::inline v0_1::fe {
namespace {

struct Plan {
    Plan(const Shape& of, const Config& config) : shape(of), elements(static_cast<int>(config.integer("elements_per_block"))) {}

    // Rows of shared memory have odd lengths: threads with a row each are in different banks.
    int weight_row() const { return shape.element_points() | 1; }
    int node_row() const { return shape.element_nodes() | 1; }
    BlockResources resources() const {
        BlockResources needs;
        needs.threads = std::int64_t{elements} * shape.components;
        needs.shared_bytes = std::int64_t{elements} * (weight_row() * shape.bytes() + node_row() * 4);
        needs.registers = thread_registers(shape);
        return needs;
    }
    static int thread_registers(const Shape& shape) {
        const int layer = shape.dimension == 2 ? shape.nodes_along : 2 * shape.nodes_along * shape.nodes_along + shape.nodes_along;
        const int words = 2 * shape.element_nodes() + layer + shape.nodes_along + std::min(shape.points_along, 8);
        return shape.bytes() / 4 * words + 6;
    }

    Shape shape;
    int elements;
};

Block constants(const Plan& plan, const Config& config) {
    Block block = shape_constants(plan.shape, Target::cuda);
    block.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", plan.elements,
               plan.resources().threads, config.integer("min_blocks"));
    return block.line("constexpr int weight_row = {}, node_row = {};  // odd: threads with a row each are in different banks", plan.weight_row(),
                      plan.node_row());
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Plan plan(shape, config);
    const bool asynchronous = shape.stored && config.has("staging", "async");
    CudaParts parts;
    parts.constants = constants(plan, config);
    Flags flags{
        {"through_registers", shape.stored && !asynchronous}, {"computed", !shape.stored}, {"solid", shape.dimension == 3}, {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros, asynchronous);
    parts.elements.lines_of(render("fe_mass/kernel.cu/thread_elements",
                                   {{"parameters", parameters(shape)}, {"unroll_points", unroll_points(shape, Target::cuda)}}, flags));
    if (!shape.stored) parts.weights = weights_function(shape, Target::cuda);
    parts.elements_per_block = plan.elements;
    parts.needs = plan.resources();
    return cuda_source(problem, config, parts);
}

}  // namespace

std::vector<Form> thread_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    if (Plan::thread_registers(shape) > limits.max_registers_per_thread) return {};
    FormSpace space;
    space.name = "threads";
    space.help = "a thread for each component of an element, all in registers";
    space.tunables = {{"elements_per_block", elements_help, numbers({32, 64, 128, 256}), {}, "elements"}};
    if (shape.stored && limits.has(Feature::async_copies))
        space.tunables.push_back({"staging", "of weights: through registers, or past them while values at nodes are fetched",
                                  words({"registers", "async"}), Value("registers")});
    for (Tunable& tunable : node_tunables()) space.tunables.push_back(std::move(tunable));
    space.safe = {{"elements_per_block", std::int64_t{32}}};
    if (shape.stored && limits.has(Feature::async_copies)) space.safe.push_back({"staging", "registers"});
    for (Assignment& assignment : safe_nodes()) space.safe.push_back(std::move(assignment));
    return {{.space = std::move(space),
             .resources = [shape](const Config& config) { return Plan(shape, config).resources(); },
             .resources_read = {"elements_per_block"},
             .kernel = [problem](const Config& config) { return kernel(problem, config); }}};
}

}  // namespace hone::inline v0_1::fe
