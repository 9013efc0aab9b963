#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/block.hpp"
#include "generator/family.hpp"

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
    std::int64_t word_bytes() const { return bytes_per_word(precision); }
    /// Whether every point has coefficients of its own, whichever are stored.
    bool stencil_per_point() const { return stencil == Stencil::variable || stencil == Stencil::symmetric; }
};

/// Parts of the family, each in the file of its name.
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
