#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/block.hpp"
#include "generator/families/staggered_flow/family.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::flow {

enum class Kind { momentum, divergence, projection };

/// A problem of the family, with its layout. Throws Error for a pitch below nx and for arrays that
/// no machine holds.
struct Grid {
    explicit Grid(const Problem& problem);

    Kind kind;
    bool periodic;  ///< along z; else a neighbour's plane lies before and behind the own ones
    Precision precision;
    std::int64_t nx, ny, nz;
    std::int64_t pitch;  ///< words from one row to the next

    std::int64_t plane() const { return ny * pitch; }
    std::int64_t planes_before() const { return periodic ? 0 : 1; }  ///< of an array
    std::int64_t stored_planes() const { return nz + 2 * planes_before(); }
    std::int64_t words() const { return stored_planes() * plane(); }
    std::int64_t cells() const { return nx * ny * nz; }
    int word() const { return bytes_per_word(precision); }
};

/// Parts of the family, each in the file of its name.
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);
Workload workload(const Problem& problem, std::uint64_t seed);

std::vector<ArraySpec> arrays(const Problem& problem);
Counts counts(const Problem& problem);

/// The part of a source that both targets share: arrays, scalars nx ny nz pitch, operations.
KernelSource common_source(const Problem& problem, Target target);
/// What the templates of both targets have holes and flags for: banner, parameters, types, the
/// target's words for a function, and which kernel it is. `further` are constants of the launch.
Holes common_holes(const Problem& problem, const Config& config, Target target, const std::vector<std::string>& further = {});
Flags common_flags(const Problem& problem);

/// The forms, each in the file of its name.
Form points_form(const Problem& problem, const Limits& limits);
Form rows_form(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::flow
