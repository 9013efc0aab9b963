#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/batched_gemm/mappings.hpp"
#include "generator/families/device/cpu_partial_vectors.hpp"
#include "generator/families/device/cpu_team.hpp"

// The CPU kernels. form=rows: neighbouring rows of the left factor are the lanes of a vector, and a
// register tile of row vectors x columns of C is accumulated.
// form=dots, where rows of the left factor and columns of the right one lie along k: neighbouring
// values of k are the lanes. form=matrices, for tiny ones: neighbouring matrices are.

namespace hone::inline v0_1::gemm {
namespace {

constexpr int largest_for_lanes = 144;  // words of A and B of which a vector each is kept

// What form=rows multiplies: op(A) and op(B), or for products of one row op(B)^T and op(A)^T. Their
// product C^T lies in memory as C does, and has rows for the lanes of vectors. Where all have one
// B, it is the left factor of all of them, and C^T of several products are the columns of one.
struct Factors {
    explicit Factors(const Shape& shape)
        : turned(shape.m == 1 && shape.n > 1),
          side_by_side(turned && shape.shared_b),
          m(turned ? shape.n : shape.m),
          n(turned ? 1 : shape.n),
          left_row(turned ? shape.b_column() : shape.a_row()),
          left_inner(turned ? shape.b_inner() : shape.a_inner()),
          right_inner(turned ? shape.a_inner() : shape.b_inner()),
          right_column(side_by_side ? shape.stride_a()
                       : turned     ? shape.a_row()
                                    : shape.b_column()),
          c_column(side_by_side ? shape.stride_c() : m) {}

    bool turned, side_by_side;
    int m, n;
    int left_row, left_inner, right_inner;
    std::int64_t right_column, c_column;
};

struct CpuTile {
    CpuTile(const Shape& shape, const Config& config)
        : of(shape),
          across(config.has(form_tunable, "matrices")),
          along_k(config.has(form_tunable, "dots")),
          lanes(number(config, "lanes")),
          vectors(pieces(of.m, lanes)),
          vectors_per_tile(number(config, "vectors_per_tile", 1)),
          columns_per_tile(number(config, "columns_per_tile", 1)),
          partial_sums(number(config, "partial_sums", 1)),
          prefetches(number(config, "prefetch", 0) != 0),
          along_m(config.has("next_tile", "m")),
          packs(!across && !along_k && of.left_row != 1 && of.m > 1) {}

    int together() const { return across ? lanes : of.side_by_side ? columns_per_tile : 1; }

    Factors of;
    bool across, along_k;
    int lanes, vectors, vectors_per_tile, columns_per_tile, partial_sums;
    bool prefetches;
    bool along_m;  // tiles of the same columns of C follow each other
    bool packs;    // the left factor is copied, its rows turned into columns of whole vectors
};

using Violation = std::optional<std::string>;

// The largest of an extent's pieces: they are as few as there can be of at most `most`, and as
// equal.
int largest_piece(int extent, int most) {
    return pieces(extent, pieces(extent, most));
}

// AVX-512 and SVE have 32 vector registers, the others 16.
int vector_registers(const Limits& limits) {
    return limits.vector_bytes >= 64 ? 32 : 16;
}

Violation spill_violation(const Shape& shape, const Config& config, const Limits& limits) {
    const CpuTile tile(shape, config);
    const int registers_per_vector = pieces(tile.lanes * shape.bytes(), limits.vector_bytes);
    const int columns = tile.of.side_by_side ? tile.columns_per_tile : largest_piece(tile.of.n, tile.columns_per_tile);
    const int sums = largest_piece(tile.vectors, tile.vectors_per_tile) * columns;
    const int needed = sums * tile.partial_sums * registers_per_vector;
    const int most = vector_registers(limits);
    if (needed > most) return fmt::format("{} vector registers for sums, at most {} are worth trying", needed, most);
    constexpr int enough = 16;  // independent sums: two multiply-adds a cycle, of four cycles each, twice over
    if (tile.partial_sums > 1 && needed > enough) return fmt::format("{} sums: with fewer partial sums there are enough of them", needed);
    return std::nullopt;
}

// Where C has one row or one column of tiles there is one order of them.
Violation order_violation(const Shape& shape, const Config& config) {
    const CpuTile tile(shape, config);
    if (!tile.along_m || (tile.vectors > tile.vectors_per_tile && tile.of.n > tile.columns_per_tile)) return std::nullopt;
    return "C has one row or column of tiles: next_tile=n";
}

// Whether a smaller one of the values covers the extent, too.
bool wider_than_needed(int value, int extent, const std::vector<Value>& values) {
    return std::any_of(values.begin(), values.end(), [&](const Value& other) {
        const auto fewer = std::get<std::int64_t>(other);
        return fewer < value && fewer >= extent;
    });
}

Violation padding_violation(const Shape& shape, const Config& config, const std::vector<Value>& vectors, const std::vector<Value>& columns) {
    const CpuTile tile(shape, config);
    if (wider_than_needed(tile.vectors_per_tile, tile.vectors, vectors)) return fmt::format("C has {} vectors of rows", tile.vectors);
    if (!tile.of.side_by_side && wider_than_needed(tile.columns_per_tile, tile.of.n, columns)) return fmt::format("C has {} columns", tile.of.n);
    return std::nullopt;
}

Block constants(const Shape& shape, const CpuTile& tile) {
    const Factors& of = tile.of;
    Block block;
    if (tile.across) {
        block = shape_constants(shape);
    } else {
        block.line("using real = {};", shape.real());
        block.line("constexpr int m = {}, n = {}, k = {};", of.m, of.side_by_side ? tile.columns_per_tile : of.n, shape.k);
        block.line("constexpr long long stride_a = {}, stride_b = {}, stride_c = {};  // words from one matrix to the next", shape.stride_a(),
                   shape.stride_b(), shape.stride_c());
        if (tile.along_k) return block.line("constexpr int lanes = {}, columns_per_tile = {};", tile.lanes, tile.columns_per_tile);
        block.line(
            "constexpr long long right_inner = {}, right_column = {}, c_column = {};  // from (l, column) of the right factor, and of C, to the next",
            of.right_inner, of.right_column, of.c_column);
    }
    block.line("constexpr int lanes = {}, together = {};  // words in a vector, and products that are computed at a time", tile.lanes,
               tile.together());
    if (tile.across) return block;
    block.line("constexpr int vectors_per_tile = {}, columns_per_tile = {}, partial_sums = {};", tile.vectors_per_tile, tile.columns_per_tile,
               tile.partial_sums);
    block.line("constexpr int left_column = {};  // distance of the left factor's columns, {}",
               tile.packs ? round_up(of.m, tile.lanes) : of.left_inner, tile.packs ? "copied and lengthened to whole vectors" : "as they lie");
    return block;
}

// Computes the products `i` and following. Where the products are, no compiler may find the address
// of a thread's memory: clang (14 at least, with AVX-512) takes vector registers 16 to 31 for
// unchanged by the call that finds it, and the first time, when the system makes the memory, they
// are not. Nor may it see through a function that does: hence left_words() of the template.
Block call(const Shape& shape, const CpuTile& tile) {
    if (tile.across)
        return Block().line("product(a + i * stride_a, b + i * stride_b, c + i * stride_c, present{});", shape.scaled ? ", alpha, beta" : "");
    const char left = tile.of.turned ? 'b' : 'a', right = tile.of.turned ? 'a' : 'b';
    const auto product = [&](const char* columns, const char* number) {
        const std::string as_it_lies = fmt::format("{0} + {1} * stride_{0}", left, number);
        return fmt::format(
            "product<{0}>({1}, {2} + {3} * stride_{2}, c + {3} * stride_c, scale, {{{4} + ({3} + 1) * stride_{4}, {2} + ({3} + {5}) * stride_{2}}});",
            columns, tile.packs ? "left" : as_it_lies, right, number, left, tile.together());
    };
    Block block;
    if (tile.packs && !tile.of.side_by_side) block.line("copy_left({0} + i * stride_{0}, left);", left);
    if (tile.together() == 1) return block.text(product("n", "i"));
    block.line("if (present == together) {}", product("together", "i"));
    return block.line("else for (int j = 0; j < present; ++j) {}", product("1", "(i + j)"));
}

KernelSource source_of(const Problem& problem, std::string text, double executed) {
    KernelSource source = make_source(problem, Target::cpu, std::move(text), executed);
    source.step.push_back({"batched_gemm", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

KernelSource dots_kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const CpuTile tile(shape, config);
    const double executed = 2.0 * tile.of.m * tile.of.n * round_up(shape.k, tile.lanes) * static_cast<double>(shape.batch);
    Holes holes{{"banner", banner(problem, config, Target::cpu, executed)},
                {"constants", constants(shape, tile)},
                {"team", team(config)},
                {"entry", parameters(shape, Target::cpu)},
                {"parallel", team_parallel(config)},
                {"seat", team_seat(config)}};
    const bool rows_left = tile.of.m % tile.lanes != 0, values_left = shape.k % tile.lanes != 0;
    Flags flags{{"scaled", shape.scaled},
                {"turned", tile.of.turned},
                {"values_left", values_left},
                {"rows_left", rows_left},
                {"columns_left", tile.of.n % tile.columns_per_tile != 0}};
    add_partial_vectors(holes, flags, shape.precision, tile.lanes, {.loads = values_left || (shape.scaled && rows_left), .stores = rows_left});
    return source_of(problem, render("batched_gemm/kernel.cpp/dots", holes, flags), executed);
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const CpuTile tile(shape, config);
    const Factors& of = tile.of;
    const double height = tile.across ? of.m : tile.vectors * tile.lanes;
    const double executed = 2.0 * height * of.n * shape.k * static_cast<double>(shape.batch);
    Holes holes{{"banner", banner(problem, config, Target::cpu, executed)},
                {"constants", constants(shape, tile)},
                {"team", team(config)},
                {"entry", parameters(shape, Target::cpu)},
                {"parallel", team_parallel(config)},
                {"seat", team_seat(config)},
                {"unroll", Block().line("#pragma GCC unroll {}", number(config, "unroll", 1))},
                {"call", call(shape, tile)}};
    Flags flags{{"scaled", shape.scaled},
                {"shared_b", shape.shared_b},
                {"across", tile.across},
                {"packs", tile.packs},
                {"left_shared", of.side_by_side},
                {"several", tile.together() > 1 || tile.across},
                {"turned", !tile.across && of.turned},
                {"along_m", tile.along_m},
                {"asks_left", tile.prefetches && !of.side_by_side},
                {"asks_right", tile.prefetches && (of.turned || !shape.shared_b)},
                {"several_sums", tile.partial_sums > 1},
                {"values_left", shape.k % tile.partial_sums != 0}};
    const bool rows_left = of.m % tile.lanes != 0, values_left = shape.k % tile.lanes != 0;
    add_partial_vectors(holes, flags, shape.precision, tile.lanes,
                        {.loads = tile.packs ? values_left || (shape.scaled && rows_left) : rows_left, .stores = rows_left});
    return source_of(problem, render("batched_gemm/kernel.cpp", holes, flags), executed);
}

Tunable lanes(const Shape& shape) {
    return {"lanes", "words in a vector", shape.precision == Precision::f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})};
}

// What runs untuned: vectors as wide as the processor has them, and as many sums as registers hold
// beside the operands. Where a product has more words of C than of its left factor, its tiles are
// the taller the fewer values a word is a sum of: memory takes the words of C the faster the longer
// they lie one behind the other.
std::vector<Assignment> safe_rows(const Shape& shape, const Limits& limits, const std::vector<Value>& columns) {
    const Factors of(shape);
    const int widest = limits.vector_bytes / shape.bytes();
    int lanes = std::max(2, 16 / shape.bytes());
    while (lanes < widest && lanes < of.m) lanes *= 2;
    const int vectors = pieces(of.m, lanes);
    const int registers = vector_registers(limits);
    constexpr int most_vectors = 4, many_vectors = 3, enough_sums = 8, short_k = 16, shortest_k = 4;
    const bool tall = vectors > most_vectors && !of.side_by_side && shape.k < of.n;
    const bool one_column = vectors > most_vectors && !of.side_by_side && shape.k <= shortest_k;
    const int along_m = vectors <= most_vectors ? vectors : tall && !one_column ? most_vectors : many_vectors;
    const int sums = one_column ? along_m : tall ? registers / 2 : 3 * registers / 4;
    std::int64_t along_n = 1;
    for (const Value& value : columns)
        if (const auto several = std::get<std::int64_t>(value); several * along_m <= sums && (of.side_by_side || along_n < of.n)) along_n = several;
    const int independent = along_m * (of.side_by_side ? static_cast<int>(along_n) : largest_piece(of.n, static_cast<int>(along_n)));
    std::int64_t partial_sums = 1;
    while (partial_sums < 4 && partial_sums * independent < enough_sums && shape.k >= short_k) partial_sums *= 2;
    // Words of a product that a processor fetches early enough itself, and fewer multiply-adds
    // than would hide the asking.
    constexpr int foreseen = 512, few = 8;
    const std::int64_t prefetch = shape.words_of_each() > foreseen && along_m * along_n >= few ? 1 : 0;
    return {{"lanes", lanes},
            {"vectors_per_tile", along_m},
            {"columns_per_tile", along_n},
            {"unroll", partial_sums > 1 ? 1 : 2},
            {"partial_sums", partial_sums},
            {"prefetch", prefetch},
            {"next_tile", (tall || one_column) && along_n < of.n ? "m" : "n"}};
}

FormSpace row_form(const Shape& shape, const Limits& limits) {
    const std::vector<Value> columns = numbers({1, 2, 3, 4, 6, 8, 12, 16});  // GCC keeps the sums of more of them in memory
    const std::vector<Value> vectors = numbers({1, 2, 3, 4, 6, 8, 12});
    return {.name = "rows",
            .help = "lanes of a vector are neighbouring rows",
            .tunables = {lanes(shape),
                         {"vectors_per_tile", "vectors of rows accumulated at a time, at most", vectors},
                         {"columns_per_tile", "columns accumulated at a time, at most", columns},
                         {"unroll", "values along k per trip of the inner loop and partial sum", numbers({1, 2, 4})},
                         {"partial_sums", "sums of a word of C, so that enough of them do not wait for each other", numbers({1, 2, 4}), Value(1)},
                         {"prefetch", "tiles whose operands are asked for before their turn", numbers({0, 1}), Value(0)},
                         {"next_tile", "which tile follows: n, the next columns of the same rows; m, the next rows of the same columns, as C lies",
                          words({"n", "m"}), Value("n")}},
            .constraints = {{"padding",
                             [shape, vectors, columns](const Config& config) { return padding_violation(shape, config, vectors, columns); },
                             {"lanes", "vectors_per_tile", "columns_per_tile"}},
                            {"one order of tiles",
                             [shape](const Config& config) { return order_violation(shape, config); },
                             {"lanes", "vectors_per_tile", "columns_per_tile", "next_tile"}},
                            {"registers",
                             [shape, limits](const Config& config) { return spill_violation(shape, config, limits); },
                             {"lanes", "vectors_per_tile", "columns_per_tile", "partial_sums"}}},
            .safe = safe_rows(shape, limits, columns)};
}

// Rows of the left factor and columns of the right one lie along k, and these are so few that
// turning the rows first would take longer than turning the sums.
bool lies_along_k(const Shape& shape) {
    constexpr int few = 16;
    const Factors of(shape);
    return of.left_inner == 1 && of.right_inner == 1 && of.m > 1 && of.n <= few && !of.side_by_side;
}

bool turns_sums_untuned(const Shape& shape) {
    constexpr int few = 4, long_k = 16;
    return lies_along_k(shape) && Factors(shape).n <= few && shape.k >= long_k;
}

// A tile has as many rows as a vector has lanes: its sums are turned together.
FormSpace dots_form(const Shape& shape, const Limits& limits) {
    const int most = 3 * vector_registers(limits) / 4;  // for sums
    const int widest = std::min(limits.vector_bytes, 64) / shape.bytes();
    const auto violation = [shape, limits, most](const Config& config) -> Violation {
        const int lanes = number(config, "lanes"), columns = number(config, "columns_per_tile");
        const int needed = lanes * columns * pieces(lanes * shape.bytes(), limits.vector_bytes);
        if (needed > most) return fmt::format("{} vector registers for sums, at most {} leave room for operands", needed, most);
        if (columns > Factors(shape).n) return fmt::format("C has {} columns", Factors(shape).n);
        return std::nullopt;
    };
    return {.name = "dots",
            .help = "lanes of a vector are neighbouring values of k",
            .tunables = {lanes(shape), {"columns_per_tile", "columns accumulated at a time, at most", numbers({1, 2, 3})}},
            .constraints = {{"tile", violation, {"lanes", "columns_per_tile"}}},
            .safe = {{"lanes", std::int64_t{widest}}, {"columns_per_tile", std::int64_t{Factors(shape).n > 1 && 2 * widest <= most ? 2 : 1}}}};
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
    if (shape.m * shape.k + shape.k * shape.n <= largest_for_lanes) spaces.push_back(matrix_form(shape));
    Forms forms{{}, turns_sums_untuned(shape) ? "dots" : "rows"};
    for (FormSpace& space : spaces)
        forms.list.push_back(
            {.space = with_team(std::move(space), limits), .kernel = [problem](const Config& config) { return kernel(problem, config); }});
    if (lies_along_k(shape))
        forms.list.push_back({.space = with_team(dots_form(shape, limits), limits),
                              .kernel = [problem](const Config& config) { return dots_kernel(problem, config); }});
    return forms;
}

}  // namespace hone::inline v0_1::gemm
