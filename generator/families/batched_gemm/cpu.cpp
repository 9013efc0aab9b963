#include <fmt/format.h>

#include <optional>

#include "generator/families/batched_gemm/mappings.hpp"
#include "generator/families/device/cpu_team.hpp"

// The CPU kernels. form=rows: neighbouring rows of op(A) are the lanes of a vector, and a register tile of row vectors x columns of C is accumulated.
// form=matrices, for tiny ones: neighbouring matrices are the lanes.

namespace hone::gemm {
namespace {

constexpr int largest_for_lanes = 144;  // words of A and B of which a vector each is kept

struct CpuTile {
    CpuTile(const Shape& shape, const Config& config)
        : across(config.word("form") == "matrices"),
          lanes(number(config, "lanes")),
          vectors_per_tile(number(config, "vectors_per_tile")),
          columns_per_tile(number(config, "columns_per_tile")),
          rows_per_tile(lanes * vectors_per_tile),
          packs(!across && (shape.transposed_a || shape.m % rows_per_tile != 0)) {}

    bool across;
    int lanes, vectors_per_tile, columns_per_tile, rows_per_tile;
    bool packs;  // op(A) is copied, rows lengthened to whole tiles
};

using Violation = std::optional<std::string>;

Violation spill_violation(const Shape& shape, const Config& config, const Limits& limits) {
    const CpuTile tile(shape, config);
    if (tile.across) return std::nullopt;
    const int registers_per_vector = (tile.lanes * shape.bytes() + limits.vector_bytes - 1) / limits.vector_bytes;
    const int needed = tile.vectors_per_tile * tile.columns_per_tile * registers_per_vector;
    // AVX-512 and SVE have 32 vector registers, the others 16.
    const int most = limits.vector_bytes >= 64 ? 32 : 16;
    if (needed <= most) return std::nullopt;
    return fmt::format("{} vector registers for sums, at most {} are worth trying", needed, most);
}

Violation ignored_violation(const Config& config) {
    if (config.word("form") == "rows") return std::nullopt;
    for (const char* name : {"vectors_per_tile", "columns_per_tile", "unroll"})
        if (number(config, name) != 1) return fmt::format("form=matrices does not look at {0}: {0}=1", name);
    return std::nullopt;
}

Violation padding_violation(const Shape& shape, const Config& config) {
    const CpuTile tile(shape, config);
    if (tile.across) return std::nullopt;
    if (tile.vectors_per_tile > 1 && tile.rows_per_tile >= 2 * round_up(shape.m, tile.lanes)) return "half of the rows of a tile would be padding";
    if (tile.columns_per_tile > shape.n) return fmt::format("C has {} columns", shape.n);
    return std::nullopt;
}

Block constants(const Shape& shape, const CpuTile& tile) {
    Block block = shape_constants(shape);
    block.line("constexpr int lanes = {}, together = {};  // words in a vector, and products that are computed at a time", tile.lanes,
               tile.across ? tile.lanes : 1);
    if (tile.across) return block;
    block.line("constexpr int vectors_per_tile = {}, rows_per_tile = {}, columns_per_tile = {};", tile.vectors_per_tile, tile.rows_per_tile,
               tile.columns_per_tile);
    block.line("constexpr int left_column = {};  // distance of the columns of op(A), {}",
               tile.packs ? round_up(shape.m, tile.rows_per_tile) : shape.m, tile.packs ? "copied and lengthened to whole tiles" : "as they lie");
    return block;
}

const char* factor_parameters(const Shape& shape) {
    return shape.scaled ? ", real alpha, real beta" : "";
}

const char* factor_arguments(const Shape& shape) {
    return shape.scaled ? ", alpha, beta" : "";
}

// What calls a product with memory of the thread for op(A), and takes it.
const char* left_argument(const CpuTile& tile) {
    return tile.packs ? ", left" : "";
}

// Where the products are, no compiler may find the address of a thread's memory: clang (14 at least, with AVX-512) takes vector registers 16 to 31
// for unchanged by the call that finds it, and the first time, when the system makes the memory, they are not. Nor may it see through a function that
// does.
Block left_words(const CpuTile& tile) {
    Block block;
    if (!tile.packs) return block;
    block.text(
        "// This thread's memory for op(A). The statement hides the address: clang would find it beside vectors, in registers that this spoils.");
    block.open("__attribute__((noinline)) static real* left_words()");
    block.text("alignas(64) static thread_local real words[k * left_column];");
    block.text("real* address = words;");
    block.text("asm(\"\" : \"+r\"(address));");
    block.text("return address;");
    return block.close().text("");
}

// op(A) of one product as `left`, columns `left_column` words apart.
Block left(const CpuTile& tile) {
    Block block;
    if (!tile.packs) {
        block.text("const real* const left = a;");
        return block;
    }
    block.text("for (int l = 0; l < k; ++l) {");
    block.text("    for (int row = 0; row < m; ++row) left[l * left_column + row] = a[row * a_row + l * a_inner];");
    block.text("    for (int row = m; row < left_column; ++row) left[l * left_column + row] = 0;");
    block.text("}");
    return block;
}

Block rows_product(const Shape& shape, const CpuTile& tile, const Config& config) {
    const char* const parameters = factor_parameters(shape);
    const char* const factors = factor_arguments(shape);
    Block store_vector;
    if (shape.scaled)
        store_vector.text("*reinterpret_cast<unaligned_vector*>(to) = beta == real(0) ? alpha * sum[v][j] : alpha * sum[v][j] + beta * load(to);");
    else
        store_vector.text("*reinterpret_cast<unaligned_vector*>(to) = sum[v][j];");
    Block last_tile;
    if (shape.n % tile.columns_per_tile != 0) last_tile.line("tile<{}>(left, b, c, row, column{});", shape.n % tile.columns_per_tile, factors);
    const Holes holes{
        {"tile_head", Block().line("static inline void tile(const real* __restrict left, const real* __restrict b, real* __restrict c, int row, int "
                                   "column{}) {{",
                                   parameters)},
        {"unroll", Block().line("#pragma GCC unroll {}", number(config, "unroll"))},
        {"store_vector", store_vector},
        {"store_word", Block().line("put(to + i, sum[v][j][i]{});", factors)},
        {"left_words", left_words(tile)},
        {"product_head", Block().line("static inline void product(const real* __restrict a, const real* __restrict b, real* __restrict c{}{}) {{",
                                      tile.packs ? ", real* __restrict left" : "", parameters)},
        {"left", left(tile)},
        {"whole_tile", Block().line("tile<columns_per_tile>(left, b, c, row, column{});", factors)},
        {"last_tile", last_tile}};
    return Block().lines_of(render("batched_gemm/rows.cpp", holes));
}

Block lanes_product(const Shape& shape) {
    Block right;
    if (shape.shared_b) {
        right.text("const real* const right = b;");
    } else {
        right.text("vector right[k * n];");
        right.text("for (int word = 0; word < k * n; ++word)");
        right.text("    for (int i = 0; i < lanes; ++i) right[word][i] = b[(i < present ? i : 0) * stride_b + word];");
    }
    const Holes holes{{"product_head", Block().line("static inline void product(const real* __restrict a, const real* __restrict b, real* __restrict "
                                                    "c, int present{}) {{",
                                                    factor_parameters(shape))},
                      {"right", right},
                      {"store_word", Block().line("put(to + i * stride_c, sum[i]{});", factor_arguments(shape))}};
    return Block().lines_of(render("batched_gemm/lanes.cpp", holes));
}

// What a thread does with products `i` and following.
Block products(const Shape& shape, const CpuTile& tile) {
    Block block;
    if (tile.across) block.text("const int present = last - i < lanes ? static_cast<int>(last - i) : lanes;");
    block.line("product(a + i * stride_a, b + i * stride_b, c + i * stride_c{}{}{});", tile.across ? ", present" : "", left_argument(tile),
               factor_arguments(shape));
    return block;
}

}  // namespace

SearchSpace cpu_space(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool f32 = shape.precision == Precision::f32;
    const bool tiny = shape.m * shape.k + shape.k * shape.n <= largest_for_lanes;
    std::vector<Tunable> tunables{
        {"form", "rows: lanes are neighbouring rows; matrices: lanes are neighbouring matrices",
         tiny ? words({"rows", "matrices"}) : words({"rows"})},
        {"lanes", "words in a vector", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
        {"vectors_per_tile", "vectors of rows accumulated at a time", numbers({1, 2, 4})},
        {"columns_per_tile", "columns accumulated at a time", numbers({1, 2, 4, 8})},
        {"unroll", "values along k per trip of the inner loop", numbers({1, 2, 4})},
    };
    std::vector<Constraint> constraints{
        {"ignored", ignored_violation},
        {"padding", [shape](const Config& config) { return padding_violation(shape, config); }},
        {"registers", [shape, limits](const Config& config) { return spill_violation(shape, config, limits); }},
    };
    for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
    constraints.push_back(team_constraint());
    // What runs untuned: lanes across matrices where rows would leave most of a vector empty.
    const bool across = tiny && shape.m < 8;
    std::vector<Assignment> safe{{"form", across ? "matrices" : "rows"},
                                 {"lanes", std::int64_t{32 / shape.bytes()}},
                                 {"vectors_per_tile", std::int64_t{1}},
                                 {"columns_per_tile", std::int64_t{across || shape.n < 4 ? 1 : 4}},
                                 {"unroll", std::int64_t{1}}};
    for (Assignment& assignment : safe_team()) safe.push_back(std::move(assignment));
    return SearchSpace(std::move(tunables), std::move(constraints), std::move(safe));
}

KernelSource cpu_kernel(const Problem& problem, const Config& config, const Limits&) {
    const Shape shape(problem);
    const CpuTile tile(shape, config);
    const double height = tile.across ? shape.m : round_up(shape.m, tile.rows_per_tile);
    const double executed = 2.0 * height * shape.n * shape.k * static_cast<double>(shape.batch);
    const Holes holes{{"banner", banner(problem, config, Target::cpu, executed)},
                      {"constants", constants(shape, tile)},
                      {"put", put_function(shape, "static inline ")},
                      {"product", tile.across ? lanes_product(shape) : rows_product(shape, tile, config)},
                      {"team", team(config)},
                      {"entry", parameters(shape, Target::cpu)},
                      {"factors", read_factors(shape)},
                      {"parallel", team_parallel(config)},
                      {"seat", team_seat(config)},
                      {"left", tile.packs ? Block().text("real* const left = left_words();") : Block()},
                      {"products", products(shape, tile)}};
    KernelSource source = make_source(problem, Target::cpu, render("batched_gemm/kernel.cpp", holes), executed);
    source.step.push_back({"batched_gemm", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

}  // namespace hone::gemm
