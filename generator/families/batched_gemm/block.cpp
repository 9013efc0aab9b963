#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "generator/families/batched_gemm/mappings.hpp"

// The forms tile and mma: a block stages chunks of A and B in shared memory and accumulates a tile
// of C in registers, by multiply-adds or on the FP64 matrix units. They share everything but who
// holds which sums, and the innermost loop.

namespace hone::inline v0_1::gemm {
namespace {

// Of an operand in shared memory: it lies as in memory, `inner` (k) or rows fastest, with rows
// lengthened against bank conflicts.
struct Stage {
    int width = 1;   // words per copy
    int length = 0;  // distance of neighbours in the slow direction
    int group = 0;   // words of one matrix
};

// One row of A, or one column of B, lies in memory as its transpose does: along k, so that
// neighbouring threads copy neighbouring words.
Shape read_along_k(Shape shape) {
    if (shape.m == 1) shape.transposed_a = true;
    if (shape.n == 1) shape.transposed_b = false;
    return shape;
}

struct Tile {
    Tile(const Shape& shape, const Config& config)
        : mma(config.has(form_tunable, "mma")),
          matrices_per_block(number(config, "matrices_per_block")),
          thread_m(number(config, mma ? "warp_m" : "thread_m")),
          thread_n(number(config, mma ? "warp_n" : "thread_n")),
          stages(number(config, "stages")),
          passes(number(config, "batches_per_block", 1)),
          cut_rows(config.has("tiling", "rows")),
          ahead(config.has("prefetch", 1)),
          step(mma ? number(config, "depth") : shape.vector_width()),
          through_shared(config.word("epilogue") == "shared") {
        row_grain = (mma ? 16 : 1) * thread_m;
        column_grain = (mma ? 8 : 1) * thread_n;
        const int block_m = number(config, "block_m");
        const int tile_m = cut_rows ? block_m : pieces(shape.m, pieces(shape.m, block_m));
        stacked = cut_rows || (shape.shared_b && matrices_per_block > 1 && tile_m == shape.m);
        rows_wanted = stacked && !cut_rows ? matrices_per_block * shape.m : tile_m;
        columns_wanted = pieces(shape.n, pieces(shape.n, number(config, "block_n")));
        rows = round_up(rows_wanted, row_grain);
        columns = round_up(columns_wanted, column_grain);
        // The fewest matrices whose rows fill tiles.
        if (cut_rows) matrices_per_block = rows / std::gcd(rows, shape.m);
        groups = stacked ? 1 : matrices_per_block;
        tiles_along_rows = cut_rows ? matrices_per_block * shape.m / rows : stacked ? 1 : pieces(shape.m, rows);
        tiles_along_columns = pieces(shape.n, columns);
        chunk = round_up(pieces(shape.k, pieces(shape.k, number(config, "chunk"))), step);
        chunks = pieces(shape.k, chunk);
        // Columns of A shorter than a warp's copies leave the lines of the caches half used: then a
        // matrix is copied as it lies.
        flat_a = stacked && !cut_rows && !shape.transposed_a && chunks == 1 && shape.m < 32;
        a = stage_of(shape, !shape.transposed_a, rows, shape.m, shape.stride_a(), stacked && !shape.transposed_a ? shape.m : rows);
        b = stage_of(shape, shape.transposed_b, columns, shape.n, shape.stride_b(), columns);
        // The matrix units' sums go into different banks where columns are 2 or 6 words apart
        // modulo 8: a lane holds every second column.
        c_length = rows + (6 - rows % 4) % 4;
    }

    // `rows_fast`: rows (columns of B) are neighbours in memory, not values along k.
    Stage stage_of(const Shape& shape, bool rows_fast, int extent, int whole, std::int64_t stride, int piece) const {
        Stage result;
        const int line = rows_fast ? whole : shape.k;  // length of a contiguous line in memory
        const int cut = rows_fast ? piece : chunk;     // where lines are cut
        for (const int width : {2, 4})
            if (width <= shape.vector_width() && line % width == 0 && cut % width == 0 && extent % width == 0 && stride % width == 0)
                result.width = width;
        const int vector = shape.vector_width();
        result.length = round_up(rows_fast ? extent : chunk, 4);
        if (mma && result.length % 8 == 0) result.length += 4;                               // see add_matrix_unit_flags
        if (!mma && !rows_fast && result.length / vector % 2 == 0) result.length += vector;  // an odd number of 16-byte vectors
        result.group = result.length * (rows_fast ? chunk : extent);
        return result;
    }

    int warps_m() const { return rows / row_grain; }
    int warps_n() const { return columns / column_grain; }
    /// Threads (mma: warps) that hold sums.
    int holders() const { return groups * warps_m() * warps_n(); }
    int threads() const { return mma ? 32 * holders() : round_up(holders(), 32); }
    int tiles() const { return tiles_along_rows * tiles_along_columns; }
    int b_groups(const Shape& shape) const { return shape.shared_b ? 1 : groups; }
    int stage_words(const Shape& shape) const { return groups * a.group + b_groups(shape) * b.group; }
    std::int64_t shared_words(const Shape& shape) const {
        return std::max<std::int64_t>(std::int64_t{stages} * stage_words(shape), through_shared ? std::int64_t{groups} * columns * c_length : 0);
    }

    bool mma;
    int matrices_per_block, thread_m, thread_n, stages, passes;
    bool cut_rows, ahead;
    int step;
    bool through_shared;
    int row_grain, column_grain;
    bool stacked;  // rows of several matrices with one B are rows of one tile
    int rows_wanted, columns_wanted, rows, columns, groups;
    int tiles_along_rows, tiles_along_columns;
    int chunk, chunks;
    bool flat_a;
    Stage a, b;
    int c_length;
};

std::string conflict(const Shape& of, const Config& config) {
    const Shape shape = read_along_k(of);
    const Tile tile(shape, config);
    if (tile.cut_rows && number(config, "matrices_per_block") > 1) return "tiles are cut from the rows of all matrices, whatever number a block has";
    if (tile.cut_rows && shape.m % tile.rows == 0) return "tiles of rows end where matrices do";
    if (!tile.cut_rows && number(config, "block_m") >= 2 * std::max(shape.m, 32)) return "half of the tile's rows would be nobody's";
    if (tile.cut_rows && tile.passes > 1) return "a B that stays in shared memory is for whole matrices";
    if (!tile.cut_rows && tile.matrices_per_block > 1 && tile.tiles() > 1) return "a block has one matrix where that is cut into several tiles";
    if (tile.thread_m > 1 && 2 * tile.rows_wanted <= tile.row_grain) return "half of the rows that a thread or warp accumulates would be padding";
    if (tile.thread_n > 1 && 2 * tile.columns_wanted <= tile.column_grain)
        return "half of the columns that a thread or warp accumulates would be padding";
    if (tile.passes > 1 && (tile.chunks > 1 || tile.stages > 1)) return "a B that stays in shared memory is one chunk";
    if (tile.passes > 1 && tile.through_shared) return "C would overwrite the B that stays in shared memory";
    // ptxas 13.0 lets the first multiply-add of a trip begin before the last one's sum is there,
    // where a warp has a single sum.
    if (tile.ahead && tile.thread_m * tile.thread_n == 1) return "a warp with one tile of sums has nothing to multiply while operands arrive";
    if (tile.ahead && tile.stages == 1) return "operands of a chunk that has not been asked for cannot be loaded ahead";
    if (tile.ahead && tile.chunk / tile.step % 2 != 0) return "operands alternate between two sets of registers, which takes an even number of steps";
    if (tile.stages > std::max(1, tile.chunks)) return fmt::format("{} stages for {} chunks", tile.stages, tile.chunks);
    return "";
}

Resources resources(const Shape& of, const Config& config) {
    const Shape shape = read_along_k(of);
    const Tile tile(shape, config);
    Resources result;
    result.threads = tile.threads();
    result.shared_bytes = tile.shared_words(shape) * shape.bytes();
    const int sums = tile.thread_m * tile.thread_n * (tile.mma ? 4 : 1);
    const int operands = tile.mma ? tile.thread_m * tile.step / 2 + tile.thread_n * tile.step / 4 : 2 * (tile.thread_m + tile.thread_n);
    const int others = tile.ahead ? 24 : 32;  // addresses, indices and loop counters, as compilers were found to need them
    result.registers = shape.bytes() / 4 * (sums + operands * (tile.ahead ? 2 : 1)) + others;
    if (tile.mma) result.registers = std::max(result.registers, f64_matrix_unit_registers);
    result.code = std::int64_t{tile.thread_m} * tile.thread_n * tile.step;
    return result;
}

// What a block does, in clock cycles of its multiprocessor, and how many of them that has at once.
// Constants are those of an H100 and an H200 at 1.8 GHz, in bytes and multiply-adds a cycle; those
// that no data sheet has (latencies, instructions) were fitted to 14771 configurations of 50 shapes
// that had been searched on both, whose times the count tells apart within 13 % in the mean, of
// shapes that it was fitted to and of others.
double cycles(const Shape& of, const Config& config, const Limits& limits) {
    constexpr double memory = 15, cache = 37, shared = 128, units = 128, multiply_adds = 53;
    constexpr double latency = 950, barrier = 55, finish = 450, reorder = 1000;  // of a chunk, of a block, of a C that leaves in order
    constexpr double copy = 2.8, store = 4.2, reordered_store = 5.3;             // of a warp
    constexpr double others = 0.3;                                               // of what the longest hides, which does not fit beside it
    constexpr double broken_lines = 0.3;                                         // of C's bytes again, where its columns begin anywhere
    constexpr double last_wave = 0.25, quarter = 0.25;
    constexpr double sharp = 5;               // what is busy and what waits hide each other, but for where both take as long
    constexpr double full = 0.9, spills = 3;  // of the registers, whose number is an estimate: 1.3 times as long where all seem to be needed
    const Shape shape = read_along_k(of);
    const Tile tile(shape, config);
    const Resources needs = resources(of, config);
    const auto at_once = static_cast<double>(resident_blocks(needs, limits));
    if (at_once == 0) return 0;
    const auto number_of = [](auto value) { return static_cast<double>(value); };
    const double products = number_of(tile.matrices_per_block) * tile.passes / tile.tiles();
    const double warps = number_of(needs.threads) / 32, bytes = shape.bytes(), own_b = shape.shared_b ? 1 : tile.passes;
    const double high = tile.cut_rows ? tile.rows : std::min(tile.rows, tile.rows_wanted), b_groups = tile.b_groups(shape);
    const double c_words = number_of(tile.groups) * high * tile.columns_wanted * tile.passes;
    const double loaded = bytes * shape.k * (number_of(tile.groups) * high * tile.passes + b_groups * tile.columns_wanted * own_b);
    const double along_k = number_of(tile.chunk) * tile.chunks * tile.passes;
    const double sums = number_of(tile.groups) * tile.rows * tile.columns;
    const double operands = tile.mma ? 1 / (8.0 * tile.thread_n) + 1 / (16.0 * tile.thread_m) : (1.0 / tile.thread_n + 1.0 / tile.thread_m) / 4;
    const bool broken = tile.mma && !tile.through_shared && shape.m * shape.bytes() % 32 != 0;
    // Neighbouring lanes write neighbouring rows, or every thread_m-th.
    const double spread = tile.mma ? 1.3 : shape.transposed_a ? 1 : std::min(4, tile.thread_m);
    const double copies =
        (number_of(tile.groups) * tile.rows * along_k / tile.a.width + b_groups * tile.columns * along_k / tile.passes * own_b / tile.b.width) / 32;
    const double stores = sums * tile.passes / 32 * (tile.through_shared ? reordered_store : store * spread);
    const double times[] = {(products * bytes * number_of(shape.words_of_each()) + (broken ? broken_lines * bytes * c_words : 0)) / memory,
                            (loaded + bytes * c_words) / cache, sums * along_k / (tile.mma ? units : multiply_adds),
                            bytes * sums * along_k * operands / shared, copies * copy + stores};
    double longest = 0, sum = 0;
    for (const double time : times) longest = std::max(longest, time), sum += time;
    // A block by itself: it has the units of as many quarters as it has warps.
    const double alone = (times[2] + times[3] + times[4]) / std::clamp(warps / 4, quarter, 1.0);
    const double loops = number_of(tile.chunks) * tile.passes;
    const double life =
        (tile.stages == 1 ? loops * (latency + barrier) + alone : std::max(loops * latency / (tile.stages - 1), alone + loops * barrier) + latency) +
        finish + (tile.through_shared ? reorder : 0) + loaded / (4 * memory);
    const double waves = number_of(shape.batch) / products / (at_once * limits.multiprocessors);
    const double registers = std::min(number_of(limits.registers_per_multiprocessor) / (number_of(needs.threads) * number(config, "min_blocks")),
                                      number_of(limits.max_registers_per_thread));
    const double spilled = 1 + spills * std::max(0.0, needs.registers / registers - full);
    const double busy = std::pow(std::pow(longest + others * (sum - longest), sharp) + std::pow(life / at_once, sharp), 1 / sharp);
    return busy * spilled * (1 + last_wave * (std::ceil(waves) / waves - 1)) / products;
}

// How the lines of an operand, `length` words each, are dealt to the threads: `vectors` to one part
// of a line, so that `lines` of them are copied at a time.
struct Deal {
    Deal(const Shape& shape, const Tile& tile, char name)
        : is_a(name == 'a'),
          inner_fast(is_a ? shape.transposed_a : !shape.transposed_b),
          width(is_a ? tile.a.width : tile.b.width),
          extent(is_a ? tile.rows : tile.columns),
          length(inner_fast ? tile.chunk : extent),
          parts(pieces(length / width, tile.threads())),
          vectors(pieces(length / width, parts)),
          lines(tile.threads() / vectors),
          line_count((is_a ? tile.groups : tile.b_groups(shape)) * (inner_fast ? extent : tile.chunk)),
          threads(tile.threads()) {}

    bool is_a, inner_fast;
    int width, extent, length, parts, vectors, lines, line_count, threads;

    bool idle_threads() const { return vectors * lines < threads; }
    bool lines_end() const { return line_count % lines != 0; }  // in the middle of a round of copies
};

// Copies of A in which neighbouring threads take neighbouring words of a matrix.
int flat_copies(const Shape& shape, const Tile& tile) {
    return tile.matrices_per_block * shape.m * shape.k / tile.a.width;
}

// How operand `name` ('a' or 'b') lies in shared memory, and how its lines are dealt to the
// threads.
Block operand_constants(const Shape& shape, const Tile& tile, char name) {
    constexpr int longest_unrolled = 16;
    const Deal deal(shape, tile, name);
    const Stage& stage = deal.is_a ? tile.a : tile.b;
    const int copies = pieces(deal.line_count, deal.lines);
    Block block;
    block.line("constexpr int {0}_here_{1} = {2}, {0}_here_inner = {3}, {0}_group = {4};  // in shared memory", name, deal.is_a ? "row" : "column",
               deal.inner_fast ? stage.length : 1, deal.inner_fast ? 1 : stage.length, stage.group);
    if (deal.is_a && tile.flat_a)
        return block.line("constexpr int a_width = {}, a_unroll = {};  // words per copy", stage.width,
                          std::min(pieces(flat_copies(shape, tile), tile.threads()), longest_unrolled));
    block.line("constexpr int {0}_width = {1}, {0}_length = {2}, {0}_line_count = {3};  // words per copy, words of a line, lines", name, stage.width,
               deal.length, deal.line_count);
    block.line("constexpr int {0}_parts = {1}, {0}_vectors = {2}, {0}_lines = {3}, {0}_unroll = {4};", name, deal.parts, deal.vectors, deal.lines,
               copies <= longest_unrolled ? copies : longest_unrolled / 2);
    return block;
}

Block constants(const Shape& shape, const Tile& tile, const Config& config) {
    Block block = shape_constants(shape);
    block.line("constexpr int matrices_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", tile.matrices_per_block,
               tile.threads(), number(config, "min_blocks"));
    block.line("constexpr int passes = {};  // of a block over so many matrices, one after the other", tile.passes);
    block.line(
        "constexpr bool stacked = {};  // {}", tile.stacked,
        tile.cut_rows ? "tiles are cut from the rows of so many matrices as if they were one" : "the rows of all matrices of a block are one tile");
    block.line("constexpr int rows = {}, columns = {}, groups = {};  // of a tile, and how many of them a block has", tile.rows, tile.columns,
               tile.groups);
    block.line("constexpr int tiles_along_columns = {}, tiles = {};  // of {}", tile.tiles_along_columns, tile.tiles(),
               tile.cut_rows ? "so many matrices" : "a matrix");
    block.line("constexpr int chunk = {}, stages = {};  // values along k that are staged at a time, and how many chunks are on their way",
               tile.chunk, tile.stages);
    block.append(operand_constants(shape, tile, 'a'));
    block.append(operand_constants(shape, tile, 'b'));
    block.line("constexpr int stage_words = {}, b_start = groups * a_group;", tile.stage_words(shape));
    if (tile.through_shared) block.line("constexpr int c_here_column = {};", tile.c_length);
    block.line("constexpr int {0}_m = {1}, {0}_n = {2}, step = {3};  // {4}, and values along k at a time", tile.mma ? "warp" : "thread",
               tile.thread_m, tile.thread_n, tile.step,
               tile.mma ? "tiles of 16 rows and of 8 columns that a warp accumulates" : "rows and columns that a thread accumulates");
    block.line("constexpr int {0}_m = {1}, {0}_n = {2};  // along the rows and the columns of a tile", tile.mma ? "warps" : "threads", tile.warps_m(),
               tile.warps_n());
    return block;
}

// How copies of A and of B walk through memory. Where a thread's lines are equally far apart, a
// copy differs from its first one by constants alone.
struct Walk {
    Walk(const Shape& shape, const Tile& tile)
        : a_rows_fast(!shape.transposed_a),
          a_equally_far(tile.groups == 1 && (a_rows_fast || !tile.stacked || (tile.cut_rows && shape.gap_a == 0))),
          b_columns_fast(shape.transposed_b),
          b_equally_far(tile.b_groups(shape) == 1) {}

    bool a_rows_fast, a_equally_far;
    bool b_columns_fast, b_equally_far;
};

bool idle_threads(const Tile& tile) {
    return !tile.mma && tile.holders() < tile.threads();
}

Flags flags_of(const Shape& shape, const Tile& tile, const Walk& walk, const Limits& limits) {
    const bool one_stage = !tile.ahead && tile.stages == 1, chunk_by_chunk = one_stage && tile.chunks > 1;
    const Deal a(shape, tile, 'a');
    const Deal b(shape, tile, 'b');
    Flags flags{{"scaled", shape.scaled},
                {"a_idle_threads", a.idle_threads()},
                {"a_several_parts", a.parts > 1},
                {"a_lines_end", a.lines_end()},
                {"a_vectors_end", flat_copies(shape, tile) % tile.threads() != 0},
                {"b_idle_threads", b.idle_threads()},
                {"b_several_parts", b.parts > 1},
                {"b_lines_end", b.lines_end()},
                {"f32", shape.precision == Precision::f32},
                {"mma", tile.mma},
                {"own_b", !shape.shared_b},
                {"flat_a", tile.flat_a},
                {"a_rows_fast", walk.a_rows_fast},
                {"longer_chunk", tile.chunk > shape.k},
                {"a_rows_apart", walk.a_equally_far && walk.a_rows_fast},
                {"a_values_apart", walk.a_equally_far && !walk.a_rows_fast},
                {"a_anywhere", !walk.a_equally_far},
                {"b_equally_far", walk.b_equally_far},
                {"b_columns_fast", walk.b_columns_fast},
                {"one_pass", tile.passes == 1},
                {"cut_rows", tile.cut_rows},
                {"stacked_matrices", tile.stacked && !tile.cut_rows},
                {"one_matrix", !tile.stacked},
                {"some_idle", idle_threads(tile)},
                {"ahead", tile.ahead},
                {"chunks_in_stages", !tile.ahead && !one_stage},
                {"chunk_by_chunk", chunk_by_chunk},
                {"one_chunk", one_stage && !chunk_by_chunk},
                {"through_shared", tile.through_shared},
                // Where a chunk is the last of several, the barrier behind it has let everybody
                // pass.
                {"waits_for_operands", tile.through_shared && !chunk_by_chunk}};
    add_copy_flags(flags, limits);
    add_matrix_unit_flags(flags, tile.mma ? tile.step : 0);
    return flags;
}

KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) {
    const Shape shape = read_along_k(Shape(problem));
    const Tile tile(shape, config);
    const double executed = 2.0 * tile.rows * tile.columns * tile.chunk * tile.chunks * tile.groups * tile.tiles() / tile.matrices_per_block *
                            static_cast<double>(shape.batch);
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(shape, tile, config)},
                      {"entry", parameters(shape, Target::cuda)}};
    const Flags flags = flags_of(shape, tile, Walk(shape, tile), limits);
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/block.cu", holes, flags), executed);
    source.step.push_back(block_launch(shape, std::int64_t{tile.matrices_per_block} * tile.passes, tile.tiles(), resources(shape, config)));
    return source;
}

}  // namespace

bool has_matrix_units(const Shape& shape, const Limits& limits) {
    return shape.precision == Precision::f64 && limits.has(Feature::wide_f64_matrix_units);
}

namespace {

// Where tiles fill the matrix units, these have twice the rate, and half the loads from shared
// memory.
bool worth_multiply_adds(const Shape& shape, const Limits& limits) {
    return !has_matrix_units(shape, limits) || shape.m < 24 || shape.n < 12 || shape.k < 12;
}

}  // namespace

Mapping tile_mapping() {
    return {"tile", "a thread accumulates a tile of C", worth_multiply_adds, conflict, resources, kernel, cycles};
}

Mapping mma_mapping() {
    return {"mma", "a warp accumulates a tile of C on the matrix units", has_matrix_units, conflict, resources, kernel, cycles};
}

}  // namespace hone::inline v0_1::gemm
