#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/cuda/shared_library.hpp"

namespace hone::inline v0_1::cuda {

/// The compiler's options, in order. Each has its reason in nvrtc_compiler.cpp.
std::vector<std::string> nvrtc_options(const std::string& architecture);

/// `make_nvrtc_compiler` (runtime/compiler.hpp) with a library of the caller's choice.
///
/// A kernel may include the toolkit's headers (toolkit_headers.hpp) and those of the C library that
/// mean anything on a device (nvrtc_headers.hpp); their contents are part of the cache's key.
/// `float4`, `double2`, the device intrinsics and inline PTX are there without. Functions and
/// constants without __host__ or __device__ belong to the device, so that plain `constexpr` works.
///
/// Several threads may compile at once. Seen with NVRTC 13.0: they take turns at parsing (a short
/// compilation waited for the whole of another's long parse), while optimising and assembling,
/// which is most of the time of an emitted kernel, run side by side.
/// A compilation cannot be stopped: thousands of dependent statements can take minutes, so keep
/// unrolling bounded.
std::unique_ptr<Compiler> make_nvrtc_compiler(const std::string& architecture, DiskCache& cache, const LibraryCandidates& candidates);

}  // namespace hone::inline v0_1::cuda
