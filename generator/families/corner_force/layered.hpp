#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "generator/families/corner_force/plan.hpp"

namespace hone::corner {

/// form=layered of CUDA: one launch that sweeps a zone's points in layers across the last axis, `splits` layers at a time, each point by a thread.
/// Derivatives, physics and all sums of a layer stay in shared memory, so that a zone of any order fits.
bool is_layered(const Config& config);

/// Where its half-way results lie in shared memory, in words. Distances are such that a warp's accesses go to different banks.
struct LayeredLayout {
    explicit LayeredLayout(const Plan& plan);

    int fields;                                      ///< that are differentiated: components of x, v and w
    int rows;                                        ///< of points in the layers
    int layer_nodes, layer_energies, layer_rows;     ///< of one layer
    int node_pitch, energy_pitch, point_pitch;       ///< of rows
    int layer_pitch;                                 ///< of a layer's nodes
    int slot;                                        ///< of a number at all points of the layers
    bool folded;                                     ///< points of a row are exchanged, so that columns lie in different banks
    bool several;                                    ///< passes over layers, whose sums are added up
    int across_words, point_words, force_sum_words;  ///< of a zone
    int table_words, zone_pitch;                     ///< of a block, and from zone to zone

    std::int64_t shared_words(int zones) const { return table_words + std::int64_t{zones} * zone_pitch; }
};

/// Registers of a thread that its space counts with; the compiler is held to them.
int layered_registers(const Plan& plan);

/// What is not a member of its space, beside the device's limits; nothing where all is well.
std::optional<std::string> layered_violation(const Shape& shape, const Config& config);

/// The text of its kernel.
std::string layered_text(const Plan& plan, const Block& of_banner, const Block& constants, const Block& of_barrier);

}  // namespace hone::corner
