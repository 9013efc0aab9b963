#include "generator/families/batched_gemm/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hone::inline v0_1::gemm {
namespace {

// One row of A, or one column of B, lies in memory as its transpose does: along k, so that
// neighbouring threads copy neighbouring words.
Shape read_along_k(Shape shape) {
    if (shape.m == 1) shape.transposed_a = true;
    if (shape.n == 1) shape.transposed_b = false;
    return shape;
}

}  // namespace

BlockKernel::BlockKernel(const Shape& of, const Config& config, const Holder& its_holder)
    : shape(read_along_k(of)),
      holder(its_holder),
      matrices_per_block(number(config, "matrices_per_block")),
      block_m(number(config, "block_m")),
      block_n(number(config, "block_n")),
      stages(number(config, "stages")),
      batches_per_block(number(config, "batches_per_block", 1)),
      cut_rows(config.has("tiling", "rows")),
      through_shared(config.word("epilogue") == "shared"),
      min_blocks(number(config, "min_blocks", 1)),
      wanted_matrices(matrices_per_block) {
    row_grain = (holder.matrix_units ? 16 : 1) * holder.along_m;
    column_grain = (holder.matrix_units ? 8 : 1) * holder.along_n;
    const int tile_m = cut_rows ? block_m : pieces(shape.m, pieces(shape.m, block_m));
    stacked = cut_rows || (shape.shared_b && matrices_per_block > 1 && tile_m == shape.m);
    rows_wanted = stacked && !cut_rows ? matrices_per_block * shape.m : tile_m;
    columns_wanted = pieces(shape.n, pieces(shape.n, block_n));
    rows = round_up(rows_wanted, row_grain);
    columns = round_up(columns_wanted, column_grain);
    // The fewest matrices whose rows fill tiles.
    if (cut_rows) matrices_per_block = rows / std::gcd(rows, shape.m);
    groups = stacked ? 1 : matrices_per_block;
    tiles_along_rows = cut_rows ? matrices_per_block * shape.m / rows : stacked ? 1 : pieces(shape.m, rows);
    tiles_along_columns = pieces(shape.n, columns);
    chunk = round_up(pieces(shape.k, pieces(shape.k, number(config, "chunk"))), holder.step);
    chunks = pieces(shape.k, chunk);
    // Columns of A shorter than a warp's copies leave the lines of the caches half used: then a
    // matrix is copied as it lies.
    flat_a = stacked && !cut_rows && !shape.transposed_a && chunks == 1 && shape.m < 32;
    a = stage_of(!shape.transposed_a, rows, shape.m, shape.stride_a(), stacked && !shape.transposed_a ? shape.m : rows);
    b = stage_of(shape.transposed_b, columns, shape.n, shape.stride_b(), columns);
    // The matrix units' sums go into different banks where columns are 2 or 6 words apart
    // modulo 8: a lane holds every second column.
    c_length = rows + (6 - rows % 4) % 4;
}

Stage BlockKernel::stage_of(bool rows_fast, int extent, int whole, std::int64_t stride, int piece) const {
    Stage result;
    const int line = rows_fast ? whole : shape.k;  // length of a contiguous line in memory
    const int cut = rows_fast ? piece : chunk;     // where lines are cut
    for (const int width : {2, 4})
        if (width <= shape.vector_width() && line % width == 0 && cut % width == 0 && extent % width == 0 && stride % width == 0)
            result.width = width;
    const int vector = shape.vector_width();
    result.length = round_up(rows_fast ? extent : chunk, 4);
    if (holder.matrix_units && result.length % 8 == 0) result.length += 4;                               // see add_matrix_unit_flags
    if (!holder.matrix_units && !rows_fast && result.length / vector % 2 == 0) result.length += vector;  // an odd number of 16-byte vectors
    result.group = result.length * (rows_fast ? chunk : extent);
    return result;
}

std::int64_t BlockKernel::shared_words() const {
    return std::max<std::int64_t>(std::int64_t{stages} * stage_words(), through_shared ? std::int64_t{groups} * columns * c_length : 0);
}

Reason BlockKernel::conflict() const {
    if (cut_rows && wanted_matrices > 1) return "tiles are cut from the rows of all matrices, whatever number a block has";
    if (cut_rows && shape.m % rows == 0) return "tiles of rows end where matrices do";
    if (!cut_rows && block_m >= 2 * std::max(shape.m, 32)) return "half of the tile's rows would be nobody's";
    if (cut_rows && batches_per_block > 1) return "a B that stays in shared memory is for whole matrices";
    if (!cut_rows && matrices_per_block > 1 && tiles() > 1) return "a block has one matrix where that is cut into several tiles";
    if (holder.along_m > 1 && 2 * rows_wanted <= row_grain) return "half of the rows that a thread or warp accumulates would be padding";
    if (holder.along_n > 1 && 2 * columns_wanted <= column_grain) return "half of the columns that a thread or warp accumulates would be padding";
    if (batches_per_block > 1 && (chunks > 1 || stages > 1)) return "a B that stays in shared memory is one chunk";
    if (batches_per_block > 1 && through_shared) return "C would overwrite the B that stays in shared memory";
    // ptxas 13.0 lets the first multiply-add of a trip begin before the last one's sum is there,
    // where a warp has a single sum.
    if (holder.prefetch && holder.along_m * holder.along_n == 1) return "a warp with one tile of sums has nothing to multiply while operands arrive";
    if (holder.prefetch && stages == 1) return "operands of a chunk that has not been asked for cannot be loaded ahead";
    if (holder.prefetch && chunk / holder.step % 2 != 0)
        return "operands alternate between two sets of registers, which takes an even number of steps";
    if (stages > std::max(1, chunks)) return fmt::format("{} stages for {} chunks", stages, chunks);
    return std::nullopt;
}

BlockResources BlockKernel::resources() const {
    BlockResources result;
    result.threads = threads();
    result.shared_bytes = shared_words() * shape.bytes();
    const int sums = holder.along_m * holder.along_n * (holder.matrix_units ? 4 : 1);
    const int operands =
        holder.matrix_units ? holder.along_m * holder.step / 2 + holder.along_n * holder.step / 4 : 2 * (holder.along_m + holder.along_n);
    const int others = holder.prefetch ? 24 : 32;  // addresses, indices and loop counters, as compilers were found to need them
    result.registers = shape.bytes() / 4 * (sums + operands * (holder.prefetch ? 2 : 1)) + others;
    if (holder.matrix_units) result.registers = std::max(result.registers, f64_matrix_unit_registers);
    result.code = std::int64_t{holder.along_m} * holder.along_n * holder.step;
    return result;
}

// What a block does, in clock cycles of its multiprocessor, and how many of them that has at once.
// Constants are those of an H100 and an H200 at 1.8 GHz, in bytes and multiply-adds a cycle; those
// that no data sheet has (latencies, instructions) were fitted to 14771 configurations of 50 shapes
// that had been searched on both, whose times the count tells apart within 13 % in the mean, of
// shapes that it was fitted to and of others.
double BlockKernel::cycles(const Limits& limits) const {
    constexpr double memory = 15, cache = 37, shared = 128, units = 128, multiply_adds = 53;
    constexpr double latency = 950, barrier = 55, finish = 450, reorder = 1000;  // of a chunk, of a block, of a C that leaves in order
    constexpr double copy = 2.8, store = 4.2, reordered_store = 5.3;             // of a warp
    constexpr double others = 0.3;                                               // of what the longest hides, which does not fit beside it
    constexpr double broken_lines = 0.3;                                         // of C's bytes again, where its columns begin anywhere
    constexpr double last_wave = 0.25, quarter = 0.25;
    constexpr double sharp = 5;               // what is busy and what waits hide each other, but for where both take as long
    constexpr double full = 0.9, spills = 3;  // of the registers, whose number is an estimate: 1.3 times as long where all seem to be needed
    const BlockResources needs = resources();
    const auto at_once = static_cast<double>(resident_blocks(needs, limits));
    if (at_once == 0) return 0;
    const auto number_of = [](auto value) { return static_cast<double>(value); };
    const double products = number_of(matrices_per_block) * batches_per_block / tiles();
    const double warps = number_of(needs.threads) / 32, bytes = shape.bytes(), own_b = shape.shared_b ? 1 : batches_per_block;
    const double high = cut_rows ? rows : std::min(rows, rows_wanted), of_b = b_groups();
    const double c_words = number_of(groups) * high * columns_wanted * batches_per_block;
    const double loaded = bytes * shape.k * (number_of(groups) * high * batches_per_block + of_b * columns_wanted * own_b);
    const double along_k = number_of(chunk) * chunks * batches_per_block;
    const double sums = number_of(groups) * rows * columns;
    const double operands =
        holder.matrix_units ? 1 / (8.0 * holder.along_n) + 1 / (16.0 * holder.along_m) : (1.0 / holder.along_n + 1.0 / holder.along_m) / 4;
    const bool broken = holder.matrix_units && !through_shared && shape.m * shape.bytes() % 32 != 0;
    // Neighbouring lanes write neighbouring rows, or every thread_m-th.
    const double spread = holder.matrix_units ? 1.3 : shape.transposed_a ? 1 : std::min(4, holder.along_m);
    const double copies = (number_of(groups) * rows * along_k / a.width + of_b * columns * along_k / batches_per_block * own_b / b.width) / 32;
    const double stores = sums * batches_per_block / 32 * (through_shared ? reordered_store : store * spread);
    const double times[] = {(products * bytes * number_of(shape.words_of_each()) + (broken ? broken_lines * bytes * c_words : 0)) / memory,
                            (loaded + bytes * c_words) / cache, sums * along_k / (holder.matrix_units ? units : multiply_adds),
                            bytes * sums * along_k * operands / shared, copies * copy + stores};
    double longest = 0, sum = 0;
    for (const double time : times) longest = std::max(longest, time), sum += time;
    // A block by itself: it has the units of as many quarters as it has warps.
    const double alone = (times[2] + times[3] + times[4]) / std::clamp(warps / 4, quarter, 1.0);
    const double loops = number_of(chunks) * batches_per_block;
    const double life =
        (stages == 1 ? loops * (latency + barrier) + alone : std::max(loops * latency / (stages - 1), alone + loops * barrier) + latency) + finish +
        (through_shared ? reorder : 0) + loaded / (4 * memory);
    const double waves = number_of(shape.batch) / products / (at_once * limits.multiprocessors);
    const double registers = std::min(number_of(limits.registers_per_multiprocessor) / (number_of(needs.threads) * min_blocks),
                                      number_of(limits.max_registers_per_thread));
    const double spilled = 1 + spills * std::max(0.0, needs.registers / registers - full);
    const double busy = std::pow(std::pow(longest + others * (sum - longest), sharp) + std::pow(life / at_once, sharp), 1 / sharp);
    return busy * spilled * (1 + last_wave * (std::ceil(waves) / waves - 1)) / products;
}

namespace {

// How the lines of an operand, `length` words each, are dealt to the threads: `vectors` to one part
// of a line, so that `lines` of them are copied at a time.
struct Deal {
    Deal(const BlockKernel& tile, char name)
        : is_a(name == 'a'),
          inner_fast(is_a ? tile.shape.transposed_a : !tile.shape.transposed_b),
          width(is_a ? tile.a.width : tile.b.width),
          extent(is_a ? tile.rows : tile.columns),
          length(inner_fast ? tile.chunk : extent),
          parts(pieces(length / width, tile.threads())),
          vectors(pieces(length / width, parts)),
          lines(tile.threads() / vectors),
          line_count((is_a ? tile.groups : tile.b_groups()) * (inner_fast ? extent : tile.chunk)),
          threads(tile.threads()) {}

    bool is_a, inner_fast;
    int width, extent, length, parts, vectors, lines, line_count, threads;

    bool idle_threads() const { return vectors * lines < threads; }
    bool lines_end() const { return line_count % lines != 0; }  // in the middle of a round of copies
};

// Copies of A in which neighbouring threads take neighbouring words of a matrix.
int flat_copies(const BlockKernel& tile) {
    return tile.matrices_per_block * tile.shape.m * tile.shape.k / tile.a.width;
}

// How operand `name` ('a' or 'b') lies in shared memory, and how its lines are dealt to the
// threads.
Block operand_constants(const BlockKernel& tile, char name) {
    constexpr int longest_unrolled = 16;
    const Deal deal(tile, name);
    const Stage& stage = deal.is_a ? tile.a : tile.b;
    const int copies = pieces(deal.line_count, deal.lines);
    Block block;
    block.line("constexpr int {0}_here_{1} = {2}, {0}_here_inner = {3}, {0}_group = {4};  // in shared memory", name, deal.is_a ? "row" : "column",
               deal.inner_fast ? stage.length : 1, deal.inner_fast ? 1 : stage.length, stage.group);
    if (deal.is_a && tile.flat_a)
        return block.line("constexpr int a_width = {}, a_unroll = {};  // words per copy", stage.width,
                          std::min(pieces(flat_copies(tile), tile.threads()), longest_unrolled));
    block.line("constexpr int {0}_width = {1}, {0}_length = {2}, {0}_line_count = {3};  // words per copy, words of a line, lines", name, stage.width,
               deal.length, deal.line_count);
    block.line("constexpr int {0}_parts = {1}, {0}_vectors = {2}, {0}_lines = {3}, {0}_unroll = {4};", name, deal.parts, deal.vectors, deal.lines,
               copies <= longest_unrolled ? copies : longest_unrolled / 2);
    return block;
}

Block constants(const BlockKernel& tile) {
    Block block = shape_constants(tile.shape);
    block.line("constexpr int matrices_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", tile.matrices_per_block,
               tile.threads(), tile.min_blocks);
    block.line("constexpr int passes = {};  // of a block over so many matrices, one after the other", tile.batches_per_block);
    block.line(
        "constexpr bool stacked = {};  // {}", tile.stacked,
        tile.cut_rows ? "tiles are cut from the rows of so many matrices as if they were one" : "the rows of all matrices of a block are one tile");
    block.line("constexpr int rows = {}, columns = {}, groups = {};  // of a tile, and how many of them a block has", tile.rows, tile.columns,
               tile.groups);
    block.line("constexpr int tiles_along_columns = {}, tiles = {};  // of {}", tile.tiles_along_columns, tile.tiles(),
               tile.cut_rows ? "so many matrices" : "a matrix");
    block.line("constexpr int chunk = {}, stages = {};  // values along k that are staged at a time, and how many chunks are on their way",
               tile.chunk, tile.stages);
    block.append(operand_constants(tile, 'a'));
    block.append(operand_constants(tile, 'b'));
    block.line("constexpr int stage_words = {}, b_start = groups * a_group;", tile.stage_words());
    if (tile.through_shared) block.line("constexpr int c_here_column = {};", tile.c_length);
    block.line("constexpr int {0}_m = {1}, {0}_n = {2}, step = {3};  // {4}, and values along k at a time",
               tile.holder.matrix_units ? "warp" : "thread", tile.holder.along_m, tile.holder.along_n, tile.holder.step,
               tile.holder.matrix_units ? "tiles of 16 rows and of 8 columns that a warp accumulates" : "rows and columns that a thread accumulates");
    block.line("constexpr int {0}_m = {1}, {0}_n = {2};  // along the rows and the columns of a tile", tile.holder.matrix_units ? "warps" : "threads",
               tile.warps_m(), tile.warps_n());
    return block;
}

// How copies of A and of B walk through memory. Where a thread's lines are equally far apart, a
// copy differs from its first one by constants alone.
struct Walk {
    Walk(const BlockKernel& tile)
        : a_rows_fast(!tile.shape.transposed_a),
          a_equally_far(tile.groups == 1 && (a_rows_fast || !tile.stacked || (tile.cut_rows && tile.shape.gap_a == 0))),
          b_columns_fast(tile.shape.transposed_b),
          b_equally_far(tile.b_groups() == 1) {}

    bool a_rows_fast, a_equally_far;
    bool b_columns_fast, b_equally_far;
};

bool idle_threads(const BlockKernel& tile) {
    return !tile.holder.matrix_units && tile.holders() < tile.threads();
}

Flags flags_of(const BlockKernel& tile, const Walk& walk, const Limits& limits) {
    const bool one_stage = !tile.holder.prefetch && tile.stages == 1, chunk_by_chunk = one_stage && tile.chunks > 1;
    const Deal a(tile, 'a');
    const Deal b(tile, 'b');
    Flags flags{{"scaled", tile.shape.scaled},
                {"a_idle_threads", a.idle_threads()},
                {"a_several_parts", a.parts > 1},
                {"a_lines_end", a.lines_end()},
                {"a_vectors_end", flat_copies(tile) % tile.threads() != 0},
                {"b_idle_threads", b.idle_threads()},
                {"b_several_parts", b.parts > 1},
                {"b_lines_end", b.lines_end()},
                {"f32", tile.shape.precision == Precision::f32},
                {"mma", tile.holder.matrix_units},
                {"own_b", !tile.shape.shared_b},
                {"flat_a", tile.flat_a},
                {"a_rows_fast", walk.a_rows_fast},
                {"longer_chunk", tile.chunk > tile.shape.k},
                {"a_rows_apart", walk.a_equally_far && walk.a_rows_fast},
                {"a_values_apart", walk.a_equally_far && !walk.a_rows_fast},
                {"a_anywhere", !walk.a_equally_far},
                {"b_equally_far", walk.b_equally_far},
                {"b_columns_fast", walk.b_columns_fast},
                {"one_pass", tile.batches_per_block == 1},
                {"cut_rows", tile.cut_rows},
                {"stacked_matrices", tile.stacked && !tile.cut_rows},
                {"one_matrix", !tile.stacked},
                {"some_idle", idle_threads(tile)},
                {"ahead", tile.holder.prefetch},
                {"chunks_in_stages", !tile.holder.prefetch && !one_stage},
                {"chunk_by_chunk", chunk_by_chunk},
                {"one_chunk", one_stage && !chunk_by_chunk},
                {"through_shared", tile.through_shared},
                // Where a chunk is the last of several, the barrier behind it has let everybody
                // pass.
                {"waits_for_operands", tile.through_shared && !chunk_by_chunk}};
    add_copy_flags(flags, limits);
    add_matrix_unit_flags(flags, tile.holder.matrix_units ? tile.holder.step : 0);
    return flags;
}

}  // namespace

KernelSource BlockKernel::kernel(const Problem& problem, const Config& config, const Limits& limits) const {
    const double executed = 2.0 * rows * columns * chunk * chunks * groups * tiles() / matrices_per_block * static_cast<double>(shape.batch);
    const Holes holes{
        {"banner", banner(problem, config, Target::cuda, executed)}, {"constants", constants(*this)}, {"entry", parameters(shape, Target::cuda)}};
    const Flags flags = flags_of(*this, Walk(*this), limits);
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/block.cu", holes, flags), executed);
    source.step.push_back(block_launch(shape, std::int64_t{matrices_per_block} * batches_per_block, tiles(), resources()));
    return source;
}

std::vector<Tunable> operand_tunables(const Values& values, Tunable along_m, Tunable along_n) {
    return {matrices_per_block_tunable(values.matrices_per_block),
            {"block_m", "rows of C that a block computes, at most", values.block_m},
            block_n_tunable(values),
            std::move(along_m),
            std::move(along_n),
            {"chunk", "values along k that are staged in shared memory at a time, at most", values.chunk},
            stages_tunable(values)};
}

std::vector<Tunable> result_tunables(const Shape& shape, const Limits& limits) {
    std::vector<Tunable> tunables{epilogue_tunable()};
    if (keeps_b(shape, limits)) tunables.push_back(batches_per_block_tunable());
    if (shape.shared_b)
        tunables.push_back({"tiling",
                            "matrices: tiles are cut from every matrix; rows: from the rows of all matrices with one B, as if they were one",
                            words({"matrices", "rows"}), Value("matrices"), "cut"});
    return tunables;
}

}  // namespace hone::inline v0_1::gemm
