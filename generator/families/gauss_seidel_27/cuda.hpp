#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::gauss_seidel {

using Reason = std::optional<std::string>;

constexpr std::int64_t warp = 32;
constexpr std::int64_t copy_threads = 128;  // of a block that only copies

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// Warps that share a row: lanes at both ends of each repeat points of the neighbouring warps, so
/// that neighbours come by shuffles.
struct OverlappingWarps {
    std::int64_t left_halo_lanes, right_halo_lanes;
    std::int64_t points_per_thread;

    /// With lanes for so many points at each end.
    static OverlappingWarps reaching(std::int64_t points, std::int64_t points_per_thread) {
        const std::int64_t lanes = divide_up(points, points_per_thread);
        return {lanes, lanes, points_per_thread};
    }
    /// Words of a row that a warp owns, and warps that own so many.
    std::int64_t words_per_warp() const { return (warp - left_halo_lanes - right_halo_lanes) * points_per_thread; }
    std::int64_t for_words(std::int64_t words) const { return divide_up(words, words_per_warp()); }
};

/// Where a kernel has the stencil: the values of the tunable `stencil_in`.
enum class StencilIn { registers, shared, read_only, streaming, by_value, copied };

/// The holes and flags of a template with those of the pieces that it uses.
struct Text {
    Holes holes;
    Flags flags;

    std::string of(const std::string& name) const { return render("gauss_seidel_27/" + name, holes, flags); }
};

/// What the kernels of all CUDA forms have in common, and pieces of their texts. A form's own
/// kernel is made of it with the form's tunables.
struct CudaKernel {
    CudaKernel(const Grid& of_grid, const Config& config);

    Grid grid;
    StencilIn stencil_in;
    std::int64_t min_blocks;
    std::int64_t points_per_thread = 1;
    std::int64_t block_x = warp, block_y = 1, block_z = 1;

    bool constant() const { return grid.stencil == Stencil::constant; }
    bool variable() const { return grid.stencil == Stencil::variable; }
    bool symmetric() const { return grid.stencil == Stencil::symmetric; }
    bool per_point() const { return grid.stencil_per_point(); }
    std::int64_t threads() const { return block_x * block_y * block_z; }
    /// About how many 32-bit registers a thread needs that keeps so many values of its own.
    int registers(std::int64_t values) const;

    /// Constants of all kernels, before a form's own.
    Block constants(const Block& own) const;
    /// Parameters of an entry: `table` declares the kernel's own array, `constant` is the argument
    /// that differs between launches, if there is one.
    Block parameters(const std::string& table, const std::string& constant) const;
    /// The stencil of all points, as `s`; nothing where points or rows have their own.
    Block stencil_of_block() const;
    /// The stencil of the point whose coordinates are called so and lie in the grid, as `s`.
    Block stencil_of_point(const std::string& x, const std::string& y) const;
    /// What gauss_seidel_27/pieces.cu/coefficients needs: `struct Coefficients`, where s[k] is
    /// coefficient k of a point, s[13] the reciprocal of its centre. `split`: they lie in the table
    /// `packed`.
    void add_coefficients(Text& text, bool split = false) const;
    /// What gauss_seidel_27/pieces.cu/groups needs: aligned groups of words along a row, by the
    /// widest loads that a thread's points allow.
    void add_groups(Text& text) const;
    /// What both need where lines of 128 bytes are packed: words of a row of `packed`.
    std::int64_t line_words() const;

    /// A launch of this kernel's blocks, whose range is planes.
    Launch launch(const std::string& entry, Dim3 blocks, std::int64_t planes_per_block) const;
    /// A source with arrays, scalars, and what is passed by value.
    KernelSource source(const Problem& problem) const;
};

/// A form whose kernels are of a type that is made of the grid and a configuration, once, and knows
/// `resources()` and `kernel(problem, config, limits)`.
template <typename Kernel>
Form cuda_form(const Problem& problem, const Limits& limits, FormSpace space) {
    Form form;
    form.space = std::move(space);
    form.resources = [grid = Grid(problem)](const Config& config) { return Kernel(grid, config).resources(); };
    form.kernel = [problem, limits](const Config& config) { return Kernel(Grid(problem), config).kernel(problem, config, limits); };
    return form;
}

/// Tunables and rules that several forms have.
Tunable block_y_tunable();
Tunable z_block_tunable(std::vector<std::int64_t> values);
Tunable points_per_thread_tunable(std::vector<std::int64_t> values);
Tunable stencil_in_tunable(const std::vector<StencilIn>& places);
Tunable warps_per_row_tunable(std::vector<std::int64_t> values);
Tunable stages_tunable(std::vector<std::int64_t> values);
Tunable max_lead_tunable(std::vector<std::int64_t> values);
Tunable planes_per_slab_tunable(std::vector<std::int64_t> values);
Tunable cache_hint_tunable();
Tunable min_blocks_tunable(std::vector<std::int64_t> values = {1, 2, 3, 4, 6, 8});
std::string word_of(StencilIn place);
/// Where the stencil is where a coefficient serves a point or two, and so must cost no load.
std::vector<StencilIn> places_for_points(Stencil stencil);
Constraint small_blocks(std::function<std::int64_t(const Config&)> threads);
Constraint aligned_pairs(const Grid& grid);
/// `needed` are the warps of a row with those beside them.
Constraint rows_in_block(const Grid& grid, std::function<std::int64_t(const Config&)> needed);
Reason rejected_when(bool condition, const char* reason);
/// Of the time when all forms were one list of tunables: so many colours, and this staging (empty:
/// any).
std::function<bool(const Config&)> formerly(std::int64_t colours, const std::string& staging = "");

}  // namespace hone::inline v0_1::gauss_seidel
