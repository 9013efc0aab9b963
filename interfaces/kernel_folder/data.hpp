#pragma once

#include <cstdint>
#include <filesystem>

#include "generator/workload.hpp"
#include "interfaces/kernel_folder/description.hpp"
#include "interfaces/kernel_folder/reference.hpp"

namespace hone::inline v0_1::kernel_folder {

/// A problem's arrays before a step: filled as the description says, outputs poisoned with NaN.
/// Throws Error for a file of another length.
std::vector<HostArray> filled_arrays(const Description& description, const std::filesystem::path& folder, const Problem& problem, std::uint64_t seed);

/// These arrays with the answer of the reference, or the one that is stored.
Workload workload(const Description& description, const std::filesystem::path& folder, Reference& reference, const Problem& problem,
                  std::uint64_t seed);

}  // namespace hone::inline v0_1::kernel_folder
