#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "generator/families/dg/passes/passes.hpp"
#include "generator/render.hpp"
#include "generator/residency.hpp"

namespace hone::inline v0_1::dg {

/// The parts of a right-hand side that a pass computes.
struct Parts {
    bool volume = false;
    bool surface = false;
};

inline Parts parts_of(const Pass& pass) {
    return {pass.volume, pass.surface};
}

/// A way's own part of the piece dg/passes/kernel.cu/entry, for one pass: blocks for its holes, and
/// the flags that are set.
struct PassText {
    Holes holes;
    std::set<std::string> flags;
};

/// A way in which the blocks of a CUDA launch make right-hand sides: one row of `cuda_ways()`.
struct Way {
    std::string name;
    std::string help;
    bool (*applies)(const Shape&, const std::vector<Pass>&, const Limits&);
    /// Tunables, what they refuse, the safe configuration and `former`; all but the name, and what
    /// passes of a fusion share.
    FormSpace (*space)(const Shape&, const std::vector<Pass>&, const Limits&);
    /// Demand on the device of a block that computes these parts.
    BlockResources (*resources)(const Shape&, const Config&, const Parts&);
    /// Constants at the head of the text.
    Block (*constants)(const Plan&);
    /// Whether copies of nodal values, where a configuration works on parts, need only divide what
    /// a block has of them.
    bool copies_blocks = false;
    /// Adds the tables with D and LIFT, if any, to the plan's source, and counts the operations
    /// that it executes.
    void (*add_operators)(Plan&);
    PassText (*text)(const Plan&, const Pass&);
};

std::vector<Way> cuda_ways();

Way tile_way();       ///< a thread has a tile of nodes x elements
Way warp_tile_way();  ///< a warp has a tile of nodes x elements, cut into its lanes' tiles
Way mma8_way();       ///< its tile is 8 x 8, on the matrix units in f64
Way mma_way();        ///< a warp has tiles of the matrix units, in f64
Way tf32_way();       ///< the same in f32, by three products of TF32
Way immediate_way();  ///< a thread has a part of an element, with D and LIFT in the code

/// Whether one launch has all parts of a right-hand side.
bool fuses_all(const std::vector<Pass>& passes);
/// Up to here memory sets the limit, and the fields and fluxes of a block of elements fit any
/// device's shared memory.
constexpr int most_nodes_of_fused_blocks = 20;

/// The kernel of a plan whose right-hand sides are made in a way.
KernelSource pass_cuda_kernel(Plan plan, const Way& way);

/// What the tunable `operator` says in all ways that have it.
constexpr const char* operator_help =
    "where D and LIFT are held: read-only loads, or shared memory; derivatives: D in shared memory, by a bulk copy behind the fluxes, LIFT by loads; "
    "staged: what a warp takes of both comes through shared memory, some trips ahead";

/// Tunables that all ways have, with the same meaning.
Tunable elements_per_block_tunable(std::vector<Value> values);
Tunable copy_tunable();
Tunable lift_tunable();
Tunable residency_tunable(const Shape& shape, const Limits& limits);
/// Numbers of elements that a block can have.
std::vector<Value> block_sizes(const Shape& shape, int multiple_of);

/// Constants: threads of a block and blocks of a multiprocessor; vectors and copies.
Block block_constants(std::int64_t threads, const Config& config);
Block copy_constants(const Shape& shape, const Config& config);

}  // namespace hone::inline v0_1::dg
