#pragma once

#include <string>

#include "foundation/json.hpp"
#include "interfaces/kernel_folder/description.hpp"

namespace hone::inline v0_1::kernel_folder {

/// Where a family.json names a T1 file ("t1": "convolution.json"), the input format of the
/// autotuning community (https://github.com/odgaard/TuningSchema), adds what that says and the
/// family.json does not: name, parameters (`problem_size_x`, ...), arguments, and of the kernel its
/// source, tunables, constraints, safe configuration and launch. What the family.json says itself
/// stays. T1 knows neither a reference nor a tolerance. `file` is the family.json's, for messages.
/// Throws Error, naming the T1 file and line, for what hone cannot do as it is written: languages
/// other than CUDA and C, arrays in constant memory (it belongs to a module, and so to all that run
/// its kernels at once) or of other numbers than float, double and int32, tunables that are no
/// whole numbers or words.
void add_t1(JsonNode& root, const std::string& file, const ReadFile& read);

}  // namespace hone::inline v0_1::kernel_folder
