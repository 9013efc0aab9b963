#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "generator/families/dg/matrix_units.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/families/dg/tiling.hpp"

namespace hone::dg {

/// Spaces without a choice do not have every tunable: is there one of that name, and this its value?
bool chosen(const Config& config, std::string_view name, std::string_view word);

inline bool on_matrix_units(const Config& config) {
    return chosen(config, "mapping", "mma") || chosen(config, "mapping", "tf32");
}

/// What a pass has of a right-hand side.
struct Parts {
    bool volume = false;
    bool surface = false;
};

/// How a configuration of a CUDA kernel of a stage's passes cuts the work of a block of elements.
struct StageTile {
    int elements_per_block, nodes_per_thread, elements_per_thread, unroll, copy_width;
    int node_threads, nodes_padded;
    int field_columns, flux_columns;  ///< columns of D and of LIFT, and values of a row that are read
    int field_row, flux_row;          ///< stride between elements in shared memory
    bool shared_operator;
    bool mma;               ///< on the matrix units
    bool traces_in_shared;  ///< fields stay in shared memory until the fluxes, in a place of their own, are made

    StageTile(const Shape& shape, const Config& config)
        : elements_per_block(number(config, "elements_per_block")),
          nodes_per_thread(number(config, "nodes_per_thread")),
          elements_per_thread(number(config, "elements_per_thread")),
          unroll(number(config, "unroll")),
          copy_width(number(config, "copy_width")),
          shared_operator(config.word("operator") == "shared"),
          mma(on_matrix_units(config)),
          traces_in_shared(chosen(config, "traces", "shared")) {
        const int step = mma ? mma_columns : unroll;
        node_threads = (shape.nodes + nodes_per_thread - 1) / nodes_per_thread;
        nodes_padded = mma ? round_up(shape.nodes, mma_nodes) : node_threads * nodes_per_thread;
        field_columns = round_up(shape.nodes, step);
        flux_columns = round_up(shape.face_points(), step);
        // An odd number of vectors keeps neighbouring elements in different banks.
        field_row = (field_columns / step | 1) * step;
        flux_row = (flux_columns / step | 1) * step;
    }

    int tasks() const { return nodes_padded / mma_nodes * column_groups(); }
    int column_groups() const { return std::max(1, elements_per_block / (mma_elements * elements_per_thread)); }
    /// As many warps as there are tasks, up to 16; then as many as share them evenly.
    int warps() const {
        const int rounds = (tasks() + 15) / 16;
        return std::max(4, (tasks() + rounds - 1) / rounds);
    }
    int element_groups() const { return elements_per_block / elements_per_thread; }
    int threads() const { return mma ? warps() * mma_lanes : node_threads * element_groups(); }
    /// Values per field and element of the place that fields, fluxes and right-hand sides take in turns.
    int place(const Shape& shape, const Parts& parts) const {
        const int operands = traces_in_shared ? field_row + flux_row : std::max(parts.volume ? field_row : 0, parts.surface ? flux_row : 0);
        return mma ? operands : std::max(operands, shape.nodes);
    }
    /// Right-hand sides of the matrix units have a place of their own.
    int out_words(const Shape& shape) const { return mma ? elements_per_block * shape.words() : 0; }
};

/// Threads of a block that makes right-hand sides.
int block_threads(const Shape& shape, const Config& config);
/// Dynamic shared memory of a pass that makes right-hand sides.
std::int64_t stage_shared_bytes(const Shape& shape, const Config& config, const Parts& parts);
/// The metric factors' part of it, in words.
int stage_factor_words(const Shape& shape, const StageTile& tile, const Parts& parts, const Config& config);

}  // namespace hone::dg
