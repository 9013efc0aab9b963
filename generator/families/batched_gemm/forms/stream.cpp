#include <algorithm>

#include "generator/families/batched_gemm/cuda.hpp"

// For products of few rows with one B: what has to move is C, and everything else is arranged for
// that. B is loaded once per block, into registers as the matrix units take them; A arrives some
// groups of products ahead; C goes through shared memory of each warp's own, and to memory in whole
// lines.

namespace hone::inline v0_1::gemm {
namespace {

constexpr int matrices = 8;  // that a warp multiplies at a time: columns of the matrix units' second operand
constexpr int group = 16;    // columns of B: rows of their first
constexpr int step = 4;      // values along k of one instruction

struct Stream {
    Stream(const Shape& of, const Config& config)
        : shape(of),
          warp_groups(number(config, "warp_groups")),
          stages(number(config, "stages")),
          batches_per_block(number(config, "batches_per_block", 1)),
          min_blocks(number(config, "min_blocks", 1)),
          steps(pieces(shape.k, step)),
          columns(warp_groups * group),
          columns_wanted(pieces(shape.n, pieces(shape.n, number(config, "block_n")))),
          warps(pieces(columns_wanted, columns)) {
        const auto even = [](std::int64_t words) { return words % 2 == 0; };
        a_width = even(shape.m * shape.k) && even(shape.stride_a()) ? 2 : 1;
        c_width = even(shape.m * shape.n) && even(shape.stride_c()) && !shape.scaled ? 2 : 1;
    }

    Shape shape;
    int warp_groups, stages, batches_per_block, min_blocks;
    int steps;
    int columns, columns_wanted, warps;  // columns: of a warp
    int a_width, c_width;                // words of a copy, of a store

    int threads() const { return 32 * warps; }
    // Distances of matrices in shared memory: half a warp reads 4 values along k of 4 matrices, and
    // writes 4 columns of 4 matrices, in 16 banks where m is odd.
    int a_here() const { return round_up(shape.m * shape.k + 4, 8) - 4; }
    int c_here() const { return columns * shape.m + (shape.m % 2 == 0 ? 4 : 2); }
    std::int64_t shared_words() const { return std::int64_t{matrices} * (stages * a_here() + warps * c_here()); }

    Reason conflict() const {
        if (stages == 1) return "one group of products is used while the others arrive";
        if (warp_groups > 1 && 2 * columns_wanted <= columns) return "half of the columns that a warp accumulates would be padding";
        return std::nullopt;
    }

    BlockResources resources() const {
        const int words = warp_groups * (2 * steps + 4) + steps;
        return {.threads = threads(),
                .shared_bytes = shared_words() * shape.bytes(),
                .registers = std::max(shape.bytes() / 4 * words + 40, f64_matrix_unit_registers),  // addresses, and sums on their way
                .code = std::int64_t{shape.m} * warp_groups * steps};
    }

    Block constants() const;
    KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) const;
};

Block Stream::constants() const {
    constexpr int longest_unrolled = 16;
    Block block = shape_constants(shape);
    block.line("constexpr int warps = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", warps, threads(), min_blocks);
    block.line("constexpr int matrices = {}, stages = {};  // products at a time, and how many such groups are in shared memory or on their way",
               matrices, stages);
    block.line("constexpr int groups_of_columns = {}, columns = {};  // of a warp", warp_groups, columns);
    block.line("constexpr int steps = {};  // of {} values along k", steps, step);
    block.line("constexpr int a_here = {}, c_here = {};  // distance of matrices in shared memory", a_here(), c_here());
    const int copies = pieces(matrices * shape.m * shape.k / a_width, threads());
    const int writes = matrices * columns * shape.m / c_width / 32;
    block.line("constexpr int a_width = {}, a_unroll = {};  // words per copy", a_width, std::min(copies, longest_unrolled));
    return block.line("constexpr int c_width = {}, c_unroll = {};  // words per store", c_width, std::min(writes, longest_unrolled));
}

KernelSource Stream::kernel(const Problem& problem, const Config& config, const Limits& limits) const {
    const int parts = pieces(shape.n, warps * columns);
    const double executed = 2.0 * shape.m * (parts * warps * columns) * (steps * step) * static_cast<double>(shape.batch);
    const Holes holes{
        {"banner", banner(problem, config, Target::cuda, executed)}, {"constants", constants()}, {"entry", parameters(shape, Target::cuda)}};
    Flags flags{{"scaled", shape.scaled}, {"streams_words", !shape.scaled && c_width == 1}, {"streams_pairs", !shape.scaled && c_width == 2}};
    add_copy_flags(flags, limits);
    add_matrix_unit_flags(flags, step);
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/stream.cu", holes, flags), executed);
    source.step.push_back(block_launch(shape, std::int64_t{matrices} * batches_per_block, parts, resources()));
    return source;
}

}  // namespace

Form stream_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const Values values(shape, limits);
    FormSpace space{.name = "stream", .help = "a warp holds columns of B in registers, and takes 8 products at a time"};
    space.tunables = {block_n_tunable(values),
                      {"warp_groups", "groups of 16 columns of B that a warp holds", values.thread_n, {}, "thread_n"},
                      stages_tunable(values),
                      batches_per_block_tunable(),
                      min_blocks_tunable()};
    space.safe = {{"block_n", std::int64_t{shape.n > 64 ? 32 : 16}},
                  {"warp_groups", std::int64_t{2}},
                  {"stages", values.stages.back()},
                  {"batches_per_block", std::int64_t{1}},
                  {"min_blocks", std::int64_t{1}}};
    return cuda_form<Stream>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::gemm
