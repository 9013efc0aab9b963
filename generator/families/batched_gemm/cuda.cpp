#include "generator/families/batched_gemm/cuda.hpp"

#include <algorithm>

#include "generator/families/device/cuda_copies.hpp"

namespace hone::inline v0_1::gemm {
namespace {

constexpr std::int64_t largest_code = 1024;  // multiply-adds in one trip of the innermost loop

// Those values that cut `extent` in different ways: from the first on, none that is twice as large
// as needed.
std::vector<Value> cuts(int extent, std::initializer_list<int> values) {
    std::vector<Value> result;
    for (const int value : values)
        if (result.empty() || value / 2 < extent) result.emplace_back(std::int64_t{value});
    return result;
}

std::vector<Value> per_block(const Shape& shape, bool tiny) {
    const int largest = std::max({shape.m, shape.n, shape.k});
    if (tiny) return numbers({4, 16, 32, 64, 128, 256});
    constexpr int few_words = 512;  // of A and C: a block wants some kilobytes on their way
    if (largest <= 16 || (shape.m <= 32 && shape.m * (shape.k + shape.n) <= few_words)) return numbers({1, 2, 4, 8, 16, 32, 64});
    if (shape.m <= 32) return numbers({1, 2, 4, 8, 16});
    if (largest <= 128) return numbers({1, 2, 4});
    return shape.m <= 128 && shape.n <= 128 ? numbers({1, 2, 4}) : numbers({1});
}

}  // namespace

bool is_tiny(const Shape& shape) {
    constexpr int largest_matrix = 40;    // words of C and of what a thread keeps of A and B
    constexpr int largest_product = 128;  // multiply-adds
    return shape.m * shape.n <= largest_matrix && shape.m * shape.k <= largest_matrix && shape.k * shape.n <= largest_matrix &&
           shape.m * shape.n * shape.k <= largest_product;
}

bool has_matrix_units(const Shape& shape, const Limits& limits) {
    return shape.precision == Precision::f64 && limits.has(Feature::wide_f64_matrix_units);
}

// A must be at hand 8 products at a time, and a warp's part of B in its registers.
bool streams(const Shape& shape, const Limits& limits) {
    constexpr int most_rows = 8, least_columns = 16, longest = 64;
    return has_matrix_units(shape, limits) && shape.shared_b && shape.m <= most_rows && shape.n >= least_columns && shape.k <= longest;
}

// A block of few rows keeps a shorter B while k is short.
bool reads_b_again(const Shape& shape) {
    constexpr int long_k = 32, thin = 16, few_rows = 32, short_k = 128;
    constexpr int stays = 6144, least = 2048;  // words
    const int long_b = shape.m <= few_rows && shape.k <= short_k ? stays : least;
    return shape.shared_b && shape.k > long_k && shape.n >= thin && shape.k * shape.n >= long_b;
}

// Shapes that are large all over do without what only small ones gain from.
Values::Values(const Shape& shape, const Limits& limits) {
    const bool tiny = is_tiny(shape), units = has_matrix_units(shape, limits), thin = streams(shape, limits);
    const bool large = shape.m >= 64 && shape.n >= 64 && shape.k >= 64;
    matrices_per_block = per_block(shape, tiny);
    block_m = shape.m > 128 ? cuts(shape.m, shape.n > 64 ? std::initializer_list<int>{64, 128, 256} : std::initializer_list<int>{64, 128, 256, 512})
                            : cuts(units && reads_b_again(shape) ? 128 : shape.m, {32, 64, 128});
    block_n = shape.n > 64 ? cuts(shape.n, {32, 64, 128, 256}) : cuts(shape.n, {16, 32, 64});
    // A warp of the matrix units takes m + n words from shared memory for 2 m n operations.
    // That is as fast as they are at 64 x 64, for which there are not registers enough; at 48 x
    // 64 with `depth` 4 there are.
    const bool again = units && reads_b_again(shape);
    thread_m = shape.m >= 64 ? (units ? numbers({1, 2, 3, 4}) : numbers({2, 4, 8})) : cuts(again ? 64 : shape.m, {1, 2, 4, 8});
    thread_n = shape.n >= 64 ? numbers({2, 4, 8}) : cuts(shape.n, {1, 2, 4, 8});
    chunk = large ? numbers({8, 16, 32}) : cuts(shape.k, {8, 16, 32, 64, 128});
    stages = !limits.has(Feature::async_copies) ? numbers({1})
             : thin                             ? numbers({1, 2, 3, 4})
             : large                            ? numbers({2, 3, 4})
                                                : cuts(pieces(shape.k, 8), {1, 2, 3, 4});
    depth = !units ? numbers({4}) : shape.k < 64 ? numbers({4, 8, 16}) : shape.m < 64 && !again ? numbers({8, 16}) : numbers({8, 16, 4});
}

Tunable matrices_per_block_tunable(std::vector<Value> values) {
    return {"matrices_per_block", "products that a block of threads computes", std::move(values)};
}

Tunable block_n_tunable(const Values& values) {
    return {"block_n", "columns of C that a block computes, at most", values.block_n};
}

Tunable stages_tunable(const Values& values) {
    return {"stages", "pieces of the operands in shared memory (chunks, or groups of 8 products): one is used while the others arrive",
            values.stages};
}

Tunable epilogue_tunable() {
    return {.name = "epilogue",
            .help = "how C leaves the threads: direct: as they hold it; shared: through shared memory, in order",
            .values = words({"direct", "shared"}),
            .former_name = "exchange"};
}

Tunable batches_per_block_tunable() {
    return {"batches_per_block", "batches of products that a block computes with a shared B that it has loaded once", numbers({1, 2, 4, 8, 16}),
            Value(1), "passes"};
}

Tunable min_blocks_tunable() {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4})};
}

std::vector<Assignment> assigned(const std::vector<Tunable>& tunables, const std::vector<Assignment>& values) {
    std::vector<Assignment> assignments;
    for (const Tunable& tunable : tunables)
        for (const Assignment& one : values)
            if (one.name == tunable.name || one.name == tunable.former_name) assignments.push_back({tunable.name, one.value});
    return assignments;
}

std::int64_t few_matrices(const Shape& shape, const Values& values) {
    return shape.m <= 32 && shape.n <= 16 ? 4 : std::get<std::int64_t>(values.matrices_per_block.front());
}

bool keeps_b(const Shape& shape, const Limits& limits) {
    constexpr int longest = 128, least_words = 512;
    return (shape.shared_b && shape.k <= longest && shape.k * shape.n >= least_words) || streams(shape, limits);
}

void add_copy_flags(Flags& flags, const Limits& limits) {
    add_copies(flags, Copies::words_or_zeros, limits.has(Feature::async_copies));
    flags.emplace_back("kept_reads", false);
}

// The operands of one multiply-add of a warp are spread as PTX prescribes for mma.m16n8k4, k8 and
// k16 with .f64: with g = lane / 4 and t = lane % 4, word i of a is (row g + 8 (i % 2), column t +
// 4 (i / 2)), word i of b (row t + 4 i, column g), word i of c (row g + 8 (i / 2), column 2 t + i %
// 2). A warp reads half of its lanes at a time: 4 rows in each of 4 columns, which lie in 16
// different banks where columns are 4 or 12 words apart modulo 16.
void add_matrix_unit_flags(Flags& flags, int depth) {
    flags.insert(flags.end(), {{"depth_4", depth == 4}, {"depth_8", depth == 8}, {"depth_16", depth == 16}});
}

void add_rules(FormSpace& space, std::function<Reason(const Config&)> conflict, std::function<BlockResources(const Config&)> resources) {
    std::vector<std::string> others;
    for (std::size_t i = 0; i + 1 < space.tunables.size(); ++i) others.push_back(space.tunables[i].name);
    const auto large_code = [resources = std::move(resources)](const Config& config) {
        return too_many(resources(config).code, largest_code, "unrolled multiply-adds");
    };
    space.constraints.push_back({"conflict", std::move(conflict), others});
    space.constraints.push_back({"code_size", large_code, others});
}

}  // namespace hone::inline v0_1::gemm
