#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/families/batched_gemm/cuda.hpp"

namespace hone::inline v0_1::gemm {

/// Of an operand in shared memory: it lies as in memory, `inner` (k) or rows fastest, with rows
/// lengthened against bank conflicts.
struct Stage {
    int width = 1;   ///< words per copy
    int length = 0;  ///< distance of neighbours in the slow direction
    int group = 0;   ///< words of one matrix
};

/// Who holds sums, and how many: where the forms tile and mma differ.
struct Holder {
    bool matrix_units;     ///< a warp holds tiles of 16 x 8 sums, not a thread single ones
    int along_m, along_n;  ///< tiles, or sums
    int step;              ///< values along k at a time
    bool prefetch;         ///< operands of the next step are loaded while this one's are multiplied
};

/// What the forms tile and mma have in common: a block stages chunks of A and B in shared memory
/// and accumulates a tile of C in registers. Template: batched_gemm/block.cu.
struct BlockKernel {
    BlockKernel(const Shape& of, const Config& config, const Holder& its_holder);

    Shape shape;  ///< a row of A, or a column of B, lies along k in it
    Holder holder;
    int matrices_per_block, block_m, block_n, stages, batches_per_block;
    bool cut_rows;        ///< tiling=rows
    bool through_shared;  ///< epilogue=shared
    int min_blocks;

    int row_grain, column_grain;  ///< of a holder's sums
    bool stacked;                 ///< rows of several matrices with one B are rows of one tile
    int rows_wanted, columns_wanted, rows, columns, groups;
    int tiles_along_rows, tiles_along_columns;
    int chunk, chunks;
    bool flat_a;  ///< a matrix is copied as it lies
    Stage a, b;
    int c_length;

    int warps_m() const { return rows / row_grain; }
    int warps_n() const { return columns / column_grain; }
    /// Threads (mma: warps) that hold sums.
    int holders() const { return groups * warps_m() * warps_n(); }
    int threads() const { return holder.matrix_units ? 32 * holders() : round_up(holders(), 32); }
    int tiles() const { return tiles_along_rows * tiles_along_columns; }
    int b_groups() const { return shape.shared_b ? 1 : groups; }
    int stage_words() const { return groups * a.group + b_groups() * b.group; }
    std::int64_t shared_words() const;

    Reason conflict() const;
    BlockResources resources() const;
    /// Clock cycles of a multiprocessor for a product, by count; 0: not known.
    double cycles(const Limits& limits) const;
    KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) const;

  private:
    /// `rows_fast`: rows (columns of B) are neighbours in memory, not values along k.
    Stage stage_of(bool rows_fast, int extent, int whole, std::int64_t stride, int piece) const;
    int wanted_matrices;  ///< matrices_per_block, as the configuration has it
};

/// Their tunables: of tiles and chunks of operands, `along_m` and `along_n` being the holder's, and
/// of what becomes of C.
std::vector<Tunable> operand_tunables(const Values& values, Tunable along_m, Tunable along_n);
std::vector<Tunable> result_tunables(const Shape& shape, const Limits& limits);

/// A form of such kernels. They are counted, and what runs untuned follows from rules of which it
/// is known how well they choose.
template <typename Kernel>
Form block_form(const Problem& problem, const Limits& limits, FormSpace space) {
    Form form = cuda_form<Kernel>(problem, limits, std::move(space));
    form.space.count = [shape = Shape(problem), limits](const Config& config) { return Kernel(shape, config).cycles(limits); };
    form.space.ruled = true;
    return form;
}

}  // namespace hone::inline v0_1::gemm
