#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/kernel_source.hpp"
#include "interfaces/c/open_session.hpp"

namespace hone::inline v0_1::languages {

/// Where the arrays of a target's kernels lie.
hone_place place_of(Target target);

/// The type of an array's elements: the problem's precision, or another where the shape says so.
hone_type type_of(const KernelSource& source, const ArraySpec& array);
std::int64_t bytes_of(hone_type type);
/// Elements that an array of the caller's must have room for.
std::int64_t count_of(const KernelSource& source, const ArraySpec& array);

/// The caller's arrays for a kernel. Throws Refusal, with the array's number and name, for another
/// number of arrays, one that is null, of another type, too small, elsewhere, misaligned, smaller
/// than it says as far as hone allocated it, or that overlaps one that is written.
BoundArrays checked_arrays(const char* function, const OpenSession& session, const Problem& problem, const KernelSource& source,
                           const hone_array* arrays, std::int32_t count);

}  // namespace hone::inline v0_1::languages
