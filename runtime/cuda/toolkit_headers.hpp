#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::inline v0_1::cuda {

/// The CUDA toolkit's headers (cuda_fp16.h, mma.h, cooperative_groups.h) on this machine.
struct ToolkitHeaders {
    std::vector<std::filesystem::path> folders;  ///< where they are looked for, in order; empty: there are none here
    std::string name;                            ///< "CUDA 13.0"
    bool has_libcu = false;                      ///< <cuda/std/...>, which cooperative_groups.h of newer toolkits includes
};

/// The first that has cuda_fp16.h of: the folders that belong to the NVRTC library at this path (a
/// toolkit's, a distribution's, those of NVIDIA's Python packages), CUDA_PATH, CUDA_HOME,
/// /usr/local/cuda, /usr/local/cuda-*, /opt/cuda; with libcu++ beside it, where it has a folder of
/// its own.
ToolkitHeaders find_toolkit_headers(const std::string& nvrtc_library);

/// What to install where there are none.
std::string toolkit_headers_remedy();

/// What NVRTC is given with a source that includes headers.
struct IncludedHeaders {
    std::vector<std::string> options;
    std::vector<std::pair<const char*, const char*>> given;  ///< names and texts that need no file
    std::string key;                                         ///< hashes of all that it may read; empty: it includes nothing
};

/// The headers that a source may include, directly or not and in whatever branch, each found as
/// NVRTC finds it: those of nvrtc_headers.hpp, of the toolkit, and at absolute paths. Their
/// contents are read again where a file has changed. Thread-safe.
IncludedHeaders included_headers(std::string_view text, const ToolkitHeaders& toolkit);

}  // namespace hone::inline v0_1::cuda
