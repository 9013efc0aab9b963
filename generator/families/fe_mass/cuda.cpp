#include "generator/families/fe_mass/cuda.hpp"

#include "generator/families/device/cuda_launch.hpp"

namespace hone::inline v0_1::fe {

CudaKernel::CudaKernel(const Shape& of, const Config& config)
    : shape(of),
      elements_per_block(static_cast<int>(integer_or(config, "elements_per_block", 1))),
      node_threads(static_cast<int>(integer_or(config, "node_threads", 1))),
      loads_in_flight(static_cast<int>(integer_or(config, "loads_in_flight", 1))),
      min_blocks(static_cast<int>(integer_or(config, "min_blocks", 1))) {
}

KernelSource CudaKernel::source(const Problem& problem, const Config& config, const CudaParts& parts, const BlockResources& needs) const {
    KernelSource source = common_source(problem, Target::cuda);
    Block constants = parts.constants;
    constants.line("constexpr int node_threads = {}, corners_together = {};", node_threads, loads_in_flight);
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
    Launch of_elements =
        cuda_launch("multiply_elements", {(shape.elements + elements_per_block - 1) / elements_per_block, 1, 1}, {needs.threads, 1, 1});
    of_elements.range_axis = 0;
    of_elements.range_per_block = elements_per_block;
    of_elements.shared_bytes = needs.shared_bytes;
    source.step = {of_elements, cuda_launch("add_up", {(shape.nodes + node_threads - 1) / node_threads, 1, 1}, {node_threads, 1, 1})};
    if (!shape.dotted) return source;
    source.step.push_back(cuda_launch("finish", {shape.components, 1, 1}, {sum_lanes, 1, 1}));
    return source;
}

FormSpace CudaKernel::space(FormSpace own, std::vector<std::int64_t> elements_per_block, std::int64_t safe_elements) {
    own.tunables.insert(own.tunables.begin(), {"elements_per_block", "elements of a block", numbers(std::move(elements_per_block)), {}, "elements"});
    own.tunables.insert(
        own.tunables.end(),
        {{"node_threads", "threads of a block that adds up at nodes", numbers({64, 128, 256, 512})},
         {"loads_in_flight", "sums of elements that a node loads before it adds the first", numbers({1, 2, 4}), {}, "corners_together"},
         {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8, 16})}});
    own.safe.insert(own.safe.begin(), {"elements_per_block", safe_elements});
    own.safe.insert(own.safe.end(), {{"node_threads", std::int64_t{128}}, {"loads_in_flight", std::int64_t{2}}, {"min_blocks", std::int64_t{1}}});
    return own;
}

}  // namespace hone::inline v0_1::fe
