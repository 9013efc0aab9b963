#pragma once

#include <cstdint>

namespace hone::inline v0_1 {

/// A well mixed number from a counter, so that every word of an array can be made independently and
/// in any order. Source: G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number
/// Generators, OOPSLA 2014 (SplitMix64).
constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// Word number `index` of the random sequence of `seed`: uniform in [-1, 1).
constexpr double random_word(std::uint64_t seed, std::int64_t index) {
    return static_cast<double>(mixed(seed + static_cast<std::uint64_t>(index)) >> 11) * 0x1p-52 - 1;
}

}  // namespace hone::inline v0_1
