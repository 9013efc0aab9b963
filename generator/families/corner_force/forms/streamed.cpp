#include "generator/families/corner_force/cuda.hpp"
#include "generator/families/device/cuda_copies.hpp"

// Zones stream through warps, each by itself: a thread has a line of a zone's points along the
// first axis, whose derivatives and sums stay in its registers. Zones of a later pass are copied
// into shared memory meanwhile.

namespace hone::inline v0_1::corner {
namespace {

constexpr int lane_pitch = warp + 1;  // of numbers that all lanes have, so that several of one lane lie in different banks
constexpr int settings_words = 4;

struct Streamed : ZoneKernel {
    Streamed(const Shape& of_zones, const Config& config)
        : ZoneKernel(of_zones, Target::cuda, {all_at_once(of_zones, "streamed")}),
          warps_per_block(static_cast<int>(config.integer("warps_per_block"))),
          passes_of_warp(static_cast<int>(integer_or(config, "passes", 1))),
          unrolled_pairs(static_cast<int>(integer_or(config, "unrolled_pairs", 1))),
          min_blocks(static_cast<int>(integer_or(config, "min_blocks", 1))),
          w_in_shared(config.has("w_in", "shared")) {}

    int warps_per_block;
    int passes_of_warp;  // groups of zones that a warp works on one after another
    int unrolled_pairs, min_blocks;
    bool w_in_shared;  // values and slopes of w

    int threads() const { return warp * warps_per_block; }
    int zones_of_warp() const { return warp / shape.points_along; }
    // Words from zone to zone in shared memory: the zones of half a warp lie in different banks.
    int zone_pitch() const { return padded(3 * shape.vector_words() + shape.energies(), shape.points_along, 128 / shape.bytes()); }

    std::int64_t shared_bytes() const {
        const int n = shape.nodes_along;
        const int points = 5 * shape.points_along;          // of a line: the Jacobian's inverse at the start, and the mass
        const int made = 4 * n + shape.energies_along + 1;  // a line's forces, work and bound on dt
        const int of_warp = zones_of_warp() * zone_pitch() + (points + made) * lane_pitch;
        return (std::int64_t{warps_per_block} * of_warp + shape.points_along * (2 * n + shape.energies_along) + settings_words) * shape.bytes();
    }

    BlockResources resources() const {
        // Values and slopes of six fields and what is summed up, less what the compiler keeps in
        // shared memory.
        const int held = 12 * shape.nodes_along + 4 * shape.nodes_along + 16;
        return {.threads = threads(), .shared_bytes = shared_bytes(), .registers = shape.bytes() / 4 * held};
    }

    Block own_constants() const {
        return Block().line(
            "constexpr int threads_per_block = {}, blocks_per_multiprocessor = {}, passes = {}, unrolled_pairs = {}, zone_pitch = {};", threads(),
            min_blocks, passes_of_warp, unrolled_pairs, zone_pitch());
    }

    Launch launch() const {
        Launch result;
        result.entry = passes.front().entry;
        result.range_axis = 0;
        result.range_per_block = std::int64_t{warps_per_block} * zones_of_warp() * passes_of_warp;
        result.grid[0] = (shape.zones + result.range_per_block - 1) / result.range_per_block;
        result.block = {threads(), 1, 1};
        result.shared_bytes = shared_bytes();
        return result;
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        Flags flags{
            {"f32", shape.precision == Precision::f32}, {"solid", false}, {"branchless", true}, {"w_in_shared", w_in_shared}, {"kept_reads", false}};
        add_copies(flags, Copies::words_or_zeros);
        KernelSource source = common_source(*this, problem);
        source.step.push_back(launch());
        source.text = render("corner_force/streamed.cu",
                             {{"banner", banner(*this, problem, config)},
                              {"constants", numeric_constants(*this).append(own_constants())},
                              {"tables", axis_parts(shape, Target::cuda)},
                              {"entry", signature(*this, problem, passes.front())}},
                             flags);
        return source;
    }
};

}  // namespace

Form streamed_form(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    return cuda_form<Streamed>(
        problem,
        {.name = "streamed",
         .help = "points, forces and work in one launch: zones stream through warps, a thread for each line of points",
         .tunables = {{"warps_per_block", "warps of a block, each with zones of its own", numbers({1, 2, 4, 8})},
                      {"passes", "groups of zones that a warp works on one after another", numbers({1, 2, 4, 8, 16, 32})},
                      {"unrolled_pairs", "pairs of points of a line whose code is written one after another", numbers({1, shape.order})},
                      {"w_in",
                       "where a line keeps values and slopes of w: registers; shared: in shared memory, which leaves registers to the physics",
                       words({"registers", "shared"}), Value("registers")},
                      min_blocks_tunable({1, 2, 3, 4, 5, 6, 8, 10, 12, 16})},
         .safe = {{"warps_per_block", std::int64_t{4}},
                  {"passes", std::int64_t{4}},
                  {"unrolled_pairs", std::int64_t{1}},
                  {"w_in", "registers"},
                  {"min_blocks", std::int64_t{1}}}},
        {"warps_per_block"});
}

}  // namespace hone::inline v0_1::corner
