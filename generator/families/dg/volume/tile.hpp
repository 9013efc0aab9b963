#pragma once

#include <cstdint>

#include "generator/families/dg/volume/cuda.hpp"

namespace hone::inline v0_1::dg {

/// Where a tile's kernel has the operator: the values of the tunable `operator`, or its rows of a
/// thread's node in registers.
enum class OperatorIn { global, shared, staged, registers };

/// What the forms tile and rows have in common: a register tile of nodes x elements per thread,
/// operator and fields streamed past it. Template: dg/volume/tile.cu.
struct TileKernel {
    TileKernel(const Shape& of, const Config& config, int of_nodes, OperatorIn place);

    Shape shape;
    const Algebra* whole;
    const Algebra* algebra;  ///< of a pass
    int nodes_per_thread, elements_per_thread, elements_per_block;
    OperatorIn operator_in;
    int elements_per_trip;  ///< accumulated at a time
    int group;              ///< neighbouring nodes of a thread: one 16-byte load of the operator
    int unroll, min_blocks;
    int pack;  ///< coefficients of one node that are loaded at a time, Dr, Ds, Dt and a zero, or Dr and Ds
    int node_lanes, element_lanes, warps_along_nodes, warps_along_elements;
    int nodes_padded;  ///< columns of the operator's table
    int inner;         ///< rows of the table: nodes rounded up to `unroll` or to a staged chunk
    int row;           ///< stride between elements in shared memory

    bool in_registers() const { return operator_in == OperatorIn::registers; }
    int element_groups() const { return elements_per_block / elements_per_thread; }
    int threads() const { return 32 * warps_along_nodes * warps_along_elements; }
    int loads_per_thread() const;
    /// One node per thread loads its coefficients as one packed vector; otherwise a vector holds
    /// neighbouring nodes.
    bool packed() const { return nodes_per_thread == 1; }
    int operator_column() const { return (packed() ? pack : shape.dimension) * nodes_padded; }
    int operator_words() const { return inner * operator_column(); }
    int operator_words_shared() const;
    /// Factors lie between fields and operator; the operator starts at a multiple of 16 bytes.
    int factor_words() const { return round_up(elements_per_block * algebra->factor_count(), 4); }

    Reason layout_violation() const;
    BlockResources resources() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

/// A form of such kernels.
template <typename Kernel>
Form tile_form_of(const Problem& problem, FormSpace space) {
    std::vector<std::string> read = all_but_min_blocks(space);
    space.constraints = {{"layout", [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).layout_violation(); }, read}};
    return counted_form<Kernel>(problem, std::move(space), std::move(read));
}

}  // namespace hone::inline v0_1::dg
