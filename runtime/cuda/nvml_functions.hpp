#pragma once

namespace hone::cuda {

// Minimal declarations of NVML (NVML API reference guide), checked against nvml.h like those of driver.hpp.
struct NvmlDevice;

constexpr int nvml_success = 0;
constexpr int nvml_clock_sm = 1;
constexpr int nvml_clock_memory = 2;
constexpr int nvml_temperature_gpu = 0;

// clang-format off
#define HONE_NVML_FUNCTIONS(row)                                                                                             \
    row(init, nvmlInit_v2, int, ())                                                                                          \
    row(shut_down, nvmlShutdown, int, ())                                                                                    \
    row(error_string, nvmlErrorString, const char*, (int result))                                                            \
    row(driver_version, nvmlSystemGetDriverVersion, int, (char* version, unsigned int length))                               \
    row(device_by_pci_bus_id, nvmlDeviceGetHandleByPciBusId_v2, int, (const char* id, NvmlDevice** device))                  \
    row(power, nvmlDeviceGetPowerUsage, int, (NvmlDevice* device, unsigned int* milliwatts))                                 \
    row(clock, nvmlDeviceGetClockInfo, int, (NvmlDevice* device, int type, unsigned int* megahertz))                         \
    row(temperature, nvmlDeviceGetTemperature, int, (NvmlDevice* device, int sensor, unsigned int* celsius))                 \
    row(throttle_reasons, nvmlDeviceGetCurrentClocksThrottleReasons, int, (NvmlDevice* device, unsigned long long* reasons))
// clang-format on

struct Nvml {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, no expression
#define HONE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
    HONE_NVML_FUNCTIONS(HONE_MEMBER)
#undef HONE_MEMBER
};

}  // namespace hone::cuda
