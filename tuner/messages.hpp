#pragma once

#include <cstddef>
#include <string>

#include "generator/limits.hpp"
#include "tuner/outcome.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1 {

class JsonPlace;

/// Bounds on what a message between a run and its workers may hold.
inline constexpr std::size_t longest_message_text = 1 << 20;
inline constexpr double most_message_seconds = 1e7;  // longer than any run

/// Values of the tuner as JSON on one line, for journals and for the pipes between a tuning run and
/// its workers.
std::string to_json(const Outcome& outcome);
std::string to_json(const DeviceReading& reading);
std::string to_json(const Limits& limits);
std::string to_json(const SamplingRule& rule);

/// The inverse, strict. Each throws Error naming file, line and place. What was not measured
/// (energy, a device's state) is left out; journals from before these existed read the same.
Outcome read_outcome(const JsonPlace& place);
DeviceReading read_device_reading(const JsonPlace& place);
Limits read_limits(const JsonPlace& place);
SamplingRule read_sampling_rule(const JsonPlace& place);

}  // namespace hone::inline v0_1
