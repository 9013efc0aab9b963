#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "generator/block.hpp"
#include "generator/family.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::gauss_seidel {

enum class Stencil { constant, semi_constant, variable, symmetric };

constexpr int coefficients = 27;
constexpr int centre = 13;
/// Coefficients that symmetric storage keeps of a point: the centre's and the 13 after it.
constexpr int stored_when_symmetric = coefficients - centre;
/// Words per stencil of the semi-constant kind: 27 and padding, so that each starts on 128 bytes in
/// f32.
constexpr int row_stencil_words = 32;

/// A problem of the family, with its layout. Throws Error for a pitch below nx + 2 and for arrays
/// that no machine holds.
struct Grid {
    explicit Grid(const Problem& problem);

    Stencil stencil;
    Precision precision;
    std::int64_t nx, ny, nz;
    std::int64_t pitch;  ///< words from one row of u, f and a variable or symmetric stencil to the next

    std::int64_t plane() const { return (ny + 2) * pitch; }
    std::int64_t points() const { return nx * ny * nz; }
    std::int64_t field_words() const { return (nz + 2) * plane(); }
    std::int64_t stencil_words() const;
    /// Whether every point has coefficients of its own, whichever are stored.
    bool stencil_per_point() const { return stencil == Stencil::variable || stencil == Stencil::symmetric; }
};

/// A configuration of a CUDA kernel, with what its form decides.
struct Choice {
    Choice(const Grid& grid, const Config& config);

    std::string form;
    /// Of one pass: 1, 2 (whole rows), or 8 (all that a plane has, and both parities of planes); 4
    /// where the parities are two launches.
    std::int64_t colours_per_pass;
    std::int64_t block_x, block_y, block_z, z_block, points_per_thread, min_blocks;
    std::int64_t walks;            ///< blocks that share a plane
    std::int64_t planes_per_slab;  ///< planes that the threads of a block take together
    std::int64_t passes;           ///< launches of a sweep over slabs
    bool clamped, split;
    std::string staging, stencil_in;
    std::int64_t stages;      ///< of bulk copies on their way
    std::int64_t lead;        ///< rows that even planes, or slabs, may be ahead of those beside them; 0: any
    std::int64_t told_every;  ///< steps of a slab from telling others of finished rows to telling them again
    bool copying_warp;        ///< a warp of its own starts bulk copies
    bool copied_stencil;      ///< rows of stencils come by bulk copies, too
    bool streaming_copies;    ///< what is copied of f leaves the second cache first

    /// Threads own whole rows, both colours of x.
    bool rows() const { return colours_per_pass > 1; }
    bool slabs() const { return form == "slabs"; }
    bool pipeline() const { return form == "pipeline"; }
    /// A block walks through a plane.
    bool walks_through_planes() const { return colours_per_pass >= 4; }
    std::int64_t threads() const { return block_x * block_y * block_z; }
};

/// The forms of the CUDA kernel that do all colours of a plane in one walk: warps that its rows
/// need, and bytes of dynamic shared memory.
std::int64_t walking_warps(const Grid& grid, std::int64_t points_per_thread, const std::string& staging);
std::int64_t walking_shared_bytes(const Grid& grid, const Choice& choice);
/// The same of slabs, with the warp that copies.
std::int64_t slab_warps(const Grid& grid, std::int64_t points_per_thread, std::int64_t planes_per_slab);
std::int64_t slab_shared_bytes(const Grid& grid, const Choice& choice);
/// The same of a pipeline: warps of a plane, and of a block that has `warps_per_plane` of them.
std::int64_t pipeline_warps(const Grid& grid, std::int64_t points_per_thread);
std::int64_t pipeline_block_warps(std::int64_t warps_per_plane, std::int64_t planes_per_slab);
std::int64_t pipeline_shared_bytes(const Grid& grid, const Choice& choice);
/// Rows that arrive together with staging=bulk_1 and bulk_2; 0 for any other.
int staged_rows(const std::string& staging);
/// Whether planes of the earlier colours leave to the others what their new values amount to:
/// staging=partial_sums and partial_sums_async.
bool leaves_partial_sums(const std::string& staging);
/// Parts of the family, each in the file of its name.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);
KernelSource cuda_kernel(const Problem& problem, const Config& config, const Limits& limits);
KernelSource cpu_kernel(const Problem& problem, const Config& config);
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);
Workload workload(const Problem& problem, std::uint64_t seed);

std::vector<ArraySpec> arrays(const Problem& problem);
Partition partition(const Problem& problem);
Counts counts(const Problem& problem);

/// The part of a source that both targets share: arrays, scalars nx ny nz pitch, operations.
KernelSource common_source(const Problem& problem, Target target);
/// The comment at the head of an emitted kernel. Extents are run-time arguments, so the text is the
/// same for all of them.
Block banner(const Problem& problem, const Config& config, Target target);

}  // namespace hone::inline v0_1::gauss_seidel
