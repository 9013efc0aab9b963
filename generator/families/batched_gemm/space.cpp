#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/families/batched_gemm/mappings.hpp"

// Tunables and constraints on a CUDA device. Lists of values depend on the shape, so that little of
// their product is out of the question.

namespace hone::inline v0_1::gemm {
namespace {

constexpr std::int64_t largest_code = 1024;  // multiply-adds in one trip of the innermost loop

using Violation = std::optional<std::string>;

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

// Whether a shared B is so long that tiles had better be high, with rows of many products, than
// read it for the few rows of one. A block of few rows keeps a shorter B while k is short.
bool reads_b_again(const Shape& shape) {
    constexpr int long_k = 32, thin = 16, few_rows = 32, short_k = 128;
    constexpr int stays = 6144, least = 2048;  // words
    const int long_b = shape.m <= few_rows && shape.k <= short_k ? stays : least;
    return shape.shared_b && shape.k > long_k && shape.n >= thin && shape.k * shape.n >= long_b;
}

// Lists of values: shapes that are large all over do without what only small ones gain from.
struct Values {
    Values(const Shape& shape, const Limits& limits, bool tiny, bool units, bool thin) {
        const bool large = shape.m >= 64 && shape.n >= 64 && shape.k >= 64;
        matrices_per_block = per_block(shape, tiny);
        block_m = shape.m > 128
                      ? cuts(shape.m, shape.n > 64 ? std::initializer_list<int>{64, 128, 256} : std::initializer_list<int>{64, 128, 256, 512})
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
    std::vector<Value> matrices_per_block, block_m, block_n, thread_m, thread_n, chunk, stages, depth;
};

// Values for the tunables of all forms; a form takes those that it has.
using Suggestion = std::vector<Assignment>;

// Few resources.
Suggestion frugal(const Shape& shape, const std::string& form, const Values& values) {
    const bool mma = form == "mma";
    std::int64_t per_block = std::get<std::int64_t>(values.matrices_per_block.front());
    std::int64_t along_m = mma ? (shape.m > 32 ? 2 : 1) : (shape.m > 1 ? 2 : 1);
    std::int64_t along_n = mma ? (shape.n > 16 ? 2 : 1) : (shape.n > 1 ? 2 : 1);
    if (form == "thread") {
        per_block = 64;
        along_m = along_n = 1;
    } else if (shape.m <= 32 && shape.n <= 16) {
        per_block = 4;
    }
    return {{"form", form},
            {"matrices_per_block", per_block},
            {"block_m", std::int64_t{shape.m > 128 || (mma && shape.m > 32) ? 64 : 32}},
            {"block_n", std::int64_t{shape.n > 64 || (mma && shape.n > 16) ? 32 : 16}},
            {"thread_m", along_m},
            {"thread_n", along_n},
            {"chunk", std::int64_t{mma && shape.k > 16 ? 16 : 8}},
            {"stages", form == "stream" ? values.stages.back() : values.stages.front()},
            {"depth", values.depth.front()},
            {"epilogue", form == "thread" && shape.packed() ? "shared" : "direct"},
            {"min_blocks", std::int64_t{1}},
            {"batches_per_block", std::int64_t{1}},
            {"tiling", "matrices"},
            {"prefetch", std::int64_t{0}}};
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

// How much of k is staged at a time. 64 values were faster than 32 by 7 % where three such chunks
// cover k, and slower by 10 % along a longer one.
std::int64_t suited_chunk(const Shape& shape, const Values& values) {
    constexpr int longest = 64, chunks = 3, tall = 128;
    if (shape.k <= longest) return covering(values.chunk, shape.k);
    return covering(values.chunk, shape.m <= tall && shape.k <= chunks * longest + longest / 8 ? longest : longest / 2);
}

// Along a long k chunk follows chunk: several small ones are on their way while one is multiplied,
// so that memory never waits. In 8 searches of such products with a B each and 38 rows or more the
// best of these members had 0.96 of the fastest one's rate or more, the best with one chunk at a
// time 0.85 to 0.99. Of fewer rows a block has as much on its way with one chunk, unless one B is
// too long to stay. Where one column is shared and more rows than a tile has are multiplied with
// it, smaller blocks wait for each other's chunks as well: 333 x 388 took 244 us with one chunk,
// 271 with four, cuBLAS 232.
bool follows_chunks(const Shape& shape) {
    constexpr int long_k = 64, stays = 128, enough_rows = 32, few_columns = 16, tallest = 128;
    if (shape.shared_b && shape.n == 1 && shape.m > tallest) return false;
    return shape.m > enough_rows ? shape.k > long_k : shape.shared_b && shape.n < few_columns && shape.k > stays;
}

// Products of so few rows that warps hold the shared B in registers and read A as it comes: in all
// but one of 16 such shapes faster than any block of many products, 1.8 times in the mean.
Suggestion stream_of_rows(const Shape& shape, const Values& values) {
    return {{"form", "stream"},
            {"block_n", covering(values.block_n, shape.n)},
            {"thread_n", within(values.thread_n, 2)},
            {"stages", within(values.stages, 3)},
            {"min_blocks", std::int64_t{2}},
            {"batches_per_block", std::int64_t{4}}};
}

// Products of few rows with one B for all: a block takes many of them, or it loads B for next to
// nothing. Of 18 such shapes that were searched on an H200 measured configurations near these were
// 3.3 times as fast as the frugal ones above, the best 3.8 times.
Suggestion many_in_a_block(const Shape& shape, const Values& values, bool units) {
    constexpr std::int64_t words = 4096;      // of A and C in a block
    constexpr std::int64_t columns_cut = 64;  // a block has one matrix where that is cut into tiles
    constexpr int few_rows = 4, short_k = 8;  // C is most of the traffic: it pays to write it in order
    const bool whole = covering(values.block_n, shape.n) >= shape.n, follow = follows_chunks(shape);
    const std::int64_t block_n = covering(values.block_n, whole ? shape.n : columns_cut);
    const bool mma = units && ((shape.k >= 4 && shape.n >= 4) || shape.n > 8 || follow);
    // Matrix units that are not given rows enough wait for B: 1.2 to 3.4 times as long in each of
    // four such shapes.
    constexpr std::int64_t enough_rows = 16;
    const std::int64_t least = mma ? covering(values.matrices_per_block, (enough_rows + shape.m - 1) / shape.m) : 1;
    // What follows is on its way, too: half as much at a time.
    constexpr std::int64_t following_chunk = 32;
    const std::int64_t of_product = shape.m * (follow ? 2 * (following_chunk + shape.n) : shape.k + shape.n);
    const std::int64_t many = whole ? std::max(least, words / of_product) : 1;
    return {{"form", mma ? "mma" : "tile"},
            {"matrices_per_block", within(values.matrices_per_block, many)},
            {"block_m", values.block_m.front()},
            {"block_n", block_n},
            {"thread_m", within(values.thread_m, shape.m <= 16 ? 1 : 2)},
            {"thread_n", within(values.thread_n, mma ? block_n / 32 : 4)},
            {"chunk", follow ? within(values.chunk, following_chunk) : suited_chunk(shape, values)},
            {"stages", follow ? within(values.stages, 4) : values.stages.front()},
            {"depth", values.depth.front()},
            {"epilogue", mma && shape.m > few_rows && shape.n >= 8 && shape.k <= short_k ? "shared" : "direct"},
            {"min_blocks", std::int64_t{1}},
            {"batches_per_block", std::int64_t{1}},
            {"tiling", "matrices"},
            {"prefetch", std::int64_t{0}}};
}

// Whether tiles are better cut from the rows of all products: where the values along k count, and
// more than a seventh of the rows of a product's own tiles would be padding.
bool suits_rows_of_all(const Shape& shape) {
    constexpr int tile = 64, long_k = 32;
    return shape.shared_b && shape.k > long_k && shape.n >= tile && 7 * round_up(shape.m, tile) > 8 * shape.m;
}

// A tile of the rows of all products, and the least time that a row of C takes with it, in clock
// cycles of a multiprocessor.
struct RowTile {
    std::int64_t block_m, block_n, warp_m, warp_n;

    std::int64_t warps(const Shape& shape) const { return block_m / (16 * warp_m) * (columns(shape) / (8 * warp_n)); }
    std::int64_t columns(const Shape& shape) const {
        return round_up(pieces(shape.n, pieces(shape.n, static_cast<int>(block_n))), static_cast<int>(8 * warp_n));
    }
    /// Blocks that a multiprocessor has the registers for: the fewer warps, the more.
    std::int64_t blocks(const Shape& shape) const { return warps(shape) <= 2 ? 3 : warps(shape) <= 4 ? 2 : 1; }
    double cycles(const Shape& shape) const {
        // Of an H100 at 1755 MHz: multiply-adds of the matrix units, bytes from the second cache,
        // bytes from memory, bytes of a warp's operands from shared memory.
        constexpr double units = 128, cache = 24, memory = 13, shared = 128, word = 8;
        constexpr double others = 0.25;  // of what the longest hides, which does not fit beside it
        const double wide = static_cast<double>(columns(shape)), tiles = pieces(shape.n, static_cast<int>(columns(shape)));
        const double high = static_cast<double>(block_m), k = shape.k;
        const double times[] = {k * tiles * wide / units, word * k * (tiles + tiles * wide / high) / cache, word * (k + shape.n) / memory,
                                word * k * tiles * wide * (1 / static_cast<double>(8 * warp_n) + 1 / static_cast<double>(16 * warp_m)) / shared};
        double longest = 0, sum = 0;
        for (const double time : times) longest = std::max(longest, time), sum += time;
        const double drain = word * shape.n / memory / static_cast<double>(blocks(shape));  // of C, beside which only other blocks multiply
        return longest + others * (sum - longest) + drain;
    }
};

// Products whose shared B is long: tiles from the rows of all products, as high as it takes to read
// B rarely. The best first, by count; of equal ones the smaller block. Searches on two devices
// ended with such warps (2 x 8 tiles of sums, operands a step ahead, short chunks on their way)
// wherever arithmetic was the limit. Of 18 shapes on an H200 searches of 3 s found nothing faster
// than tiles by such a count for 10, and 1.2 times as fast for the worst, whose k is short: what C
// drains is counted since.
std::vector<Suggestion> rows_of_all(const Shape& shape, const Values& values) {
    constexpr std::int64_t fewest = 2, most = 8;  // warps of a block
    std::vector<std::pair<double, RowTile>> tiles;
    for (const std::int64_t block_m : {64, 128})
        for (const std::int64_t block_n : {16, 32, 64, 128})
            for (const std::int64_t warp_m : {1, 2, 4})
                for (const std::int64_t warp_n : {1, 2, 4, 8}) {
                    const RowTile tile{block_m, block_n, warp_m, warp_n};
                    if (tile.warps(shape) >= fewest && tile.warps(shape) <= most) tiles.emplace_back(tile.cycles(shape), tile);
                }
    std::stable_sort(tiles.begin(), tiles.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Suggestion> suggestions;
    for (const auto& [cycles, tile] : tiles)
        for (const std::int64_t depth : {4, 8})
            suggestions.push_back({{"form", "mma"},
                                   {"matrices_per_block", std::int64_t{1}},
                                   {"block_m", tile.block_m},
                                   {"block_n", tile.block_n},
                                   {"warp_m", tile.warp_m},
                                   {"warp_n", tile.warp_n},
                                   {"chunk", std::int64_t{16}},
                                   {"stages", within(values.stages, 3)},
                                   {"depth", depth},
                                   {"epilogue", "direct"},
                                   {"min_blocks", tile.blocks(shape)},
                                   {"batches_per_block", std::int64_t{1}},
                                   {"tiling", "rows"},
                                   {"prefetch", std::int64_t{1}}});
    return suggestions;
}

// All other products: a block takes as much of C as a tile holds, and as much along k as shared
// memory leaves to several blocks. In searches on an H200 the matrix units won from 3 values along
// k and 4 rows and columns on, though most of what they multiply there is padding. They won with
// fewer columns, too, where a product has rows and values along k enough, and with any k where C is
// large. Where k is short, C is most of the traffic: flat tiles that are written in order were the
// fastest in 17 of 26 such searches, 1.4 times as fast in the mean. Tiles of a shared B are cut
// from the rows of all products where a product's own would be padded: 1.5 times as fast in the
// mean of four such searches.
Suggestion tile_of_c(const Shape& shape, const Values& values, bool units) {
    constexpr int thin = 32, few_sums = 32, few_rows = 8, tallest = 128;
    constexpr std::int64_t staged_words = 8192, words = 2048;  // of A and B along a chunk; of all operands in a block
    const bool rows = units && suits_rows_of_all(shape);
    // Fewer rows, too, where a B each is long: what comes of it in a block is most of the traffic.
    constexpr int wide = 32, long_k = 64;
    const bool tall_b = !shape.shared_b && shape.n >= wide && shape.k > long_k;
    const bool mma =
        rows ||
        (units && ((shape.m >= 4 && shape.n >= 4 && shape.k >= 3) || (shape.m >= 32 && shape.k >= 5) || (shape.m >= 64 && shape.n >= 64) || tall_b));
    constexpr int short_k = 16, large = 40;
    const bool ordered = mma && shape.k <= short_k && shape.m >= large && shape.n >= large;
    const int widest = ordered ? 32 : mma ? 64 : shape.m <= few_rows ? 128 : 32;
    const std::int64_t block_n = covering(values.block_n, std::min(shape.n, widest));
    const std::int64_t block_m =
        rows ? within(values.block_m, 64) : covering(values.block_m, std::min(shape.m, block_n < 64 && !ordered ? tallest : 64));
    const bool whole = block_m >= shape.m && block_n >= shape.n;
    const std::int64_t of_matrix = std::int64_t{shape.m} * (shape.k + shape.n) + (shape.shared_b ? 0 : std::int64_t{shape.k} * shape.n);
    const std::int64_t least = shape.m * shape.n <= few_sums ? 4 : 1;  // of products, so that there are threads enough
    const std::int64_t along_m = within(values.thread_m, rows ? block_m / 32 : mma && shape.m <= 16 ? 1 : 2);
    const std::int64_t along_n = within(values.thread_n, mma ? block_n / (shape.m <= thin && !rows ? 32 : 16) : shape.n <= 4 ? 4 : 2);
    const bool follow = mma && follows_chunks(shape);
    constexpr std::int64_t following_chunk = 16;
    const std::int64_t fitting = staged_words / (std::min<std::int64_t>(shape.m, block_m) + block_n);
    return {{"form", mma ? "mma" : "tile"},
            {"matrices_per_block", whole && !rows ? within(values.matrices_per_block, std::max(words / of_matrix, least)) : std::int64_t{1}},
            {"block_m", block_m},
            {"block_n", block_n},
            {"thread_m", along_m},
            {"thread_n", along_n},
            {"chunk", follow ? within(values.chunk, following_chunk) : within(values.chunk, std::min(suited_chunk(shape, values), fitting))},
            {"stages", follow ? within(values.stages, 4) : values.stages.front()},
            {"depth", values.depth.front()},
            {"epilogue", ordered ? "shared" : "direct"},
            {"min_blocks", std::int64_t{ordered ? 2 : 1}},
            {"batches_per_block", std::int64_t{1}},
            {"tiling", rows ? "rows" : "matrices"},
            {"prefetch", std::int64_t{follow && along_m * along_n > 1 ? 1 : 0}}};
}

// `suggested`, one value after the other changed as long as that makes it faster by count. What
// rules of thumb suggest stays where it is as fast but for what the count is wrong by, and nothing
// is tried where that is wrong most: few blocks or warps at once, many sums. Of 32 searched shapes
// the members chosen so had 0.88 of the fastest's rate in the geometric mean, 0.60 at least; what
// was suggested had 0.84 and 0.55.
std::vector<Assignment> faster_by_count(const SearchSpace& space, const Form& of, const std::vector<Assignment>& suggested, const Limits& limits) {
    constexpr double clearly = 0.9;
    constexpr int rounds = 3;
    constexpr std::int64_t fewest_blocks = 2, fewest_threads = 256, most_sums = 8;
    const FormSpace& form = of.space;
    const char* const along_m = form.name == "mma" ? "warp_m" : "thread_m";
    const char* const along_n = form.name == "mma" ? "warp_n" : "thread_n";
    const auto risky = [&](const Config& config) {
        const BlockResources needs = of.resources(config);
        const std::int64_t blocks = resident_blocks(needs, limits);
        return blocks < fewest_blocks || blocks * needs.threads < fewest_threads || config.integer(along_m) * config.integer(along_n) > most_sums;
    };
    FormSpace entered = form;
    entered.safe = suggested;
    const double before = form.count(space.entry(entered));
    double least = before, last = 0;
    for (int round = 0; round < rounds && least != last; ++round) {
        last = least;
        for (std::size_t i = 0; i < suggested.size(); ++i)
            for (const Value& value : form.tunables[i].values) {
                const Value kept = std::exchange(entered.safe[i].value, value);
                const Config config = space.entry(entered);
                const double count = form.count(config);
                if (count > 0 && count < least && !risky(config) && !space.check(config))
                    least = count;
                else
                    entered.safe[i].value = kept;
            }
    }
    return least < clearly * before ? entered.safe : suggested;
}

// What a form has of the tunables of all. Where two forms mean different things by one of former
// times, it has two names.
std::vector<Tunable> tunables_of(const std::string& form, const Shape& shape, const Values& values, bool thin) {
    const bool units = form == "mma", tiles = units || form == "tile", thread = form == "thread", stream = form == "stream";
    std::vector<Tunable> tunables;
    const auto add = [&](bool has, Tunable tunable, const char* former_name = "") {
        tunable.former_name = former_name;
        if (has) tunables.push_back(std::move(tunable));
    };
    std::vector<Value> matrices = values.matrices_per_block;
    if (thread) std::erase_if(matrices, [](const Value& value) { return std::get<std::int64_t>(value) < 32; });  // a warp has one for each thread
    add(!stream, {"matrices_per_block", "products that a block of threads computes", std::move(matrices)});
    add(tiles, {"block_m", "rows of C that a block computes, at most", values.block_m});
    add(tiles || stream, {"block_n", "columns of C that a block computes, at most", values.block_n});
    add(tiles && !units, {"thread_m", "rows that a thread accumulates", values.thread_m});
    add(tiles && !units, {"thread_n", "columns that a thread accumulates", values.thread_n});
    add(units, {"warp_m", "groups of 16 rows that a warp accumulates", values.thread_m}, "thread_m");
    add(units, {"warp_n", "groups of 8 columns that a warp accumulates", values.thread_n}, "thread_n");
    add(stream, {"warp_groups", "groups of 16 columns of B that a warp holds", values.thread_n}, "thread_n");
    add(tiles, {"chunk", "values along k that are staged in shared memory at a time, at most", values.chunk});
    add(tiles || stream,
        {"stages", "pieces of the operands in shared memory (chunks, or groups of 8 products): one is used while the others arrive", values.stages});
    add(units, {"depth", "values along k of one instruction", values.depth});
    add(!stream,
        {"epilogue", "how C leaves the threads: direct: as they hold it; shared: through shared memory, in order", words({"direct", "shared"})},
        "exchange");
    // B stays in shared memory: for that it must be shared by all products, and fit at once.
    const bool stays = shape.shared_b && shape.k <= 128 && shape.k * shape.n >= 512;
    add((tiles || stream) && (stays || thin),
        {"batches_per_block", "batches of products that a block computes with a shared B that it has loaded once", numbers({1, 2, 4, 8, 16}),
         Value(1)},
        "passes");
    add(tiles && shape.shared_b,
        {"tiling", "matrices: tiles are cut from every matrix; rows: from the rows of all matrices with one B, as if they were one",
         words({"matrices", "rows"}), Value("matrices")},
        "cut");
    // Two chunks at least, of two steps each.
    add(units && shape.k >= 32, {"prefetch", "steps whose operands a warp loads from shared memory before it multiplies", numbers({0, 1}), Value(0)},
        "ahead");
    // Last: whether the other values go together does not depend on it.
    add(true, {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4})});
    return tunables;
}

std::vector<Assignment> taken(const Suggestion& suggestion, const std::vector<Tunable>& tunables) {
    std::vector<Assignment> assignments;
    for (const Tunable& tunable : tunables) {
        for (const Assignment& one : suggestion)
            if (one.name == tunable.name || one.name == tunable.former_name) assignments.push_back({tunable.name, one.value});
    }
    return assignments;
}

// The forms that a shape has on a device, and what they are made of.
struct Choice {
    Choice(const Problem& problem, const Limits& limits)
        : shape(problem),
          tiny(thread_mapping().applies(shape, limits)),
          units(mma_mapping().applies(shape, limits)),
          values(shape, limits, tiny, units, stream_mapping().applies(shape, limits)) {
        for (const Mapping& mapping : {tile_mapping(), mma_mapping(), stream_mapping(), thread_mapping()})
            if (mapping.applies(shape, limits)) list.push_back(form_of(mapping, problem, limits));
        frugal_form = tiny ? "thread" : list.front().space.name;
    }

    Shape shape;
    bool tiny, units;
    Values values;
    std::vector<Form> list;
    std::string frugal_form;  ///< where a thread may have a product for itself, it has one; else the first

  private:
    Form form_of(const Mapping& mapping, const Problem& problem, const Limits& limits) const {
        std::vector<Tunable> tunables = tunables_of(mapping.name, shape, values, stream_mapping().applies(shape, limits));
        std::vector<Assignment> safe = taken(frugal(shape, mapping.name, values), tunables);
        std::vector<std::string> others;
        for (std::size_t i = 0; i + 1 < tunables.size(); ++i) others.push_back(tunables[i].name);
        const auto conflict = [shape = shape, mapping](const Config& config) -> Violation {
            const std::string reason = mapping.conflict(shape, config);
            return reason.empty() ? std::nullopt : Violation(reason);
        };
        const auto large_code = [shape = shape, mapping](const Config& config) {
            return too_many(mapping.resources(shape, config).code, largest_code, "unrolled multiply-adds");
        };
        return {.space = {.name = mapping.name,
                          .help = mapping.help,
                          .tunables = std::move(tunables),
                          .constraints = {{"conflict", conflict, others}, {"code_size", large_code, others}},
                          .safe = std::move(safe),
                          .former = [name = mapping.name](const Config& config) { return config.has("mapping", name); },
                          .count = mapping.cycles == nullptr
                                       ? std::function<double(const Config&)>()
                                       : [shape = shape, limits, mapping](const Config& config) { return mapping.cycles(shape, config, limits); },
                          .ruled = mapping.cycles != nullptr},
                .resources = [shape = shape, mapping](const Config& config) { return mapping.resources(shape, config); },
                .kernel = [problem, limits, mapping](const Config& config) { return mapping.kernel(problem, config, limits); }};
    }
};

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    Choice choice(problem, limits);
    Forms forms{std::move(choice.list), choice.frugal_form};
    if (choice.tiny) return forms;
    // What suits the shape runs untuned, where the device can hold it: the first of these that is a
    // member.
    constexpr int few_rows = 32, widest = 256;  // columns of a block, which has one product where that has more
    const Shape& shape = choice.shape;
    const bool many = shape.shared_b && shape.m <= few_rows && (shape.n <= widest || !suits_rows_of_all(shape));
    const Suggestion suited = many ? many_in_a_block(shape, choice.values, choice.units) : tile_of_c(shape, choice.values, choice.units);
    const SearchSpace space = space_of(forms.list, limits, forms.safe);
    std::vector<Suggestion> suggestions{stream_of_rows(shape, choice.values)};
    if (choice.units && reads_b_again(shape)) {
        for (Suggestion& suggestion : rows_of_all(shape, choice.values)) suggestions.push_back(std::move(suggestion));
    }
    const std::size_t by_rule = suggestions.size();
    suggestions.push_back(suited);
    for (const Suggestion& suggestion : suggestions) {
        for (Form& form : forms.list) {
            if (suggestion.front().value != Value(form.space.name)) continue;
            FormSpace entered = form.space;
            entered.safe = taken(suggestion, entered.tunables);
            if (space.check(space.entry(entered))) continue;
            const bool counted = &suggestion == &suggestions[by_rule] && form.space.count && !follows_chunks(shape);
            form.space.safe = counted ? faster_by_count(space, form, entered.safe, limits) : std::move(entered.safe);
            forms.safe = form.space.name;
            return forms;
        }
    }
    return forms;
}

}  // namespace hone::inline v0_1::gemm
