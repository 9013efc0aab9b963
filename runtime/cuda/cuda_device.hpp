#pragma once

#include <string>

#include "runtime/backend.hpp"
#include "runtime/cuda/driver.hpp"

namespace hone::inline v0_1::cuda {

/// 118 of "NVRTC 11.8", as Limits::compiler has it; 0 for another text.
int compiler_release(const std::string& name);

/// Describes device `index` by the driver, without making a context. `compiler` is NVRTC's name,
/// for the fingerprint. Throws Error when the driver refuses.
Device describe_device(const Driver& driver, int index, const std::string& compiler);

}  // namespace hone::inline v0_1::cuda
