#pragma once

#include <string>
#include <string_view>

#include "tuner/replay/recorded_space.hpp"

namespace hone::inline v0_1 {

// hone's own compact form of a recorded space: one line of JSON with the title, the parameters'
// values and the reasons of failures, then a line per configuration: its index in the space, and
// its seconds, followed by those of the single runs where there were several; or `!` and the number
// of its failure. A million configurations take 20 MB, a quarter of that gzipped, and are read in a
// fraction of a second.
//
//     {"hone_space": 1, "kernel": "add", ..., "parameters": {"x": [16, 32]}, "failures": [["compile_failed", "too large"]], "configurations": 2}
//     0 0.0025
//     1 !0

/// Whether a text begins as such a file does.
bool is_space_file(std::string_view text);

/// Throws Error naming `file`, line and place; also when configurations are missing at the end.
RecordedSpace parse_space_file(std::string_view text, const std::string& file, const std::string& name);

/// Parameters, costs, single runs and failures as they are. What compiling and verifying took, and
/// energy, is left out.
std::string space_file_text(const RecordedSpace& recorded);

}  // namespace hone::inline v0_1
