#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/shared_library.hpp"
#include "runtime/device_reading.hpp"

namespace hone::inline v0_1 {

/// Reads power, clocks, temperature and throttling of a CUDA device through NVML, where it is
/// installed. Makes no context.
///
///     DeviceMonitor monitor(0);
///     const DeviceReading reading = monitor.read();  // empty where NVML is absent: monitor.missing() says why
///     if (reading.power_watts) fmt::print("{} W\n", *reading.power_watts);
class DeviceMonitor {
  public:
    /// `index` is the CUDA device's; NVML counts differently, so it is found by its PCI address.
    explicit DeviceMonitor(int index, const cuda::LibraryCandidates& candidates = cuda::library_candidates());
    ~DeviceMonitor();
    DeviceMonitor(DeviceMonitor&&) noexcept;
    DeviceMonitor& operator=(DeviceMonitor&&) noexcept;

    const std::string& missing() const;  ///< why nothing can be read; empty when it can
    const std::string& library() const;  ///< the file that NVML was loaded from
    std::string driver_version() const;  ///< of the kernel's driver, "580.159.04"; empty when unknown
    DeviceReading read() const;
    /// The device's PCI address, by which other processes of this host know it, too:
    /// "0000:01:00.0"; empty when nothing can be read.
    const std::string& place() const;
    /// What leads to the device at another such address: "NVLink, 18 links", or "PCIe"; empty when
    /// unknown.
    std::string link_to(const std::string& place) const;
    /// Processes that share the device through the multi-process service, among them this one once
    /// it has a context there; nothing where the driver does not tell.
    std::optional<int> clients() const;
    /// Energy of the board since the driver was loaded; nothing where the device or the driver does
    /// not count it.
    std::optional<double> total_joules() const;
    /// Power at this moment; `DeviceReading::power_watts` is a mean over the last second on most
    /// devices. Nothing where it cannot be had.
    std::optional<double> instant_watts() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
