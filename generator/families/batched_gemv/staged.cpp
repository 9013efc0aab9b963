#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/batched_gemm/mappings.hpp"
#include "generator/families/batched_gemv/mappings.hpp"
#include "generator/families/device/cuda_copies.hpp"

// The form staged, for transposed matrices without gaps: columns of neighbouring matrices lie in
// one piece, so that copies are as wide as a block's piece allows, whatever the length of a column
// is.

namespace hone::inline v0_1::gemv {
namespace {

using gemm::number;
using gemm::pieces;

struct Layout {
    Layout(const Shape& shape, const Config& config)
        : matrices(number(config, "matrices_per_block")),
          parts(number(config, "blocks_per_matrix")),
          columns(pieces(matrices * shape.n, parts)),
          lanes(number(config, "split")),
          threads(number(config, "threads")) {
        // Pieces begin where matrices do, or where a part of one does.
        for (const int candidate : {2, 4})
            if (candidate <= shape.of.vector_width() && columns * shape.m % candidate == 0 && shape.n * shape.m % candidate == 0) width = candidate;
    }

    int matrices, parts;
    int columns;  // of a block
    int lanes, threads;
    int width = 1;  // words per copy
};

std::optional<std::string> layout_violation(const Shape& shape, const Config& config) {
    const Layout layout(shape, config);
    if (layout.matrices > 1 && layout.parts > 1) return "a block has several matrices, or a part of one";
    if (layout.parts > shape.n || (layout.parts - 1) * layout.columns >= shape.n) return "some blocks would have no column";
    if (layout.lanes > 1 && layout.lanes >= 2 * shape.m) return fmt::format("{} threads for the {} words of a column", layout.lanes, shape.m);
    if (layout.columns * layout.lanes < layout.threads && layout.threads > 64) return "some threads of the block would never have work";
    if (layout.columns * layout.lanes >= 32 * layout.threads) return "a block would run through over 32 trips";
    return std::nullopt;
}

BlockResources resources(const Shape& shape, const Config& config) {
    const Layout layout(shape, config);
    return {.threads = layout.threads, .shared_bytes = std::int64_t{layout.columns} * shape.m * shape.of.bytes(), .registers = 40};
}

Block constants(const Shape& shape, const Layout& layout, const Config& config) {
    Block block = shape_constants(shape);
    block.line("constexpr int matrices_per_block = {}, columns_per_block = {};  // of a block, which has several matrices or a part of one",
               layout.matrices, layout.columns);
    block.line("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {};", layout.threads, number(config, "min_blocks"));
    return block.line("constexpr int width = {}, lanes = {};  // words per copy, threads that share a column", layout.width, layout.lanes);
}

KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) {
    constexpr int longest_unrolled = 16;
    const Shape shape(problem);
    const Layout layout(shape, config);
    const int trips = pieces(shape.m, layout.lanes);
    const Holes holes{{"banner", banner(problem, config, Target::cuda)},
                      {"constants", constants(shape, layout, config)},
                      {"entry", entry(shape, Target::cuda)},
                      {"unroll", Block().line("#pragma unroll {}", trips <= longest_unrolled ? trips : longest_unrolled / 2)}};
    Flags flags{{"scaled", shape.of.scaled}, {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros, limits.has(Feature::async_copies));
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemv/staged.cu", holes, flags));
    source.step = {gemm::block_launch(shape.of, layout.matrices, layout.parts, resources(shape, config))};
    source.step[0].entry = "batched_gemv";
    return source;
}

}  // namespace

Form staged_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    // A large matrix goes to as many blocks as leave each some ten kilobytes.
    std::int64_t parts = 1;
    while (parts < 64 && shape.n > 2 * parts && std::int64_t{shape.m} * pieces(shape.n, static_cast<int>(parts)) * shape.of.bytes() > 12288)
        parts *= 2;
    while ((parts - 1) * pieces(shape.n, static_cast<int>(parts)) >= shape.n) parts /= 2;
    return {
        .space =
            {.name = "staged",
             .help = "columns come into shared memory as they lie; neighbouring threads share one there",
             .tunables = {{"matrices_per_block", "products that a block of threads computes", numbers({1, 2, 4, 8, 16, 32})},
                          {"blocks_per_matrix", "blocks that share the columns of a matrix", numbers({1, 2, 4, 8, 16, 32, 64})},
                          {"split", "threads that share a column", numbers({1, 2, 4, 8, 16, 32})},
                          {"threads", "threads of a block", numbers({64, 128, 256, 512})},
                          {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 4, 8, 16})}},
             .constraints = {{"layout",
                              [shape](const Config& config) { return layout_violation(shape, config); },
                              {"matrices_per_block", "blocks_per_matrix", "split", "threads"}}},
             .safe = {{"matrices_per_block", 1}, {"blocks_per_matrix", parts}, {"split", shape.m >= 16 ? 8 : 1}, {"threads", 64}, {"min_blocks", 1}}},
        .resources = [shape](const Config& config) { return resources(shape, config); },
        .resources_read = {"matrices_per_block", "blocks_per_matrix", "split", "threads"},
        .kernel = [problem, limits](const Config& config) { return kernel(problem, config, limits); }};
}

}  // namespace hone::inline v0_1::gemv
