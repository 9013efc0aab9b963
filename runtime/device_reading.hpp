#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hone::inline v0_1 {

/// One reading of a device by NVIDIA's management library; what it does not tell is absent.
struct DeviceReading {
    std::optional<double> power_watts;
    std::optional<double> sm_megahertz;
    std::optional<double> memory_megahertz;
    std::optional<double> temperature_celsius;
    /// Why the clock is below its maximum, e.g. "software power cap"; "idle" is not among them.
    std::vector<std::string> throttle_reasons;

    bool operator==(const DeviceReading&) const = default;
};

}  // namespace hone::inline v0_1
