#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "generator/problem.hpp"
#include "interfaces/kernel_folder/description.hpp"

namespace hone::inline v0_1::kernel_folder {

/// One step over [first, last) by the Python function that a folder has as reference, in a process
/// of its own: `python3`, or HONE_PYTHON. The function is called with what its parameters name:
/// arrays (NumPy arrays in the extents of the description, which it changes in place), parameters
/// of the problem, `first` and `last`.
///
/// Throws Error with what Python says: there is no Python or NumPy, the function fails, or it
/// imported a file that is neither installed nor among the reference's `files`; and where one of
/// these has changed.
void python_step(const Description& description, const std::filesystem::path& folder, const Problem& problem, std::span<void* const> arrays,
                 std::int64_t first, std::int64_t last);

}  // namespace hone::inline v0_1::kernel_folder
