#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "generator/kernel_source.hpp"

namespace hone::inline v0_1 {

/// The number of an array before number `i` of these addresses, whose memory that one overlaps
/// although one of the two is written: kernels are compiled for arrays that share nothing then.
inline std::optional<std::size_t> overlapped_array(const KernelSource& source, std::span<const void* const> arrays, std::size_t i) {
    const auto begin = [&](std::size_t n) { return reinterpret_cast<std::uintptr_t>(arrays[n]); };
    const auto end = [&](std::size_t n) { return begin(n) + static_cast<std::uintptr_t>(bytes_of(source.arrays[n], source.precision)); };
    for (std::size_t j = 0; j < i; ++j) {
        const bool written = source.arrays[i].access != Access::in || source.arrays[j].access != Access::in;
        if (written && std::max(begin(i), begin(j)) < std::min(end(i), end(j))) return j;
    }
    return std::nullopt;
}

}  // namespace hone::inline v0_1
