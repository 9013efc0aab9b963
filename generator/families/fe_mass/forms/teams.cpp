#include <fmt/format.h>

#include <algorithm>

#include "generator/families/fe_mass/cuda.hpp"

// A team of threads, one or some columns of points each, works on an element, whose half-way
// results are in shared memory.

namespace hone::inline v0_1::fe {
namespace {

constexpr int warp = 32;

// Of points, which are contracted last.
int all_columns(const Shape& shape) {
    return shape.dimension == 2 ? shape.points_along : shape.points_along * shape.points_along;
}

int odd(int words) {
    return words | 1;
}

struct Teams : CudaKernel {
    Teams(const Shape& of, const Config& config)
        : CudaKernel(of, config),
          columns_per_thread(static_cast<int>(config.integer("columns_per_thread"))),
          components_at_once(config.has("components_at_once", "all") ? of.components : 1),
          early(config.has("weights", "early")) {}

    int columns_per_thread, components_at_once;
    bool early;  // weights are in registers before all else

    int team() const { return all_columns(shape) / columns_per_thread; }
    // Rows of shared memory have odd lengths: threads with a row each are in different banks.
    int sheet_row() const { return odd(shape.nodes_along); }
    int plane_row() const { return odd(shape.points_along); }
    int sheet_words() const { return (shape.dimension == 2 ? 1 : shape.nodes_along) * shape.points_along * sheet_row(); }
    int plane_words() const { return shape.dimension == 2 ? 0 : shape.points_along * shape.nodes_along * plane_row(); }
    // Teams that are less than half a warp read the same place of several elements at once: these
    // lie in different banks when a team apart.
    int element_words() const {
        const int words = components_at_once * (sheet_words() + std::max(plane_words(), shape.element_nodes()));
        const int banks = 128 / shape.bytes();
        return team() >= banks ? words : words + (team() - words % banks + banks) % banks;
    }
    bool within_warps() const { return warp % team() == 0 && team() * elements_per_block % warp == 0; }

    BlockResources resources() const {
        const int gathered = components_at_once * shape.nodes_along + shape.nodes_along / 2;
        const int weighed = 2 * shape.nodes_along + shape.points_along;
        return {.threads = std::int64_t{elements_per_block} * team(),
                .shared_bytes = std::int64_t{elements_per_block} * element_words() * shape.bytes(),
                .registers = shape.bytes() / 4 * (std::max(gathered + (early ? shape.points_along : 0), weighed) + 4) + 28};
    }

    Block constants() const {
        Block block = shape_constants(shape, Target::cuda);
        block.line(
            "constexpr int components_at_once = {}, team = {}, elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};",
            components_at_once, team(), elements_per_block, team() * elements_per_block, min_blocks);
        block.line("constexpr int sheet_row = {}, plane_row = {};  // odd: threads with a row each are in different banks", sheet_row(), plane_row());
        return block.line("constexpr int sheet_words = {}, plane_words = {}, element_words = {};", sheet_words(), plane_words(), element_words());
    }

    Block weights_of(const char* column) const {
        Block block;
        block.line("real weight[points_along];");
        return block.line("column_weights({} element, {}, weight);", weights_arguments(shape).lines().front(), column);
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        CudaParts parts;
        parts.constants = constants();
        // The threads of a team wait for each other: alone where teams do not cross warps.
        parts.barrier.line("__device__ __forceinline__ void barrier() {{ {}(); }}", within_warps() ? "__syncwarp" : "__syncthreads");
        parts.weights = weights_function(shape, Target::cuda);
        parts.elements.lines_of(render(shape.dimension == 2 ? "fe_mass/kernel.cu/elements_2d" : "fe_mass/kernel.cu/elements_3d",
                                       {{"parameters", parameters(shape)},
                                        {"early_weights", early ? weights_of("member") : Block()},
                                        {"late_weights", early ? Block() : weights_of("column")},
                                        {"unroll_points", unroll_points(shape, Target::cuda)}}));
        parts.teams = true;
        return source(problem, config, parts, resources());
    }
};

Reason layout(const Shape& shape, int columns_per_thread, bool early) {
    const int all = all_columns(shape);
    if (all % columns_per_thread != 0) return fmt::format("{} columns cannot be dealt out evenly to threads", all);
    if (early && columns_per_thread != 1) return "weights=early holds those of one column: columns=1";
    return std::nullopt;
}

// As many as make a warp or two.
std::int64_t safe_elements(const Shape& shape) {
    constexpr int few_threads = 64;
    std::int64_t elements = 1;
    while (elements * all_columns(shape) < few_threads && elements < warp) elements *= 2;
    return elements;
}

}  // namespace

Form teams_form(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    FormSpace own{.name = "teams",
                  .help = "threads with columns of points each, half-way results in shared memory",
                  .tunables = {{"columns_per_thread", "columns of points that a thread has of an element", numbers({1, 2, 4}), {}, "columns"},
                               {"components_at_once", "of the vectors, in one pass over an element",
                                shape.components == 1 ? words({"one"}) : words({"one", "all"})},
                               {"weights", "early: into registers before all else; late: where they are used", words({"early", "late"})}},
                  .constraints = {{"layout",
                                   [shape](const Config& config) {
                                       const Teams kernel(shape, config);
                                       return layout(shape, kernel.columns_per_thread, kernel.early);
                                   },
                                   {"columns_per_thread", "weights"}}},
                  .safe = {{"columns_per_thread", std::int64_t{1}}, {"components_at_once", "one"}, {"weights", "late"}},
                  .former = [](const Config&) { return true; }};
    return cuda_form<Teams>(problem, CudaKernel::space(std::move(own), {1, 2, 4, 8, 16, 32, 64}, safe_elements(shape)),
                            {"elements_per_block", "columns_per_thread", "components_at_once", "weights"});
}

}  // namespace hone::inline v0_1::fe
