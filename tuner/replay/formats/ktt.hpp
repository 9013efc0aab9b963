#pragma once

#include <string>
#include <string_view>

#include "tuner/replay/recorded_space.hpp"

namespace hone::inline v0_1 {

// What the Kernel Tuning Toolkit (https://github.com/HiPerCoRe/KTT) saves besides T4: JSON with
// Metadata and Results, XML with the same names as elements and attributes, and the CSV of its
// first versions. A result has KernelName, Status, TotalDuration in the metadata's TimeUnit, and a
// Configuration of names and values. Of a configuration that stands several times, as in runs that
// profile, the first counts.

bool is_ktt_json(std::string_view text);
bool is_ktt_xml(std::string_view text);
bool is_ktt_csv(std::string_view text);

/// All throw Error naming `file`, line and place.
RecordedSpace parse_ktt_json(std::string_view text, const std::string& file, const std::string& name);
RecordedSpace parse_ktt_xml(std::string_view text, const std::string& file, const std::string& name);
/// Columns without a small letter at the beginning of their names are parameters; the others, as
/// gld_efficiency, are counters of a profiler.
RecordedSpace parse_ktt_csv(std::string_view text, const std::string& file, const std::string& name);

}  // namespace hone::inline v0_1
