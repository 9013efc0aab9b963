#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/families/corner_force/shape.hpp"

namespace hone::inline v0_1::corner {

/// One launch over the zones.
struct Pass {
    enum class Kind {
        zone,             ///< whole zones, axis by axis: any of the three parts below
        gradients,        ///< derivatives of fields along the reference axes, stored; one field at a time
        dense_gradients,  ///< kernel 3 of the paper: the same by products with a matrix of all nodes and points
        columns,          ///< kernels 4 to 6: A stored, column by column
        corner,           ///< kernel 7: F = A B^T
        sums,             ///< kernel 8: F.1
        products          ///< kernel 10: F^T w
    };
    /// Whether it goes over whole zones, rather than being one of the paper's dense products.
    bool of_zones() const { return kind == Kind::zone || kind == Kind::gradients; }
    /// Whether the stress comes from another pass.
    bool takes_stress() const { return !points && (momentum || work || assembly || kind == Kind::columns); }

    Kind kind = Kind::zone;
    std::string entry;
    bool points = false;    ///< kernels 1 and 2: the physics at the points
    bool momentum = false;  ///< F.1 from the stress
    bool work = false;      ///< F^T w from the stress
    bool assembly = false;  ///< F from the stress, axis by axis
    bool of_w = false;      ///< gradients: of w rather than of x and v
};

/// Derivatives of x and v, or of w, stored.
Pass gradients_of_gas();
Pass gradients_of_w();
/// All that a result needs in one launch.
Pass all_at_once(const Shape& shape, const std::string& form);

/// A form that is made of passes over whole zones and of dense products, on every target.
struct PassForm {
    std::string name;
    std::string help;
    /// `stored`: derivatives are, by a pass before those that take them.
    std::vector<Pass> (*passes)(const Shape& shape, bool stored);
    bool may_store = false;  ///< its configurations choose whether derivatives are stored
};

/// What a kernel of any form and target is made of.
struct ZoneKernel {
    ZoneKernel(const Shape& of_zones, Target of_target, std::vector<Pass> its_passes);

    Shape shape;
    Target target;
    std::vector<Pass> passes;
    int points_per_pass = 1;  ///< of a column, whose derivatives a thread sums up together
    int splits = 1;           ///< threads that share a column of points
    int team = 1;             ///< threads of a zone
    bool jacobi = false;      ///< eigenvalues by rotations

    bool has(Pass::Kind kind) const;
    /// Derivatives come from memory rather than from the zone's own sums.
    bool stored() const { return has(Pass::Kind::gradients) || has(Pass::Kind::dense_gradients); }
    /// The stress is in memory: an array, or it goes from pass to pass.
    bool stress_in_memory() const;
    /// A and F are in memory, and kernels multiply dense matrices.
    bool dense() const { return has(Pass::Kind::corner); }
    bool makes_corner() const { return dense() || shape.keeps_corner(); }
    /// Components whose sums a zone makes together.
    int together() const { return stored() ? 1 : shape.dimension; }
};

/// Coefficients of the last axis that the assembly of F works on at a time: as many as leave
/// half-way results of some dozen kilobytes.
int slab_energies(const Shape& shape);

/// Words of a zone's half-way results in a pass, one after another.
struct Buffers {
    Buffers(const ZoneKernel& kernel, const Pass& pass);
    int words() const { return lines + planes + energy_lines + energy_plane + powers + rates + kept + across + along; }

    int lines = 0, planes = 0, energy_lines = 0, energy_plane = 0, powers = 0, rates = 0, kept = 0, across = 0, along = 0;
};

}  // namespace hone::inline v0_1::corner
