#pragma once

#include <string>
#include <vector>

#include "generator/config.hpp"
#include "tuning_db/record.hpp"

namespace hone {

/// What became of a candidate. Everything but `measured` is a fact that is remembered and not tried again.
enum class Status { measured, compile_failed, launch_failed, wrong, timed_out, crashed };

std::string to_string(Status status);

/// The result of one evaluation.
struct Outcome {
    Status status = Status::measured;
    std::string reason;  ///< of a failure, in one line
    Statistics step;     ///< seconds of one time step, when measured
    double verification_error = 0;
    double compile_seconds = 0;
    double verify_seconds = 0;
    double measure_seconds = 0;

    bool measured() const { return status == Status::measured; }
};

}  // namespace hone
