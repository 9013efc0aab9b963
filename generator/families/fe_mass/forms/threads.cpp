#include <algorithm>

#include "generator/families/device/cuda_copies.hpp"
#include "generator/families/fe_mass/cuda.hpp"

// A thread has a component of an element: no half-way result leaves its registers.

namespace hone::inline v0_1::fe {
namespace {

int thread_registers(const Shape& shape) {
    const int layer = shape.dimension == 2 ? shape.nodes_along : 2 * shape.nodes_along * shape.nodes_along + shape.nodes_along;
    const int words = 2 * shape.element_nodes() + layer + shape.nodes_along + std::min(shape.points_along, 8);
    return shape.bytes() / 4 * words + 6;
}

struct Threads : CudaKernel {
    Threads(const Shape& of, const Config& config) : CudaKernel(of, config), async(config.has("staging", "async")) {}

    bool async;  // weights go past the registers while values at nodes are fetched

    // Rows of shared memory have odd lengths: threads with a row each are in different banks.
    int weight_row() const { return shape.element_points() | 1; }
    int node_row() const { return shape.element_nodes() | 1; }

    BlockResources resources() const {
        return {.threads = std::int64_t{elements_per_block} * shape.components,
                .shared_bytes = std::int64_t{elements_per_block} * (weight_row() * shape.bytes() + node_row() * 4),
                .registers = thread_registers(shape)};
    }

    Block constants() const {
        Block block = shape_constants(shape, Target::cuda);
        block.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", elements_per_block,
                   resources().threads, min_blocks);
        return block.line("constexpr int weight_row = {}, node_row = {};  // odd: threads with a row each are in different banks", weight_row(),
                          node_row());
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        CudaParts parts;
        parts.constants = constants();
        Flags flags{
            {"through_registers", shape.stored && !async}, {"computed", !shape.stored}, {"solid", shape.dimension == 3}, {"kept_reads", false}};
        add_copies(flags, Copies::words_or_zeros, async);
        parts.elements.lines_of(render("fe_mass/kernel.cu/thread_elements",
                                       {{"parameters", parameters(shape)}, {"unroll_points", unroll_points(shape, Target::cuda)}}, flags));
        if (!shape.stored) parts.weights = weights_function(shape, Target::cuda);
        return source(problem, config, parts, resources());
    }
};

}  // namespace

bool fits_threads(const Shape& shape, const Limits& limits) {
    return thread_registers(shape) <= limits.max_registers_per_thread;
}

Form threads_form(const Problem& problem, const Limits& limits) {
    FormSpace own{.name = "threads", .help = "a thread for each component of an element, all in registers"};
    if (Shape(problem).stored && limits.has(Feature::async_copies)) {
        own.tunables = {{"staging", "of weights: through registers, or past them while values at nodes are fetched", words({"registers", "async"}),
                         Value("registers")}};
        own.safe = {{"staging", "registers"}};
    }
    constexpr std::int64_t fewest = 32;
    return cuda_form<Threads>(problem, CudaKernel::space(std::move(own), {fewest, 64, 128, 256}, fewest), {"elements_per_block"});
}

}  // namespace hone::inline v0_1::fe
