#include <fmt/format.h>

#include <algorithm>

#include "generator/families/batched_gemm/cpu.hpp"
#include "generator/families/device/cpu_team.hpp"

// Neighbouring rows of the left factor are the lanes of a vector, and a register tile of row
// vectors x columns of C is accumulated.

namespace hone::inline v0_1::gemm {
namespace {

struct Rows : CpuKernel {
    Rows(const Shape& of_problem, const Config& config)
        : CpuKernel(of_problem, config),
          vectors_per_tile(number(config, "vectors_per_tile")),
          columns_per_tile(number(config, "columns_per_tile")),
          unroll(number(config, "unroll", 1)),
          partial_sums(number(config, "partial_sums", 1)),
          prefetch(number(config, "prefetch", 0) != 0),
          along_m(config.has("next_tile", "m")) {}

    int vectors_per_tile, columns_per_tile, unroll, partial_sums;
    bool prefetch;
    bool along_m;  // tiles of the same columns of C follow each other

    int vectors() const { return pieces(of.m, lanes); }
    // The left factor is copied, its rows turned into columns of whole vectors.
    bool packs() const { return of.left_row != 1 && of.m > 1; }
    // Products that are computed at a time.
    int together() const { return of.side_by_side ? columns_per_tile : 1; }

    Block own_constants() const;
    Block call() const;
    Flags flags() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

Block Rows::own_constants() const {
    Block block = constants(of.side_by_side ? columns_per_tile : of.n);
    block.line(
        "constexpr long long right_inner = {}, right_column = {}, c_column = {};  // from (l, column) of the right factor, and of C, to the next",
        of.right_inner, of.right_column, of.c_column);
    block.line("constexpr int lanes = {}, together = {};  // words in a vector, and products that are computed at a time", lanes, together());
    block.line("constexpr int vectors_per_tile = {}, columns_per_tile = {}, partial_sums = {};", vectors_per_tile, columns_per_tile, partial_sums);
    return block.line("constexpr int left_column = {};  // distance of the left factor's columns, {}",
                      packs() ? round_up(of.m, lanes) : of.left_inner, packs() ? "copied and lengthened to whole vectors" : "as they lie");
}

// Computes the products `i` and following. Where the products are, no compiler may find the address
// of a thread's memory: clang (14 at least, with AVX-512) takes vector registers 16 to 31 for
// unchanged by the call that finds it, and the first time, when the system makes the memory, they
// are not. Nor may it see through a function that does: hence left_words() of the template.
Block Rows::call() const {
    const char left = of.turned ? 'b' : 'a', right = of.turned ? 'a' : 'b';
    const auto product = [&](const char* columns, const char* number) {
        const std::string as_it_lies = fmt::format("{0} + {1} * stride_{0}", left, number);
        return fmt::format(
            "product<{0}>({1}, {2} + {3} * stride_{2}, c + {3} * stride_c, scale, {{{4} + ({3} + 1) * stride_{4}, {2} + ({3} + {5}) * stride_{2}}});",
            columns, packs() ? "left" : as_it_lies, right, number, left, together());
    };
    Block block;
    if (packs() && !of.side_by_side) block.line("copy_left({0} + i * stride_{0}, left);", left);
    if (together() == 1) return block.text(product("n", "i"));
    block.line("if (present == together) {}", product("together", "i"));
    return block.line("else for (int j = 0; j < present; ++j) {}", product("1", "(i + j)"));
}

Flags Rows::flags() const {
    return {{"scaled", shape.scaled},
            {"packs", packs()},
            {"left_shared", of.side_by_side},
            {"several", together() > 1},
            {"turned", of.turned},
            {"along_m", along_m},
            {"asks_left", prefetch && !of.side_by_side},
            {"asks_right", prefetch && (of.turned || !shape.shared_b)},
            {"several_sums", partial_sums > 1},
            {"values_left", shape.k % partial_sums != 0}};
}

KernelSource Rows::kernel(const Problem& problem, const Config& config) const {
    Holes holes{{"constants", own_constants()}, {"unroll", Block().line("#pragma GCC unroll {}", unroll)}, {"call", call()}};
    Flags all_flags = flags();
    // A copied row of the left factor has k words.
    const bool words_left = shape.k % lanes != 0;
    add_partial_vectors(holes, all_flags, shape.precision, lanes,
                        {.loads = packs() ? words_left || (shape.scaled && rows_left()) : rows_left(), .stores = rows_left()});
    const double executed = 2.0 * (vectors() * lanes) * of.n * shape.k * static_cast<double>(shape.batch);
    return source(problem, config, "rows.cpp", executed, std::move(holes), all_flags);
}

// The largest of an extent's pieces: they are as few as there can be of at most `most`, and as
// equal.
int largest_piece(int extent, int most) {
    return pieces(extent, pieces(extent, most));
}

Reason spills(const Rows& kernel, const Limits& limits) {
    const int registers_per_vector = pieces(kernel.lanes * kernel.shape.bytes(), limits.vector_bytes);
    const int columns = kernel.of.side_by_side ? kernel.columns_per_tile : largest_piece(kernel.of.n, kernel.columns_per_tile);
    const int sums = largest_piece(kernel.vectors(), kernel.vectors_per_tile) * columns;
    const int needed = sums * kernel.partial_sums * registers_per_vector;
    const int most = vector_registers(limits);
    if (needed > most) return fmt::format("{} vector registers for sums, at most {} are worth trying", needed, most);
    constexpr int enough = 16;  // independent sums: two multiply-adds a cycle, of four cycles each, twice over
    if (kernel.partial_sums > 1 && needed > enough) return fmt::format("{} sums: with fewer partial sums there are enough of them", needed);
    return std::nullopt;
}

// Where C has one row or one column of tiles there is one order of them.
Reason order(const Rows& kernel) {
    if (!kernel.along_m || (kernel.vectors() > kernel.vectors_per_tile && kernel.of.n > kernel.columns_per_tile)) return std::nullopt;
    return "C has one row or column of tiles: next_tile=n";
}

// Whether a smaller one of the values covers the extent, too.
bool wider_than_needed(int value, int extent, const std::vector<Value>& values) {
    return std::any_of(values.begin(), values.end(), [&](const Value& other) {
        const auto fewer = std::get<std::int64_t>(other);
        return fewer < value && fewer >= extent;
    });
}

Reason padding(const Rows& kernel, const std::vector<Value>& vectors, const std::vector<Value>& columns) {
    if (wider_than_needed(kernel.vectors_per_tile, kernel.vectors(), vectors)) return fmt::format("C has {} vectors of rows", kernel.vectors());
    if (!kernel.of.side_by_side && wider_than_needed(kernel.columns_per_tile, kernel.of.n, columns))
        return fmt::format("C has {} columns", kernel.of.n);
    return std::nullopt;
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

}  // namespace

Form cpu_rows_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const std::vector<Value> columns = numbers({1, 2, 3, 4, 6, 8, 12, 16});  // GCC keeps the sums of more of them in memory
    const std::vector<Value> vectors = numbers({1, 2, 3, 4, 6, 8, 12});
    FormSpace space{
        .name = "rows",
        .help = "lanes of a vector are neighbouring rows",
        .tunables = {lanes_tunable(shape),
                     {"vectors_per_tile", "vectors of rows accumulated at a time, at most", vectors},
                     {"columns_per_tile", "columns accumulated at a time, at most", columns},
                     {"unroll", "values along k per trip of the inner loop and partial sum", numbers({1, 2, 4})},
                     {"partial_sums", "sums of a word of C, so that enough of them do not wait for each other", numbers({1, 2, 4}), Value(1)},
                     {"prefetch", "tiles whose operands are asked for before their turn", numbers({0, 1}), Value(0)},
                     {"next_tile", "which tile follows: n, the next columns of the same rows; m, the next rows of the same columns, as C lies",
                      words({"n", "m"}), Value("n")}},
        .constraints = {{"padding",
                         [shape, vectors, columns](const Config& config) { return padding(Rows(shape, config), vectors, columns); },
                         {"lanes", "vectors_per_tile", "columns_per_tile"}},
                        {"one order of tiles",
                         [shape](const Config& config) { return order(Rows(shape, config)); },
                         {"lanes", "vectors_per_tile", "columns_per_tile", "next_tile"}},
                        {"registers",
                         [shape, limits](const Config& config) { return spills(Rows(shape, config), limits); },
                         {"lanes", "vectors_per_tile", "columns_per_tile", "partial_sums"}}},
        .safe = safe_rows(shape, limits, columns)};
    return cpu_form<Rows>(problem, with_team(std::move(space), limits));
}

}  // namespace hone::inline v0_1::gemm
