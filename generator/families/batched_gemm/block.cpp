#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "generator/families/batched_gemm/mappings.hpp"

// The forms tile and mma: a block stages chunks of A and B in shared memory and accumulates a tile of C in registers, by multiply-adds or on the
// FP64 matrix units. They share everything but who holds which sums, and the innermost loop.

namespace hone::inline v0_1::gemm {
namespace {

// Of an operand in shared memory: it lies as in memory, `inner` (k) or rows fastest, with rows lengthened against bank conflicts.
struct Stage {
    int width = 1;   // words per copy
    int length = 0;  // distance of neighbours in the slow direction
    int group = 0;   // words of one matrix
};

// One row of A, or one column of B, lies in memory as its transpose does: along k, so that neighbouring threads copy neighbouring words.
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
          passes(number(config, "passes", 1)),
          cut_rows(config.has("cut", "rows")),
          ahead(config.has("ahead", 1)),
          step(mma ? number(config, "depth") : shape.vector_width()),
          through_shared(config.word("exchange") == "shared") {
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
        // Columns of A shorter than a warp's copies leave the lines of the caches half used: then a matrix is copied as it lies.
        flat_a = stacked && !cut_rows && !shape.transposed_a && chunks == 1 && shape.m < 32;
        a = stage_of(shape, !shape.transposed_a, rows, shape.m, shape.stride_a(), stacked && !shape.transposed_a ? shape.m : rows);
        b = stage_of(shape, shape.transposed_b, columns, shape.n, shape.stride_b(), columns);
        // The matrix units' sums go into different banks where columns are 2 or 6 words apart modulo 8: a lane holds every second column.
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
        if (mma && result.length % 8 == 0) result.length += 4;                               // see mma_operands
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
    if (tile.cut_rows && tile.passes > 1) return "a B that stays in shared memory is for whole matrices";
    if (!tile.cut_rows && tile.matrices_per_block > 1 && tile.tiles() > 1) return "a block has one matrix where that is cut into several tiles";
    if (tile.thread_m > 1 && 2 * tile.rows_wanted <= tile.row_grain) return "half of the rows that a thread or warp accumulates would be padding";
    if (tile.thread_n > 1 && 2 * tile.columns_wanted <= tile.column_grain)
        return "half of the columns that a thread or warp accumulates would be padding";
    if (tile.passes > 1 && (tile.chunks > 1 || tile.stages > 1)) return "a B that stays in shared memory is one chunk";
    if (tile.passes > 1 && tile.through_shared) return "C would overwrite the B that stays in shared memory";
    // ptxas 13.0 lets the first multiply-add of a trip begin before the last one's sum is there, where a warp has a single sum.
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

// How the lines of an operand, `length` words each, are dealt to the threads: `vectors` to one part of a line, so that `lines` of them are copied at
// a time.
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

// How operand `name` ('a' or 'b') lies in shared memory, and how its lines are dealt to the threads.
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
    return block;
}

// How copies of A and of B walk through memory. Where a thread's lines are equally far apart, a copy differs from its first one by constants alone.
struct Walk {
    Walk(const Shape& shape, const Tile& tile)
        : a_rows_fast(!shape.transposed_a),
          a_equally_far(tile.groups == 1 && (a_rows_fast || !tile.stacked || (tile.cut_rows && shape.gap_a == 0))),
          b_columns_fast(shape.transposed_b),
          b_equally_far(tile.b_groups(shape) == 1) {}

    bool a_rows_fast, a_equally_far;
    bool b_columns_fast, b_equally_far;
};

// Which matrix row `s` of a tile belongs to, and which of its rows it is, where a tile has rows of several.
Block matrix_of(const Tile& tile, const char* s) {
    const std::string row = tile.cut_rows ? fmt::format("(tile_row + {})", s) : s;
    return Block().line("const int matrix = {0} / m, row = {0} % m;", row);
}

// What copies of A need to know of a tile's rows.
void add_rows(Holes& holes, const Tile& tile, const Walk& walk) {
    holes.emplace_back("row_of_place", tile.stacked ? matrix_of(tile, "place") : Block().text("const int row = tile_row + place;"));
    holes.emplace_back("row_of_line", tile.stacked ? matrix_of(tile, "s") : Block().text("const int matrix = group, row = tile_row + s;"));
    holes.emplace_back("within_rows", Block()
                                          .line("const bool within = {};", tile.stacked ? "matrix < present" : "m % rows == 0 || row < m")
                                          .line("const real* const from = a{} + row * a_row + (long long)(start + first_line) * a_inner;",
                                                tile.stacked ? " + matrix * stride_a" : ""));
    holes.emplace_back("row_there", Block().line("const bool there = within && {};",
                                                 tile.stacked ? "tile_row + line < present * m" : "(m % rows == 0 || tile_row + line < m)"));
    holes.emplace_back("line_of_a", Block().text(walk.a_rows_fast ? "const int s = place, l = line % chunk, group = line / chunk;"
                                                                  : "const int l = place, s = line % rows, group = line / rows;"));
}

// Where this thread's sums lie: the first `row` and `column` within the tile.
void add_place(Holes& holes, const Shape& shape, const Tile& tile) {
    Block row_and_column;
    if (tile.mma) {
        holes.emplace_back("holders", Block().line("constexpr int warps_m = {}, warps_n = {};", tile.warps_m(), tile.warps_n()));
        row_and_column.line("const int row = warp % warps_m * {} + lane / 4;", tile.row_grain);
        row_and_column.line("const int column = warp / warps_m % warps_n * {} + lane / 4;", tile.column_grain);
    } else {
        holes.emplace_back("holders", Block().line("constexpr int threads_m = {}, threads_n = {};", tile.warps_m(), tile.warps_n()));
        holes.emplace_back("steps_of_rows", Block().line("constexpr int row_step = {}, column_step = {};", shape.transposed_a ? "threads_m" : "1",
                                                         shape.transposed_b ? "1" : "threads_n"));
        row_and_column.line("const int row = holder % threads_m{};", shape.transposed_a ? "" : fmt::format(" * {}", tile.thread_m));
        row_and_column.line("const int column = holder / threads_m % threads_n{};", shape.transposed_b ? fmt::format(" * {}", tile.thread_n) : "");
    }
    holes.emplace_back("row_and_column", row_and_column);
}

// `step` values along k of the thread's rows (or columns) into `name`[count][step].
Block operand(const char* name, int count, bool rows_fast, const char* from, const char* length, const char* between) {
    Block block;
    block.text("#pragma unroll");
    if (rows_fast) {
        block.open("for (int j = 0; j < step; ++j)");
        block.line("real line[{}];", count);
        block.line("load(line, {} + (l + j) * {});", from, length);
        block.text("#pragma unroll");
        block.line("for (int i = 0; i < {0}; ++i) {1}[i][j] = line[i];", count, name);
        block.close();
    } else {
        block.line("for (int i = 0; i < {}; ++i) load({}[i], {} + i * ({} * {}) + l);", count, name, from, between, length);
    }
    return block;
}

// A warp's operands of one step, from column `l` of a chunk on.
Block mma_operands(const Tile& tile, const char* x, const char* y, const char* a, const char* b) {
    Block block;
    block.text("#pragma unroll");
    block.line("for (int i = 0; i < {}; ++i)", tile.thread_m);
    block.text("    #pragma unroll");
    block.text("    for (int j = 0; j < step / 2; ++j)");
    block.line("        {}[i][j] = {}[(i * 16 + j % 2 * 8) * a_here_row + (l + j / 2 * 4) * a_here_inner];", x, a);
    block.text("#pragma unroll");
    block.line("for (int i = 0; i < {}; ++i)", tile.thread_n);
    block.text("    #pragma unroll");
    return block.line("    for (int j = 0; j < step / 4; ++j) {}[i][j] = {}[i * 8 * b_here_column + (l + j * 4) * b_here_inner];", y, b);
}

Block mma_sums(const Tile& tile, const char* x, const char* y) {
    Block block;
    block.text("#pragma unroll");
    block.line("for (int i = 0; i < {}; ++i)", tile.thread_m);
    block.text("    #pragma unroll");
    return block.line("    for (int j = 0; j < {}; ++j) multiply_add(sum[i][j], {}[i], {}[j]);", tile.thread_n, x, y);
}

Block step(const Tile& tile) {
    return Block().line("constexpr int step = {};  // values along k at a time", tile.step);
}

// The products of one chunk, `a_now` and `b_now` being its operands.
Block multiply(const Shape& shape, const Tile& tile) {
    Block block = step(tile);
    block.text("#pragma unroll");
    block.open("for (int l = 0; l < chunk; l += step)");
    if (tile.mma) {
        block.line("real x[{}][step / 2], y[{}][step / 4];", tile.thread_m, tile.thread_n);
        block.append(mma_operands(tile, "x", "y", "a_now", "b_now"));
        block.append(mma_sums(tile, "x", "y"));
    } else {
        block.line("real x[{}][step], y[{}][step];", tile.thread_m, tile.thread_n);
        block.append(operand("x", tile.thread_m, !shape.transposed_a, "a_now", shape.transposed_a ? "a_here_row" : "a_here_inner", "row_step"));
        block.append(operand("y", tile.thread_n, shape.transposed_b, "b_now", shape.transposed_b ? "b_here_inner" : "b_here_column", "column_step"));
        block.text("#pragma unroll");
        block.text("for (int j = 0; j < step; ++j)");
        block.text("    #pragma unroll");
        block.line("    for (int i = 0; i < {}; ++i)", tile.thread_m);
        block.text("        #pragma unroll");
        block.line("        for (int p = 0; p < {}; ++p) sum[i][p] += x[i][j] * y[p][j];", tile.thread_n);
    }
    block.close();
    return block;
}

// First words of the thread's operands in the chunk that lies `here`.
Block operands_now(const Shape& shape, const Tile& tile, const char* here) {
    Block block;
    block.line("const real* const a_now = {} + group * a_group + row * a_here_row{};", here, tile.mma ? " + lane % 4 * a_here_inner" : "");
    block.line("const real* const b_now = {} + b_start{} + column * b_here_column{};", here, shape.shared_b ? "" : " + group * b_group",
               tile.mma ? " + lane % 4 * b_here_inner" : "");
    return block;
}

// The multiply-adds, chunk by chunk. Where operands of every step are loaded while the one before is multiplied, those of a chunk's first step come
// before the last step of the chunk before it, so that the matrix units have work while the warps meet and the first words are on their way from
// shared memory.
void add_products(Holes& holes, const Shape& shape, const Tile& tile) {
    holes.emplace_back("sum", Block().line("real sum[{}][{}]{} = {{}};", tile.thread_m, tile.thread_n, tile.mma ? "[4]" : ""));
    holes.emplace_back("chunks", Block().line("constexpr int chunks = {};", tile.chunks));
    holes.emplace_back("operands_here", operands_now(shape, tile, "here"));
    if (!tile.ahead) {
        holes.emplace_back("operands_in_stage", operands_now(shape, tile, "stage"));
        holes.emplace_back("multiply", multiply(shape, tile));
        return;
    }
    holes.emplace_back("step", step(tile));
    holes.emplace_back(
        "operands_of_two_steps",
        Block().line("real x[2][{}][step / 2], y[2][{}][step / 4];  // operands of this step, and of the next", tile.thread_m, tile.thread_n));
    holes.emplace_back("load_operands", mma_operands(tile, "x[which]", "y[which]", "a_now", "b_now"));
    holes.emplace_back("add_products", mma_sums(tile, "x[which]", "y[which]"));
}

bool idle_threads(const Tile& tile) {
    return !tile.mma && tile.holders() < tile.threads();
}

// Runs `body` for every sum of the thread, with its place `s`, `t` in the tile and its `value`.
Block for_every_sum(const Tile& tile, const Block& body) {
    const bool some_idle = idle_threads(tile);
    Block block;
    if (some_idle) block.open("if (holds)");
    block.text("#pragma unroll");
    block.open(fmt::format("for (int j = 0; j < {}; ++j)", tile.thread_n));
    block.text("#pragma unroll");
    if (tile.mma) {
        block.open(fmt::format("for (int i = 0; i < {}; ++i)", 4 * tile.thread_m));
        block.text("const int s = row + i / 2 * 8, t = column - lane / 4 + j * 8 + lane % 4 * 2 + i % 2;");
        block.text("const real value = sum[i / 4][j][i % 4];");
    } else {
        block.open(fmt::format("for (int i = 0; i < {}; ++i)", tile.thread_m));
        block.text("const int s = row + i * row_step, t = column + j * column_step;");
        block.text("const real value = sum[i][j];");
    }
    block.append(body);
    block.close();
    block.close();
    if (some_idle) block.close();
    return block;
}

// The sums' way to C, or into shared memory, from where they go to C.
void add_store(Holes& holes, const Shape& shape, const Tile& tile) {
    const char* const factors = shape.scaled ? ", alpha, beta" : "";
    Block body;
    if (tile.through_shared) {
        body.text("stage[(group * columns + t) * c_here_column + s] = value;");
    } else {
        if (tile.cut_rows)
            body.text("const int matrix = (tile_row + s) / m, i_row = (tile_row + s) % m;");
        else
            body.text("const int matrix = stacked ? s / m : group;").text("const int i_row = stacked ? s % m : tile_row + s;");
        body.text("if (matrix < present && i_row < m && tile_column + t < n)");
        body.line("    put(c + matrix * stride_c + (tile_column + t) * m + i_row, value{});", factors);
    }
    holes.emplace_back("store_sums", for_every_sum(tile, body));
    holes.emplace_back("put_from_stage",
                       Block().line("put(c + matrix * stride_c + (tile_column + t) * m + i_row, stage[t * c_here_column + s]{});", factors));
    holes.emplace_back("put_value", Block().line("put(c + matrix * stride_c + (tile_column + t) * m + tile_row + s, value{});", factors));
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
                {"flat_a", tile.flat_a},
                {"longer_chunk", tile.chunk > shape.k},
                {"a_rows_apart", walk.a_equally_far && walk.a_rows_fast},
                {"a_values_apart", walk.a_equally_far && !walk.a_rows_fast},
                {"a_anywhere", !walk.a_equally_far},
                {"b_equally_far", walk.b_equally_far},
                {"b_columns_fast", walk.b_columns_fast},
                {"one_pass", tile.passes == 1},
                {"cut_rows", tile.cut_rows},
                {"some_idle", idle_threads(tile)},
                {"ahead", tile.ahead},
                {"chunks_in_stages", !tile.ahead && !one_stage},
                {"chunk_by_chunk", chunk_by_chunk},
                {"one_chunk", one_stage && !chunk_by_chunk},
                {"through_shared", tile.through_shared},
                // Where a chunk is the last of several, the barrier behind it has let everybody pass.
                {"waits_for_operands", tile.through_shared && !chunk_by_chunk}};
    add_copy_flags(flags, limits);
    return flags;
}

KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) {
    const Shape shape = read_along_k(Shape(problem));
    const Tile tile(shape, config);
    const double executed = 2.0 * tile.rows * tile.columns * tile.chunk * tile.chunks * tile.groups * tile.tiles() / tile.matrices_per_block *
                            static_cast<double>(shape.batch);
    const Walk walk(shape, tile);
    Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                {"constants", constants(shape, tile, config)},
                {"entry", parameters(shape, Target::cuda)}};
    if (tile.mma) holes.emplace_back("multiply_add", mma_function(tile.step));
    add_rows(holes, tile, walk);
    add_place(holes, shape, tile);
    add_products(holes, shape, tile);
    add_store(holes, shape, tile);
    KernelSource source = make_source(problem, Target::cuda, render("batched_gemm/block.cu", holes, flags_of(shape, tile, walk, limits)), executed);
    source.step.push_back(block_launch(shape, std::int64_t{tile.matrices_per_block} * tile.passes, tile.tiles(), resources(shape, config)));
    return source;
}

}  // namespace

bool has_matrix_units(const Shape& shape, const Limits& limits) {
    return shape.precision == Precision::f64 && limits.architecture >= 90;
}

namespace {

// Where tiles fill the matrix units, these have twice the rate, and half the loads from shared memory.
bool worth_multiply_adds(const Shape& shape, const Limits& limits) {
    return !has_matrix_units(shape, limits) || shape.m < 24 || shape.n < 12 || shape.k < 12;
}

}  // namespace

Mapping tile_mapping() {
    return {"tile", "a thread accumulates a tile of C", worth_multiply_adds, conflict, resources, kernel};
}

Mapping mma_mapping() {
    return {"mma", "a warp accumulates a tile of C on the matrix units", has_matrix_units, conflict, resources, kernel};
}

}  // namespace hone::inline v0_1::gemm
