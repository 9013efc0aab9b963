#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/config.hpp"
#include "runtime/device_reading.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// The result of evaluating a candidate, in a word. Every failure is remembered, and the candidate
/// is not tried again.
enum class Status { measured, compile_failed, launch_failed, wrong, timed_out, crashed };

std::string to_string(Status status);
/// Throws Error for anything that `to_string` does not give.
Status parse_status(const std::string& text);

/// Conditions of a measurement, by a reading of the device and by what else the machine did
/// meanwhile.
Conditions conditions_of(const std::optional<DeviceReading>& reading, const std::string& busy = "");

/// The result of one evaluation.
struct Outcome {
    Status status = Status::measured;
    std::string reason;                      ///< of a failure, in one line
    Statistics step;                         ///< seconds of one time step, when measured
    std::vector<double> samples;             ///< the samples that `step` summarises, in the order measured
    std::optional<Energy> energy;            ///< of one time step, when it was asked for and the candidate was worth it
    std::optional<DeviceReading> device;     ///< clocks, temperature, throttling at the end of the sampling period, where NVML tells them
    std::optional<std::string> measured_on;  ///< which of a run's devices; absent: it has one
    std::optional<double> pace;  ///< how many times as long that device takes as the run's first, by a candidate that both had; absent: no difference
    std::optional<std::string> code;         ///< what it executes (code_digest); absent: it did not compile, or nobody compiled it
    std::optional<std::string> verified_on;  ///< key of the problem of smaller extents on which it was verified; absent: its own
    double verification_error = 0;
    double tolerance = 0;  ///< largest error that is accepted
    double compile_seconds = 0;
    double verify_seconds = 0;
    double measure_seconds = 0;

    bool measured() const { return status == Status::measured; }
    /// Median seconds of a step as the run's first device would have them.
    double seconds() const { return step.median / pace.value_or(1); }
    bool operator==(const Outcome&) const = default;
};

/// The outcome of a candidate that was not measured, with the reason.
Outcome failure(Status status, std::string reason);

}  // namespace hone::inline v0_1
