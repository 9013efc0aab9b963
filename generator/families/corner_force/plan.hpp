#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/families/corner_force/shape.hpp"
#include "generator/family.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"

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

    Kind kind = Kind::zone;
    std::string entry;
    bool points = false;    ///< kernels 1 and 2: the physics at the points
    bool momentum = false;  ///< F.1 from the stress
    bool work = false;      ///< F^T w from the stress
    bool assembly = false;  ///< F from the stress, axis by axis
    bool of_w = false;      ///< gradients: of w rather than of x and v
};

/// A step as passes.
struct Plan {
    Plan(const Problem& of_problem, const Config& of_config, Target of_target);

    bool has(Pass::Kind kind) const;
    /// Derivatives come from memory rather than from the zone's own sums.
    bool stored() const { return has(Pass::Kind::gradients) || has(Pass::Kind::dense_gradients); }
    /// The stress goes from pass to pass.
    bool stress_in_memory() const;
    /// A exists in memory.
    bool columns_in_memory() const { return has(Pass::Kind::columns); }
    int number(std::string_view name) const { return static_cast<int>(config.integer(name)); }
    /// F is made, by one form or another.
    bool makes_corner() const;
    /// Threads that share a column of points.
    int splits() const { return static_cast<int>(integer_or(config, "splits", integer_or(config, "layers", 1))); }
    /// Threads of a zone: one alone where a form does not say how many zones a block of threads
    /// has.
    int team() const { return config.find("zones_per_block") == nullptr ? 1 : shape.columns() * splits() / points_of_thread(); }
    /// Points of a layer that a thread of form layered has.
    int points_of_thread() const { return config.has("derivatives", "paired") ? 2 : 1; }
    /// Components whose sums a zone makes together.
    int together() const { return stored() ? 1 : shape.dimension; }

    Problem problem;
    Config config;
    Target target;
    Shape shape;
    std::vector<Pass> passes;
};

/// Coefficients of the last axis that the assembly of F works on at a time: as many as leave
/// half-way results of some dozen kilobytes.
int slab_energies(const Shape& shape);

/// Words of a zone's half-way results in a pass, one after another.
struct Buffers {
    Buffers(const Plan& plan, const Pass& pass);
    int words() const { return lines + planes + energy_lines + energy_plane + powers + rates + kept + across + along; }

    int lines = 0, planes = 0, energy_lines = 0, energy_plane = 0, powers = 0, rates = 0, kept = 0, across = 0, along = 0;
};

/// A form that is made of passes over whole zones and of dense products, on every target.
struct PassForm {
    std::string name;
    std::string help;
};
/// Those that a result has, the plainest first.
std::vector<PassForm> pass_forms(const Shape& shape);
/// Whether a form has F as the product of dense matrices.
bool is_dense(const std::string& form);
/// How eigenvalues of 3 x 3 matrices are found: for forms of passes with physics in three
/// dimensions.
bool decomposes(const Shape& shape);
Tunable decomposition();
/// Of the derivatives along a column; a form has some of these values.
Tunable points_per_pass(std::vector<std::int64_t> values);

Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

/// Pieces that both targets share. Texts call a number of the target `value`: a word of one zone on
/// a GPU, a vector of neighbouring zones on a CPU.
Block banner(const Plan& plan, double executed_operations);
Block shape_constants(const Plan& plan);
/// The whole text of a form of passes, whose entries `passes` has. `holes` are the target's.
std::string kernel_text(const Plan& plan, Block passes, Holes holes);
/// Basis functions of an axis, as tables.
Block axis_tables(const Shape& shape, Target target);
/// The same as objects of `AxisTable<length, sign>`, which have their even and odd parts, too.
Block axis_parts(const Shape& shape, Target target);
/// Where a zone's half-way results lie in `buffer`.
Block buffer_pointers(const Buffers& buffers);
/// The entry of a pass; half-way results of one over whole zones lie in `buffers`. `holes` are the
/// target's.
Block pass_text(const Plan& plan, const Pass& pass, Block buffers, Holes holes);
/// `name(const real* restrict x, ..., int first, int last[, ...]) {`.
Block signature(const Plan& plan, const Pass& pass);
/// Arrays, tables, what is executed.
KernelSource make_source(const Plan& plan);
std::string pass_comment(const Pass& pass);

}  // namespace hone::inline v0_1::corner
