#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "generator/families/dg/halves.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/passes/tile.hpp"
#include "generator/render.hpp"

namespace hone::dg {

// operator=immediate: low orders, where memory sets the limit. A lane is an element, a warp makes one half of the right-hand sides of its elements,
// at all nodes or at some, and the coefficients of D and LIFT are immediates of the instructions, so that a multiply-add loads nothing and what the
// shared memory has to carry is the fields and the fluxes once.

inline bool immediate(const Config& config) {
    return chosen(config, "operator", "immediate");
}

/// How such a kernel lays a block of elements out.
struct ImmediateLayout {
    int elements_per_block, copy_width;
    int in_flight;       ///< points of faces whose gathers a thread has under way together
    int node_parts;      ///< threads that share the nodes of a half
    int nodes_per_part;  ///< the last may have fewer
    int row;             ///< stride between elements' fields in shared memory
    int flux_row;        ///< stride between the fields of an element's fluxes
    int result_row;      ///< stride between elements' fluxes, which their right-hand sides replace
    int flux_groups;     ///< elements whose points the threads of a block work on side by side
    int geometry_words;  ///< of an element
    int copies;          ///< of `copy_width` words that a thread makes to write what a block writes to an array

    ImmediateLayout(const Shape& shape, const Config& config);
    int threads() const { return 2 * node_parts * elements_per_block; }
    std::int64_t shared_words(const Parts& parts) const;
};

/// Fused multiply-adds that stand in the text.
std::int64_t immediate_code(const Shape& shape, const Parts& parts);
/// An estimate of the 32-bit registers of a thread.
int immediate_registers(const Shape& shape, const Config& config, const Parts& parts);
/// Why the values of a configuration with operator=immediate do not go together, or nothing.
std::optional<std::string> immediate_violation(const Shape& shape, const Config& config, const Parts& parts);

/// Pairs of node and column that such a kernel applies Dr, and likewise Ds and Dt, and LIFT to: coefficients that are not zero.
int immediate_volume_pairs(const Shape& shape);
int immediate_surface_pairs(const Shape& shape);

/// The constants of the text, operators included.
Block immediate_constants(const Plan& plan);
/// The holes of the template dg/passes/immediate.cu, which makes a pass's right-hand sides, but for those of the fluxes.
void add_immediate(Holes& holes, const Plan& plan, const Pass& pass);
/// The array that a pass adds its right-hand sides to, a part of which each thread has in registers, `ahead[trip]`, before it makes them; or "".
std::string immediate_ahead(const Pass& pass);
/// Where the loop over the block's words finds word `i` of the right-hand sides, and of the fields that a pass with a volume part has in shared
/// memory.
std::string immediate_result_place();
std::string immediate_field_place();

}  // namespace hone::dg
