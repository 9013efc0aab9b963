#pragma once

#include <string>
#include <string_view>

#include "generator/kernel_source.hpp"

namespace hone::inline v0_1 {

/// What a device executes in a step, in 16 hexadecimal digits: the compiled code, and its launches
/// with their grids, blocks, memory and constants. Configurations with one digest are one kernel,
/// whatever their values say.
std::string code_digest(const KernelSource& source, std::string_view binary);

}  // namespace hone::inline v0_1
