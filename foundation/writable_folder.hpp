#pragma once

#include <filesystem>
#include <string>

namespace hone::inline v0_1 {

/// Why nothing can be made in a folder that is there or not yet, which would be made below the
/// nearest one that is and is named then; empty where it can.
std::string why_not_writable(const std::filesystem::path& folder);

}  // namespace hone::inline v0_1
