#include <fmt/format.h>

#include <optional>

#include "generator/families/batched_gemm/mappings.hpp"
#include "generator/families/device/cpu_team.hpp"

// The CPU kernels. form=rows: neighbouring rows of op(A) are the lanes of a vector, and a register tile of row vectors x columns of C is accumulated.
// form=matrices, for tiny ones: neighbouring matrices are the lanes.

namespace hone::inline v0_1::gemm {
namespace {

constexpr int largest_for_lanes = 144;  // words of A and B of which a vector each is kept

struct CpuTile {
    CpuTile(const Shape& shape, const Config& config)
        : across(config.has(form_tunable, "matrices")),
          lanes(number(config, "lanes")),
          vectors_per_tile(number(config, "vectors_per_tile", 1)),
          columns_per_tile(number(config, "columns_per_tile", 1)),
          rows_per_tile(lanes * vectors_per_tile),
          packs(!across && (shape.transposed_a || shape.m % rows_per_tile != 0)) {}

    bool across;
    int lanes, vectors_per_tile, columns_per_tile, rows_per_tile;
    bool packs;  // op(A) is copied, rows lengthened to whole tiles
};

using Violation = std::optional<std::string>;

Violation spill_violation(const Shape& shape, const Config& config, const Limits& limits) {
    const CpuTile tile(shape, config);
    const int registers_per_vector = (tile.lanes * shape.bytes() + limits.vector_bytes - 1) / limits.vector_bytes;
    const int needed = tile.vectors_per_tile * tile.columns_per_tile * registers_per_vector;
    // AVX-512 and SVE have 32 vector registers, the others 16.
    const int most = limits.vector_bytes >= 64 ? 32 : 16;
    if (needed <= most) return std::nullopt;
    return fmt::format("{} vector registers for sums, at most {} are worth trying", needed, most);
}

Violation padding_violation(const Shape& shape, const Config& config) {
    const CpuTile tile(shape, config);
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

const char* factor_arguments(const Shape& shape) {
    return shape.scaled ? ", alpha, beta" : "";
}

// Where the products are, no compiler may find the address of a thread's memory: clang (14 at least, with AVX-512) takes vector registers 16 to 31
// for unchanged by the call that finds it, and the first time, when the system makes the memory, they are not. Nor may it see through a function that
// does: hence left_words() of the template, where op(A) is packed.
Block product_head(const Shape& shape, const CpuTile& tile) {
    return Block().line("static inline void product(const real* __restrict a, const real* __restrict b, real* __restrict c{}{}) {{",
                        tile.packs ? ", real* __restrict left" : "", shape.scaled ? ", real alpha, real beta" : "");
}

// The columns beyond whole tiles.
Block last_tile(const Shape& shape, const CpuTile& tile) {
    Block block;
    if (shape.n % tile.columns_per_tile != 0)
        block.line("tile<{}>(left, b, c, row, column{});", shape.n % tile.columns_per_tile, factor_arguments(shape));
    return block;
}

// Computes the products `i` and following.
Block call(const Shape& shape, const CpuTile& tile) {
    return Block().line("product(a + i * stride_a, b + i * stride_b, c + i * stride_c{}{}{});", tile.across ? ", present" : "",
                        tile.packs ? ", left" : "", factor_arguments(shape));
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const CpuTile tile(shape, config);
    const double height = tile.across ? shape.m : round_up(shape.m, tile.rows_per_tile);
    const double executed = 2.0 * height * shape.n * shape.k * static_cast<double>(shape.batch);
    Holes holes{{"banner", banner(problem, config, Target::cpu, executed)},
                {"constants", constants(shape, tile)},
                {"team", team(config)},
                {"entry", parameters(shape, Target::cpu)},
                {"parallel", team_parallel(config)},
                {"seat", team_seat(config)},
                {"product_head", product_head(shape, tile)},
                {"unroll", Block().line("#pragma GCC unroll {}", number(config, "unroll", 1))},
                {"call", call(shape, tile)}};
    if (!tile.across) holes.emplace_back("last_tile", last_tile(shape, tile));
    const bool ahead = number(config, "products_ahead", 0) > 0;
    const Flags flags{{"scaled", shape.scaled}, {"shared_b", shape.shared_b},         {"across", tile.across}, {"packs", tile.packs},
                      {"ahead", ahead},         {"ahead_b", ahead && !shape.shared_b}};
    KernelSource source = make_source(problem, Target::cpu, render("batched_gemm/kernel.cpp", holes, flags), executed);
    source.step.push_back({"batched_gemm", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

Tunable lanes(const Shape& shape) {
    return {"lanes", "words in a vector", shape.precision == Precision::f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})};
}

FormSpace row_form(const Shape& shape, const Limits& limits) {
    return {
        .name = "rows",
        .help = "lanes of a vector are neighbouring rows",
        .tunables = {lanes(shape),
                     {"vectors_per_tile", "vectors of rows accumulated at a time", numbers({1, 2, 3, 4})},
                     {"columns_per_tile", "columns accumulated at a time", numbers({1, 2, 3, 4, 6, 8})},
                     {"unroll", "values along k per trip of the inner loop", numbers({1, 2, 4})},
                     {"products_ahead", "whose matrices are asked for while one is computed; 0: the processor foresees what it can", numbers({0, 1}),
                      Value(0)}},
        .constraints = {{"padding",
                         [shape](const Config& config) { return padding_violation(shape, config); },
                         {"lanes", "vectors_per_tile", "columns_per_tile"}},
                        {"registers",
                         [shape, limits](const Config& config) { return spill_violation(shape, config, limits); },
                         {"lanes", "vectors_per_tile", "columns_per_tile"}}},
        .safe = {
            {"lanes", 32 / shape.bytes()}, {"vectors_per_tile", 1}, {"columns_per_tile", shape.n < 4 ? 1 : 4}, {"unroll", 1}, {"products_ahead", 0}}};
}

// Its configurations had the tunables of the other, too, when they were values of one space.
FormSpace matrix_form(const Shape& shape) {
    return {.name = "matrices",
            .help = "lanes of a vector are neighbouring matrices",
            .tunables = {lanes(shape)},
            .safe = {{"lanes", 32 / shape.bytes()}},
            .former = [](const Config& config) { return config.has(form_tunable, "matrices") && config.has("unroll", 1); }};
}

}  // namespace

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    std::vector<FormSpace> spaces{row_form(shape, limits)};
    const bool tiny = shape.m * shape.k + shape.k * shape.n <= largest_for_lanes;
    if (tiny) spaces.push_back(matrix_form(shape));
    // What runs untuned: lanes across matrices where rows would leave most of a vector empty.
    constexpr int few_rows = 8;
    Forms forms{{}, tiny && shape.m < few_rows ? "matrices" : "rows"};
    for (FormSpace& space : spaces)
        forms.list.push_back(
            {.space = with_team(std::move(space), limits), .kernel = [problem](const Config& config) { return kernel(problem, config); }});
    return forms;
}

}  // namespace hone::inline v0_1::gemm
