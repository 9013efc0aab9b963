#pragma once

#include <filesystem>
#include <string>

namespace hone::inline v0_1::kernel_folder {

/// The path of a kernel folder's file. Throws Error where it is absent, no plain file, or a link
/// that leads out of the folder: who is handed a folder may read it before it runs, and all of it.
std::filesystem::path folder_file(const std::filesystem::path& folder, const std::string& name);

}  // namespace hone::inline v0_1::kernel_folder
