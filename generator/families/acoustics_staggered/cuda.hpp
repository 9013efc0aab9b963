#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/acoustics_staggered/forms.hpp"
#include "generator/render.hpp"

// What the forms on CUDA have in common.

namespace hone::inline v0_1::acoustics {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

constexpr std::int64_t warp = 32;
constexpr std::int64_t sector_bytes = 32;  ///< that memory moves at a time
constexpr std::int64_t copy_bytes = 16;    ///< of a copy past the registers

/// A block's part of a plane, in cells along x and y (1 in 2D), without those that it computes only
/// for its neighbours.
struct BlockCells {
    std::int64_t x, y;
};

/// What of the templates a kernel has.
struct Parts {
    bool levels = false;       ///< several time steps of one pass, in 2D
    bool planes = false;       ///< planes are in shared memory
    bool in_registers = true;  ///< values of the layers around are
    bool exchanged = false;    ///< new velocities of the layer go through shared memory
    bool by_warps = false;     ///< of several time steps: a warp is a tile of its own
    bool bulk = false;         ///< rows come by bulk copies
    bool prefetch = false;     ///< layers are read before they are needed
    bool kept_reads = false;   ///< the second cache gives up what is copied last
    bool paced = false;        ///< blocks wait for their neighbours
};

/// What all kernels are made of: a grid and a configuration.
struct CudaKernel {
    CudaKernel(const Grid& of_grid, const Config& config);

    Grid grid;
    std::int64_t block_x, block_y;  ///< in 2D a march that holds layers has one row of threads
    std::int64_t points_per_thread, layers_per_block, unroll, min_blocks;
    bool streaming_stores;

    std::int64_t threads() const { return block_x * block_y; }
    /// Words beside a tile's rows in shared memory, for values around faces and cells that are up
    /// to `reach` cells away: whole groups of a thread, and whole sectors of memory.
    std::int64_t words_beside(std::int64_t reach) const;
    /// Columns of blocks of so many cells.
    std::int64_t columns(const BlockCells& cells) const;
    /// Layers that a block takes one after the other: what the configuration says, or an equal
    /// share if that is 0.
    std::int64_t layers(const BlockCells& cells, const Limits& limits) const;
    Block constants(const Block& own, bool by_rows_of_threads) const;
    Flags flags(const Parts& parts) const;
    /// What a form makes of these: its constants, its flags, its launch.
    KernelSource source(const Problem& problem, const Config& config, const Block& constants, const Parts& parts) const;
    Launch launch(const std::string& entry, const BlockCells& cells, std::int64_t layers, std::int64_t shared_bytes) const;
};

/// Layers below which filling the registers takes longer than the march.
std::int64_t shortest_march(const Grid& grid);
/// Words of a row from `before` a thread's points to `after` behind them, in whole groups.
std::int64_t span(std::int64_t points, std::int64_t before, std::int64_t after);
/// constexpr int lead = ...; nothing where blocks do not wait.
void add_lead(Block& block, std::int64_t max_lead);

/// What sets the space of a form of one time step apart from the others.
struct MarchSpace {
    std::string name, help;
    std::string former;           ///< value of the tunable `staging` that it had
    bool rows_of_threads = true;  ///< along y
    bool ahead = true;            ///< layers may be read before they are needed
    bool copies = false;          ///< layers come into shared memory, in stages
    bool keeps_pace = false;      ///< blocks may wait for their neighbours
    bool rows_per_thread = false;
};
FormSpace march_space(const Grid& grid, const MarchSpace& march);

/// Rules that several forms have.
Constraint aligned_points(const Grid& grid);
Constraint long_march(std::int64_t least);
Constraint lead_of_a_block();
Constraint kept_reads();

/// The tunables that a block's demand on a device depends on, of those that the form has.
std::vector<std::string> read_by_resources(const FormSpace& form);

/// A form whose kernels are of a type that is made of the grid and a configuration, once.
template <typename Kernel>
Form cuda_form(const Problem& problem, const Limits& limits, FormSpace space) {
    const Grid grid(problem);
    Form form;
    form.resources_read = read_by_resources(space);
    form.space = std::move(space);
    form.resources = [grid](const Config& config) {
        const Kernel kernel(grid, config);
        return BlockResources{.threads = kernel.threads(), .shared_bytes = kernel.shared_bytes(), .registers = kernel.registers()};
    };
    form.kernel = [problem, grid, limits](const Config& config) {
        const Kernel kernel(grid, config);
        const BlockCells cells = kernel.block_cells();
        KernelSource source = kernel.source(problem, config, kernel.own_constants(), kernel.parts());
        source.step = {kernel.launch(source.entries.front(), cells, kernel.layers(cells, limits), kernel.shared_bytes())};
        return source;
    };
    return form;
}

/// How many threads compute for each that a tile's own cells need, which is how long several steps
/// of a pass take: of 64 cells, 42 around three steps of order 8.
template <typename Kernel>
std::function<double(const Config&)> count_of_tiles(const Grid& grid) {
    return [grid](const Config& config) {
        const Kernel kernel(grid, config);
        const BlockCells own = kernel.block_cells(), all = kernel.tile_cells();
        return static_cast<double>(all.x * all.y) / static_cast<double>(own.x * own.y);
    };
}

}  // namespace hone::inline v0_1::acoustics
