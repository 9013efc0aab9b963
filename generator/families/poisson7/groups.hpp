#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/families/poisson7/cuda.hpp"

namespace hone::inline v0_1::poisson {

/// What a thread of the forms cells, march and shared has: groups of neighbouring cells, one in
/// each of some rows. Template: poisson7/groups.cu.
struct Groups {
    Groups(const Grid& grid_of_problem, const Config& config);

    Grid grid;
    std::int64_t block_x, block_y, load_bytes, rows_per_thread, min_blocks, z_block;
    bool streaming;  ///< words that are used once pass by the caches

    std::int64_t threads() const { return block_x * block_y; }
    std::int64_t words() const { return load_bytes / grid.word(); }  ///< of a group
    /// How many groups of words a thread has where it holds this many planes.
    std::int64_t groups_of_words(std::int64_t planes) const;
    /// About how many 32-bit registers these are, and what else a thread needs.
    int registers(std::int64_t groups) const { return static_cast<int>((groups + 2) * load_bytes / 4); }

    /// Tunables of all three forms, what they refuse, and their safe values.
    static FormSpace space(const Grid& grid);
    /// The constants of a kernel, with the form's `own` between those of its blocks and its sums.
    Block constants(const Block& own) const;
    Holes holes(const Problem& problem, const Config& config, const Block& constants) const;
    Flags flags() const;
    /// The kernel of a text, with its launches.
    KernelSource source(const Problem& problem, std::string text) const;
};

/// A block that goes up along z and passes planes on in registers: march and shared. Template:
/// poisson7/planes.cu.
struct Planes : Groups {
    Planes(const Grid& grid_of_problem, const Config& config);

    std::int64_t prefetch;   ///< planes that a thread loads before it needs them
    std::int64_t l2_planes;  ///< from asking the second cache for one to loading it; 0: it is not asked

    int registers() const { return Groups::registers(groups_of_words(1 + prefetch)); }

    static FormSpace space(const Grid& grid, const Limits& limits);
    /// The only tunables that threads, shared memory and registers depend on.
    static std::vector<std::string> resources_read() { return {"block_x", "block_y", "load_bytes", "rows_per_thread", "prefetch"}; }
    Block own_constants() const;
    Holes holes(const Problem& problem, const Config& config, const Block& constants) const;
    Flags flags() const;
};

}  // namespace hone::inline v0_1::poisson
