#pragma once

#include "generator/families/acoustics_staggered/cuda.hpp"

namespace hone::inline v0_1::acoustics {

/// One time step, layer after layer: the forms cached, march, exchanged and bulk. Templates:
/// march.cu for the halves of a step, step.cu for both.
struct March : CudaKernel {
    /// How values reach a thread.
    struct How {
        bool in_registers;             ///< those of the layers around are there; else they are loaded
        bool exchanged;                ///< new velocities of the layer go through shared memory
        std::int64_t whole_words = 1;  ///< groups beside a row are exchanged in multiples of so many words
    };

    March(const Grid& of_grid, const Config& config, const How& how_values_come);

    How how;
    bool prefetch;  ///< layers are read before they are needed

    /// Groups of a thread that a block needs beside its cells in a row, for values up to `reach`
    /// cells away.
    std::int64_t groups_beside(std::int64_t reach) const;
    /// Those that hold what the block's cells need of new velocities, at both sides.
    std::int64_t groups_exchanged() const;
    /// Shared memory in which new velocities are exchanged.
    std::int64_t exchange_bytes() const;

    BlockCells block_cells() const;
    std::int64_t shared_bytes() const { return exchange_bytes(); }
    int registers() const;
    /// constexpr int groups_left, groups_right: nothing where nothing is exchanged.
    Block exchange_constants() const;
    Block own_constants() const { return constants(exchange_constants(), true); }
    Parts parts() const { return {.in_registers = how.in_registers, .exchanged = how.exchanged, .prefetch = prefetch}; }
};

}  // namespace hone::inline v0_1::acoustics
