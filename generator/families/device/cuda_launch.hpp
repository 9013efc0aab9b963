#pragma once

#include <string>

#include "generator/kernel_source.hpp"

namespace hone::inline v0_1 {

/// A launch of whole arrays: no range, no dynamic shared memory.
inline Launch cuda_launch(const std::string& entry, Dim3 grid, Dim3 block) {
    Launch launch;
    launch.entry = entry;
    launch.grid = grid;
    launch.block = block;
    return launch;
}

}  // namespace hone::inline v0_1
