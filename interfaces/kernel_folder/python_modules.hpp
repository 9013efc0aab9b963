#pragma once

#include <filesystem>
#include <vector>

namespace hone::inline v0_1::kernel_folder {

/// The Python files that a file imports, directly or not, as its text says: those beside it, beside
/// who imports them, and in the folders of PYTHONPATH. What is installed (the standard library,
/// folders site-packages and dist-packages) is not among them. Nothing is run. In a fixed order,
/// absolute.
std::vector<std::filesystem::path> python_modules(const std::filesystem::path& file);

}  // namespace hone::inline v0_1::kernel_folder
