#include "generator/families/batched_gemm/untuned.hpp"

#include <algorithm>
#include <utility>

namespace hone::inline v0_1::gemm {
namespace {

// Values for a form, which the first says; it takes those of its tunables, also by the names that
// these had when forms shared them.
using Suggestion = std::vector<Assignment>;

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

// What suits the shape, the best first. `by_rule` are those that are taken as they are.
struct Suggestions {
    std::vector<Suggestion> list;
    std::size_t by_rule = 0;

    Suggestions(const Shape& shape, const Limits& limits) {
        constexpr int few_rows = 32, widest = 256;  // columns of a block, which has one product where that has more
        const Values values(shape, limits);
        const bool units = has_matrix_units(shape, limits);
        const bool many = shape.shared_b && shape.m <= few_rows && (shape.n <= widest || !suits_rows_of_all(shape));
        list.push_back(stream_of_rows(shape, values));
        if (units && reads_b_again(shape))
            for (Suggestion& suggestion : rows_of_all(shape, values)) list.push_back(std::move(suggestion));
        by_rule = list.size();
        list.push_back(many ? many_in_a_block(shape, values, units) : tile_of_c(shape, values, units));
    }
};

}  // namespace

void choose_untuned(Forms& forms, const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const Suggestions suggestions(shape, limits);
    const SearchSpace space = space_of(forms.list, limits, forms.safe);
    for (std::size_t i = 0; i < suggestions.list.size(); ++i) {
        const Suggestion& suggestion = suggestions.list[i];
        const auto form =
            std::find_if(forms.list.begin(), forms.list.end(), [&](const Form& one) { return suggestion.front().value == Value(one.space.name); });
        if (form == forms.list.end()) continue;
        FormSpace entered = form->space;
        entered.safe = assigned(entered.tunables, suggestion);
        if (space.check(space.entry(entered))) continue;
        const bool counted = i >= suggestions.by_rule && form->space.count && !follows_chunks(shape);
        form->space.safe = counted ? faster_by_count(space, *form, entered.safe, limits) : std::move(entered.safe);
        forms.safe = form->space.name;
        return;
    }
}

}  // namespace hone::inline v0_1::gemm
