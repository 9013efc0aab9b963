#pragma once

#include <string>
#include <vector>

#include "runtime/cuda/shared_library.hpp"

namespace hone::inline v0_1 {

/// One thing that hone uses: what was found, or what to install.
struct Finding {
    std::string what;  ///< "CUDA driver"
    bool found = false;
    std::string detail;   ///< path and version; or why it is not there
    std::string remedy;   ///< what to install; empty when found
    std::string purpose;  ///< what works with it: "CUDA kernels run"
};

/// `what` of the finding about the compiler of CPU kernels.
constexpr const char* compiler_finding_name = "C++ compiler";

/// `what` of the findings about folders that kernels need, which are there where something is wrong
/// with them.
constexpr const char* temporary_finding_name = "temporary folder";
constexpr const char* cache_finding_name = "folder of compiled kernels";

/// Looks at everything that hone uses on this machine: driver, devices, NVRTC, NVML, host compiler,
/// threads, ranks, vector instructions. Host compilers compile and run a small kernel. Makes no
/// CUDA context and never throws for what is missing.
///
///     for (const auto& finding : diagnose()) fmt::print("{:24} {}\n", finding.what, finding.found ? finding.detail : finding.remedy);
std::vector<Finding> diagnose(const cuda::LibraryCandidates& candidates = cuda::library_candidates());

}  // namespace hone::inline v0_1
