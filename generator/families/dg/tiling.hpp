#pragma once

#include <cstdint>
#include <string_view>

#include "generator/config.hpp"

namespace hone::inline v0_1::dg {

// Bounds for kernels that cut elements and nodes into tiles.

/// Fused multiply-adds that stand unrolled in a text at most: beyond, compilation takes seconds and
/// the instruction cache overflows.
constexpr std::int64_t largest_code = 6000;

constexpr int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// The value of a tunable that is a number.
inline int number(const Config& config, std::string_view name) {
    return static_cast<int>(config.integer(name));
}

}  // namespace hone::inline v0_1::dg
