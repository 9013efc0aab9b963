#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/families/poisson7/family.hpp"
#include "generator/kernel_source.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::poisson {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

enum class Kind { apply, apply_dot, direction, residual };
enum class Coefficients { scalar, axis, face };
enum class Boundary { periodic, dirichlet, neumann };

/// Threads of a block of the summation: fixed, so that the tree is.
constexpr std::int64_t sum_threads = 256;

/// A problem of the family, with its layout. Throws Error for a pitch below nx and for arrays that
/// no machine holds.
struct Grid {
    explicit Grid(const Problem& problem);

    Kind kind;
    bool part;  ///< of a grid that several devices share: sums of blocks in place of what follows from all of them
    Coefficients coefficients;
    Boundary boundary;
    Precision precision;
    std::int64_t nx, ny, nz;
    std::int64_t pitch;  ///< words from one row of a field to the next

    std::int64_t cells() const { return nx * ny * nz; }
    std::int64_t field_words() const { return nz * ny * pitch; }
    int word() const { return bytes_per_word(precision); }
    const char* real() const { return precision == Precision::f32 ? "float" : "double"; }

    /// How many sums over all cells a kernel makes: gamma; delta, r . r and the sum of r.
    int sums() const { return kind == Kind::apply ? 0 : kind == Kind::residual ? 3 : 1; }
    std::int64_t chunks() const { return (nz + chunk_planes - 1) / chunk_planes; }
    std::int64_t groups_of_chunk() const { return ny * ((nx + group_columns - 1) / group_columns); }
    std::int64_t group_sums() const { return chunks() * groups_of_chunk(); }  ///< places for the sums of groups, of each sum
    std::int64_t block_sums() const { return chunks() * blocks_of_chunk(nx, ny); }

    bool fused() const { return kind == Kind::direction || kind == Kind::residual; }
    bool has_field_diagonal() const { return coefficients != Coefficients::scalar; }
};

/// Parts of the family, each in the file of its name.
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);
Workload workload(const Problem& problem, std::uint64_t seed);

std::vector<ArraySpec> arrays(const Problem& problem);
Counts counts(const Problem& problem);

/// The part of a source that both targets share: arrays, tables of the sums, scalars nx ny nz
/// pitch, operations.
KernelSource common_source(const Problem& problem, Target target);
/// The comment at the head of an emitted kernel. Extents are run-time arguments, so the text is the
/// same for all of them.
Block banner(const Problem& problem, const Config& config, Target target);
/// The types of a word and of a position.
Block word_types(const Grid& grid);
/// Arguments of every entry point.
Block parameters(const Problem& problem);
/// `struct Arrays`: what the cells' updates take of the arguments; and the statement that makes one
/// named `a`.
Block arrays_struct(const Problem& problem);
Block gathered(const Problem& problem);
/// Values that all cells share, as constants: couplings, words of `scalars`.
Block shared_constants(const Grid& grid);
/// Names of the words of `scalars`.
Block scalar_words();
/// The statement that keeps a residual half's `residual_square` in `history`.
Block keep_in_history();
/// Flags that a problem sets for the templates of both targets.
Flags common_flags(const Grid& grid);

}  // namespace hone::inline v0_1::poisson
