#include "tuner/outcome.hpp"

#include <array>
#include <utility>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::array<std::pair<Status, const char*>, 6> status_names{{
    {Status::measured, "measured"},
    {Status::compile_failed, "compile_failed"},
    {Status::launch_failed, "launch_failed"},
    {Status::wrong, "wrong"},
    {Status::timed_out, "timed_out"},
    {Status::crashed, "crashed"},
}};

}  // namespace

std::string to_string(Status status) {
    for (const auto& [value, name] : status_names)
        if (value == status) return name;
    return "unknown";
}

Status parse_status(const std::string& text) {
    for (const auto& [value, name] : status_names)
        if (name == text) return value;
    throw Error("status of an evaluation", "found \"" + text + "\"",
                "it must be measured, compile_failed, launch_failed, wrong, timed_out or crashed");
}

Conditions conditions_of(const std::optional<DeviceReading>& reading, const std::string& busy) {
    if (!reading) return {.busy = busy};
    return {reading->sm_megahertz, reading->memory_megahertz, reading->temperature_celsius, reading->throttle_reasons, busy};
}

Outcome failure(Status status, std::string reason) {
    Outcome outcome;
    outcome.status = status;
    outcome.reason = std::move(reason);
    return outcome;
}

}  // namespace hone::inline v0_1
