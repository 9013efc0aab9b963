#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/batched_gemm/mappings.hpp"

// Tunables and constraints on a CUDA device. Lists of values depend on the shape, so that little of their product is out of the question.

namespace hone::gemm {
namespace {

constexpr std::int64_t largest_code = 1024;  // multiply-adds in one trip of the innermost loop

const Mapping& mapping_of(const Config& config) {
    const auto& all = cuda_mappings();
    return *std::find_if(all.begin(), all.end(), [&](const Mapping& m) { return m.name == config.word("mapping"); });
}

using Violation = std::optional<std::string>;

// Which tunables a mapping does not look at; they keep their lists' first values.
std::vector<std::string> ignored_by(const std::string& mapping) {
    if (mapping == "thread") return {"block_m", "block_n", "thread_m", "thread_n", "chunk", "stages", "depth", "passes", "cut", "ahead"};
    if (mapping == "tile") return {"depth", "ahead"};
    if (mapping == "stream") return {"matrices_per_block", "block_m", "thread_m", "chunk", "depth", "exchange", "cut", "ahead"};
    return {};
}

Constraint ignored_constraint(const std::vector<Tunable>& tunables) {
    return {"ignored", [tunables](const Config& config) -> Violation {
                const std::string& mapping = config.word("mapping");
                for (const std::string& name : ignored_by(mapping)) {
                    const auto tunable = std::find_if(tunables.begin(), tunables.end(), [&](const Tunable& t) { return t.name == name; });
                    const Value& first = tunable->values.front();
                    if (std::holds_alternative<std::string>(first) ? config.word(name) != std::get<std::string>(first)
                                                                   : config.integer(name) != std::get<std::int64_t>(first))
                        return fmt::format("mapping={} does not look at {}: {}={}", mapping, name, name, to_string(first));
                }
                return std::nullopt;
            }};
}

std::vector<Constraint> constraints(const Shape& shape, const Limits& limits, const std::vector<Tunable>& tunables) {
    const auto with_resources = [shape](auto rule) {
        return [shape, rule](const Config& config) -> Violation {
            return rule(mapping_of(config).resources(shape, config), number(config, "min_blocks"));
        };
    };
    return {
        ignored_constraint(tunables),
        {"mapping",
         [shape](const Config& config) -> Violation {
             const std::string conflict = mapping_of(config).conflict(shape, config);
             return conflict.empty() ? std::nullopt : Violation(conflict);
         }},
        {"threads",
         with_resources([limits](const Resources& needs, std::int64_t blocks) -> Violation { return thread_violation(needs, blocks, limits); })},
        {"shared memory", with_resources([limits](const Resources& needs, std::int64_t blocks) { return shared_violation(needs, blocks, limits); })},
        {"registers", with_resources([limits](const Resources& needs, std::int64_t blocks) { return register_violation(needs, blocks, limits); })},
        {"code size",
         with_resources([](const Resources& needs, std::int64_t) { return too_many(needs.code, largest_code, "unrolled multiply-adds"); })},
    };
}

// Those values that cut `extent` in different ways: from the first on, none that is twice as large as needed.
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

// Lists of values: shapes that are large all over do without what only small ones gain from.
struct Values {
    Values(const Shape& shape, const Limits& limits, bool tiny, bool units, bool thin) {
        const bool large = shape.m >= 64 && shape.n >= 64 && shape.k >= 64;
        matrices_per_block = per_block(shape, tiny);
        block_m = shape.m > 128
                      ? cuts(shape.m, shape.n > 64 ? std::initializer_list<int>{64, 128, 256} : std::initializer_list<int>{64, 128, 256, 512})
                      : cuts(shape.m, {32, 64, 128});
        block_n = shape.n > 64 ? cuts(shape.n, {32, 64, 128, 256}) : cuts(shape.n, {16, 32, 64});
        // A warp of the matrix units takes m + n words from shared memory for 2 m n operations. That is as fast as they are at 64 x 64, for which
        // there are not registers enough; at 48 x 64 with `depth` 4 there are.
        thread_m = shape.m >= 64 ? (units ? numbers({1, 2, 3, 4}) : numbers({2, 4, 8})) : cuts(shape.m, {1, 2, 4, 8});
        thread_n = shape.n >= 64 ? numbers({2, 4, 8}) : cuts(shape.n, {1, 2, 4, 8});
        chunk = large ? numbers({8, 16, 32}) : cuts(shape.k, {8, 16, 32, 64, 128});
        stages = limits.architecture < 80 ? numbers({1})
                 : thin                   ? numbers({1, 2, 3, 4})
                 : large                  ? numbers({2, 3, 4})
                                          : cuts(pieces(shape.k, 8), {1, 2, 3, 4});
        depth = !units ? numbers({4}) : shape.k < 64 ? numbers({4, 8, 16}) : shape.m < 64 ? numbers({8, 16}) : numbers({8, 16, 4});
    }
    std::vector<Value> matrices_per_block, block_m, block_n, thread_m, thread_n, chunk, stages, depth;
};

// What runs untuned: few resources, but a form that suits the shape.
std::vector<Assignment> safe_assignments(const Shape& shape, const std::vector<std::string>& mappings, const Values& values) {
    const std::string mapping = mappings.back() == "thread" ? "thread" : mappings.front();
    const bool mma = mapping == "mma";
    std::int64_t per_block = std::get<std::int64_t>(values.matrices_per_block.front());
    std::int64_t along_m = mma ? (shape.m > 32 ? 2 : 1) : (shape.m > 1 ? 2 : 1);
    std::int64_t along_n = mma ? (shape.n > 16 ? 2 : 1) : (shape.n > 1 ? 2 : 1);
    if (mapping == "thread") {
        per_block = 64;
        along_m = along_n = 1;
    } else if (shape.m <= 32 && shape.n <= 16) {
        per_block = 4;
    }
    return {{"mapping", mapping},
            {"matrices_per_block", per_block},
            {"block_m", std::int64_t{shape.m > 128 || (mma && shape.m > 32) ? 64 : 32}},
            {"block_n", std::int64_t{shape.n > 64 || (mma && shape.n > 16) ? 32 : 16}},
            {"thread_m", along_m},
            {"thread_n", along_n},
            {"chunk", std::int64_t{mma && shape.k > 16 ? 16 : 8}},
            {"stages", values.stages.front()},
            {"depth", values.depth.front()},
            {"exchange", mapping == "thread" && shape.packed() ? "shared" : "direct"},
            {"min_blocks", std::int64_t{1}},
            {"passes", std::int64_t{1}},
            {"cut", "matrices"},
            {"ahead", std::int64_t{0}}};
}

// The first of a list's values that is not below `wanted`, or else the last.
std::int64_t covering(const std::vector<Value>& values, std::int64_t wanted) {
    for (const Value& value : values)
        if (std::get<std::int64_t>(value) >= wanted) return std::get<std::int64_t>(value);
    return std::get<std::int64_t>(values.back());
}

// The last of a list's values that is not above `wanted`, or else the first.
std::int64_t within(const std::vector<Value>& values, std::int64_t wanted) {
    std::int64_t result = std::get<std::int64_t>(values.front());
    for (const Value& value : values)
        if (std::get<std::int64_t>(value) <= wanted) result = std::get<std::int64_t>(value);
    return result;
}

// Products of few rows with one B for all: a block takes many of them, or it loads B for next to nothing. Of 18 such shapes that were searched on an
// H200 measured configurations near these were 3.3 times as fast as the frugal ones above, the best 3.8 times.
std::vector<Assignment> many_in_a_block(const Shape& shape, const Values& values, bool units) {
    constexpr std::int64_t words = 4096;  // of A and C in a block
    constexpr int longest_chunk = 64;
    constexpr std::int64_t columns_cut = 64;  // a block has one matrix where that is cut into tiles
    const bool whole = covering(values.block_n, shape.n) >= shape.n;
    const std::int64_t block_n = covering(values.block_n, whole ? shape.n : columns_cut);
    const std::int64_t many = whole ? words / (std::int64_t{shape.m} * (shape.k + shape.n)) : 1;
    const bool mma = units && shape.k >= 4 && shape.n >= 4;
    return {{"mapping", mma ? "mma" : "tile"},
            {"matrices_per_block", within(values.matrices_per_block, many)},
            {"block_m", values.block_m.front()},
            {"block_n", block_n},
            {"thread_m", within(values.thread_m, shape.m <= 16 ? 1 : 2)},
            {"thread_n", within(values.thread_n, mma ? block_n / 32 : 4)},
            {"chunk", covering(values.chunk, shape.k <= longest_chunk ? shape.k : longest_chunk / 2)},
            {"stages", values.stages.front()},
            {"depth", values.depth.front()},
            {"exchange", "direct"},
            {"min_blocks", std::int64_t{1}},
            {"passes", std::int64_t{1}},
            {"cut", "matrices"},
            {"ahead", std::int64_t{0}}};
}

// All other products: a block takes as much of C as a tile holds, and as much along k as shared memory leaves to several blocks. In searches on an
// H200 the matrix units won from 3 values along k and 4 rows and columns on, though most of what they multiply there is padding.
std::vector<Assignment> tile_of_c(const Shape& shape, const Values& values, bool units) {
    constexpr int thin = 32, longest_chunk = 64, few_sums = 32;
    constexpr std::int64_t staged_words = 6144, words = 2048;  // of A and B along a chunk; of all operands in a block
    const bool mma = units && shape.m >= 4 && shape.n >= 4 && shape.k >= 3;
    const int widest = mma ? 64 : 32, tallest = mma ? 128 : 64;
    const std::int64_t block_n = covering(values.block_n, std::min(shape.n, widest));
    const std::int64_t block_m = covering(values.block_m, std::min(shape.m, block_n < 64 ? tallest : 64));
    const std::int64_t chunk = covering(values.chunk, shape.k <= longest_chunk ? shape.k : longest_chunk / 2);
    const bool whole = block_m >= shape.m && block_n >= shape.n;
    const std::int64_t of_matrix = std::int64_t{shape.m} * (shape.k + shape.n) + (shape.shared_b ? 0 : std::int64_t{shape.k} * shape.n);
    const std::int64_t least = shape.m * shape.n <= few_sums ? 4 : 1;  // of products, so that there are threads enough
    const std::int64_t along_n = mma ? block_n / (shape.m <= thin ? 32 : 16) : shape.n <= 4 ? 4 : 2;
    return {{"mapping", mma ? "mma" : "tile"},
            {"matrices_per_block", whole ? within(values.matrices_per_block, std::max(words / of_matrix, least)) : std::int64_t{1}},
            {"block_m", block_m},
            {"block_n", block_n},
            {"thread_m", within(values.thread_m, mma && shape.m <= 16 ? 1 : 2)},
            {"thread_n", within(values.thread_n, along_n)},
            {"chunk", within(values.chunk, std::min(chunk, staged_words / (std::min<std::int64_t>(shape.m, block_m) + block_n)))},
            {"stages", values.stages.front()},
            {"depth", values.depth.front()},
            {"exchange", "direct"},
            {"min_blocks", std::int64_t{1}},
            {"passes", std::int64_t{1}},
            {"cut", "matrices"},
            {"ahead", std::int64_t{0}}};
}

}  // namespace

const std::vector<Mapping>& cuda_mappings() {
    static const std::vector<Mapping> mappings{tile_mapping(), mma_mapping(), stream_mapping(), thread_mapping()};
    return mappings;
}

SearchSpace cuda_space(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    std::vector<std::string> names;
    for (const Mapping& mapping : cuda_mappings())
        if (mapping.applies(shape, limits)) names.push_back(mapping.name);
    const bool tiny = thread_mapping().applies(shape, limits);
    const bool units = mma_mapping().applies(shape, limits);
    const bool thin = stream_mapping().applies(shape, limits);
    const Values values(shape, limits, tiny, units, thin);
    std::vector<Tunable> tunables{
        {"mapping",
         "thread: a thread per matrix; tile: a thread per tile of C; mma: a warp per tile of the matrix units; stream: a warp holds columns of B in "
         "registers, and takes 8 products at a time",
         words(names)},
        {"matrices_per_block", "products that a block of threads computes", values.matrices_per_block},
        {"block_m", "rows of C that a block computes, at most", values.block_m},
        {"block_n", "columns of C that a block computes, at most", values.block_n},
        {"thread_m", "rows that a thread accumulates; mma: groups of 16 rows per warp", values.thread_m},
        {"thread_n", "columns that a thread accumulates; mma: groups of 8 columns per warp; stream: groups of 16", values.thread_n},
        {"chunk", "values along k that are staged in shared memory at a time, at most", values.chunk},
        {"stages", "chunks (stream: groups of 8 products) in shared memory: one is used while the others arrive", values.stages},
        {"depth", "mma: values along k of one instruction", values.depth},
        {"exchange",
         "shared: words that threads hold go to memory through shared memory, in order (thread: come from there, too); direct: as they are",
         words({"direct", "shared"})},
        {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4})},
    };
    // B stays in shared memory: for that it must be shared by all products, and fit at once.
    const bool stays = shape.shared_b && shape.k <= 128 && shape.k * shape.n >= 512;
    tunables.push_back({"passes", "groups of `matrices_per_block` (stream: 8) products that a block computes with a shared B that it has loaded once",
                        stays || thin ? numbers({1, 2, 4, 8, 16}) : numbers({1}), Value(1)});
    tunables.push_back({"cut", "matrices: tiles are cut from every matrix; rows: from the rows of all matrices with one B, as if they were one",
                        shape.shared_b ? words({"matrices", "rows"}) : words({"matrices"}), Value("matrices")});
    // Two chunks at least, of two steps each.
    const bool long_sums = units && limits.architecture >= 80 && shape.k >= 32;
    tunables.push_back({"ahead", "mma: steps whose operands a warp loads from shared memory before it multiplies",
                        long_sums ? numbers({0, 1}) : numbers({0}), Value(0)});
    std::vector<Constraint> rules = constraints(shape, limits, tunables);
    std::vector<Assignment> safe = safe_assignments(shape, names, values);
    if (!tiny) {
        constexpr int few_rows = 32;
        std::vector<Assignment> suited =
            shape.shared_b && shape.m <= few_rows ? many_in_a_block(shape, values, units) : tile_of_c(shape, values, units);
        if (std::none_of(rules.begin(), rules.end(),
                         [config = Config(suited)](const Constraint& rule) { return rule.violation(config).has_value(); }))
            safe = std::move(suited);
    }
    return SearchSpace(std::move(tunables), std::move(rules), std::move(safe));
}

}  // namespace hone::gemm
