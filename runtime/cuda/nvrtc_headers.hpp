#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace hone::inline v0_1::cuda {

/// Headers of the C library that NVRTC has not, by name: `stdint.h`, `cstdint`, `cmath` and so on,
/// as far as their contents mean anything on a device. Much of it is built into NVRTC; then the
/// header is there so that a source for nvcc compiles as it is.
const std::vector<std::pair<std::string_view, std::string_view>>& nvrtc_headers();

}  // namespace hone::inline v0_1::cuda
