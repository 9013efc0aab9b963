#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hone::inline v0_1::solvers::seismic {

/// All bytes of a file. Throws Error when it cannot be read.
std::string contents_of(const std::filesystem::path& file);
/// Throws Error when the file cannot be written.
void write_contents(const std::filesystem::path& file, std::string_view bytes);

}  // namespace hone::inline v0_1::solvers::seismic
