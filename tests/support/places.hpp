#pragma once

#include <filesystem>
#include <string>

namespace hone::test {

/// A file or folder of this source tree, by its path from the top: source_path("tests/spaces").
std::string source_path(const std::filesystem::path& relative);

/// Where the stand-ins for the driver's libraries were built: what HONE_CUDA_LIBRARIES is set to
/// for them to be found, and nothing else.
std::string fake_driver_folder();

/// Where all tests keep the kernels that they compile, from run to run, beside the user's cache:
/// for tests that need compiled code and are not about compiling.
std::string kernel_cache_folder();

}  // namespace hone::test
