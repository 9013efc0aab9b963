#pragma once

#include <string>
#include <string_view>

#include "generator/families.hpp"
#include "tuner/replay/recorded_space.hpp"

namespace hone::inline v0_1 {

// The cache file of Kernel Tuner (https://github.com/KernelTuner/kernel_tuner, Apache 2.0): one
// JSON object with device_name, kernel_name, problem_size, tune_params_keys, tune_params and cache,
// an object from the values, joined by commas in the order of tune_params_keys, to what the
// configuration came to. Times are milliseconds. Since version 1.4 the objective is a list, and an
// invalid configuration has an __error__ and no time; before, a word in place of the time, or 1e20
// in old files, says so. Entries may leave out the values that their key has.

/// Closing braces may be missing, and the last entry be cut, when the run was. Throws Error naming
/// `file`, line and place.
RecordedSpace parse_kernel_tuner(std::string_view text, const std::string& file, const std::string& name);

/// `time` is the mean of `times`, as the format has it. Times that were not recorded are 0. Where
/// the title has no problem_size, it is the list of the extents of the problem that its kernel
/// names, if a family of `families` has it; else "callable", which is what Kernel Tuner itself
/// writes when the size is no value: it accepts such a file for whoever gives a function as
/// problem_size. It refuses null.
std::string kernel_tuner_text(const RecordedSpace& recorded, const Families& families);

}  // namespace hone::inline v0_1
