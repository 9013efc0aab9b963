#pragma once

#include <string>
#include <string_view>

#include "tuner/replay/recorded_space.hpp"

namespace hone::inline v0_1 {

// T4, the results format of the autotuning community (https://github.com/odgaard/TuningSchema;
// written by KTT and Kernel Tuner among others): one JSON object with schema_version and results,
// an array of {configuration, times, invalidity, correctness, measurements, objectives}.

/// Whether a text looks like T4 results: an object that has "results".
bool is_t4(std::string_view text);

/// The cost is the first objective's measurement if that is a time in any of the units in use,
/// nanoseconds to seconds, else the first measurement that is one, else the mean of the runs;
/// `times` have the same unit. What is NaN or infinite failed. There are no lists of values in this
/// format: they are what the results have. Throws Error naming `file`, line and place.
RecordedSpace parse_t4(std::string_view text, const std::string& file, const std::string& name);

/// Times are in milliseconds, and so says metadata.timeunit. What compiling took has the name of
/// the schema, compilation_time, and that of the tools that read such files, compilation. A valid
/// configuration comes first.
std::string t4_text(const RecordedSpace& recorded);

}  // namespace hone::inline v0_1
