#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuning_db/record.hpp"

namespace hone::tools {

/// The script that draws one bar per record: achieved GB/s, with the safe configuration's beside it
/// where it was measured.
std::string plot_script(const std::vector<Record>& records, const std::string& title, const std::filesystem::path& picture);

/// Text in double quotes of a gnuplot script: quotes and backslashes mean themselves; no line ends.
std::string gnuplot_string(const std::string& text);

/// Draws the picture that a script makes with gnuplot, which is started without a shell. Throws
/// MissingError, with what to install, where there is no gnuplot; Error when it fails, or when the
/// picture is not whole, which gnuplot itself does not tell of a full disk.
void draw(const std::string& script, const std::filesystem::path& picture);

}  // namespace hone::tools
