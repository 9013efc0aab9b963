#include <fmt/format.h>

#include <algorithm>

#include "generator/families/batched_gemm/mappings.hpp"

// The form stream, for products of few rows with one B: what has to move is C, and everything else
// is arranged for that. B is loaded once per block, into registers; A arrives some groups of
// products ahead; C goes through shared memory of each warp's own, and to memory in whole lines.

namespace hone::inline v0_1::gemm {
namespace {

constexpr int matrices = 8;  // that a warp multiplies at a time: columns of the matrix units' second operand
constexpr int group = 16;    // columns of B: rows of their first
constexpr int step = 4;      // values along k of one instruction

struct Stream {
    Stream(const Shape& shape, const Config& config)
        : groups_of_columns(number(config, "warp_groups")),
          stages(number(config, "stages")),
          passes(number(config, "batches_per_block", 1)),
          steps(pieces(shape.k, step)),
          columns(groups_of_columns * group),
          columns_wanted(pieces(shape.n, pieces(shape.n, number(config, "block_n")))),
          warps(pieces(columns_wanted, columns)) {
        // Half a warp reads 4 values along k of 4 matrices, and writes 4 columns of 4 matrices:
        // with these distances to 16 banks where m is odd.
        a_here = round_up(shape.m * shape.k + 4, 8) - 4;
        c_here = columns * shape.m + (shape.m % 2 == 0 ? 4 : 2);
        const auto even = [](std::int64_t words) { return words % 2 == 0; };
        a_width = even(shape.m * shape.k) && even(shape.stride_a()) ? 2 : 1;
        c_width = even(shape.m * shape.n) && even(shape.stride_c()) && !shape.scaled ? 2 : 1;
    }
    int threads() const { return 32 * warps; }
    std::int64_t shared_words() const { return std::int64_t{matrices} * (stages * a_here + warps * c_here); }

    int groups_of_columns, stages, passes, steps;
    int columns, columns_wanted, warps;
    int a_here, c_here;
    int a_width, c_width;
};

// A must be at hand 8 products at a time, and a warp's part of B in its registers.
bool applies(const Shape& shape, const Limits& limits) {
    constexpr int most_rows = 8, least_columns = 16, longest = 64;
    return has_matrix_units(shape, limits) && shape.shared_b && shape.m <= most_rows && shape.n >= least_columns && shape.k <= longest;
}

std::string conflict(const Shape& shape, const Config& config) {
    const Stream stream(shape, config);
    if (stream.stages == 1) return "one group of products is used while the others arrive";
    if (stream.groups_of_columns > 1 && 2 * stream.columns_wanted <= stream.columns)
        return "half of the columns that a warp accumulates would be padding";
    return "";
}

Resources resources(const Shape& shape, const Config& config) {
    const Stream stream(shape, config);
    Resources result;
    result.threads = stream.threads();
    result.shared_bytes = stream.shared_words() * shape.bytes();
    const int words = stream.groups_of_columns * (2 * stream.steps + 4) + stream.steps;
    result.registers = std::max(shape.bytes() / 4 * words + 40, f64_matrix_unit_registers);  // addresses, and sums on their way
    result.code = std::int64_t{shape.m} * stream.groups_of_columns * stream.steps;
    return result;
}

Block constants(const Shape& shape, const Stream& stream, const Config& config) {
    constexpr int longest_unrolled = 16;
    Block block = shape_constants(shape);
    block.line("constexpr int warps = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", stream.warps, stream.threads(),
               number(config, "min_blocks"));
    block.line("constexpr int matrices = {}, stages = {};  // products at a time, and how many such groups are in shared memory or on their way",
               matrices, stream.stages);
    block.line("constexpr int groups_of_columns = {}, columns = {};  // of a warp", stream.groups_of_columns, stream.columns);
    block.line("constexpr int steps = {};  // of {} values along k", stream.steps, step);
    block.line("constexpr int a_here = {}, c_here = {};  // distance of matrices in shared memory", stream.a_here, stream.c_here);
    const int copies = pieces(matrices * shape.m * shape.k / stream.a_width, stream.threads());
    const int writes = matrices * stream.columns * shape.m / stream.c_width / 32;
    block.line("constexpr int a_width = {}, a_unroll = {};  // words per copy", stream.a_width, std::min(copies, longest_unrolled));
    return block.line("constexpr int c_width = {}, c_unroll = {};  // words per store", stream.c_width, std::min(writes, longest_unrolled));
}

KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) {
    const Shape shape(problem);
    const Stream stream(shape, config);
    const int parts = pieces(shape.n, stream.warps * stream.columns);
    const double executed = 2.0 * shape.m * (parts * stream.warps * stream.columns) * (stream.steps * step) * static_cast<double>(shape.batch);
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(shape, stream, config)},
                      {"entry", parameters(shape, Target::cuda)}};
    Flags flags{
        {"scaled", shape.scaled}, {"streams_words", !shape.scaled && stream.c_width == 1}, {"streams_pairs", !shape.scaled && stream.c_width == 2}};
    add_copy_flags(flags, limits);
    add_matrix_unit_flags(flags, step);
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/stream.cu", holes, flags), executed);
    source.step.push_back(block_launch(shape, std::int64_t{matrices} * stream.passes, parts, resources(shape, config)));
    return source;
}

}  // namespace

Mapping stream_mapping() {
    return {"stream", "a warp holds columns of B in registers, and takes 8 products at a time", applies, conflict, resources, kernel};
}

}  // namespace hone::inline v0_1::gemm
