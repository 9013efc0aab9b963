#pragma once

namespace hone::inline v0_1::cuda {

// Minimal declarations of NVML (NVML API reference guide), checked against nvml.h like those of
// driver.hpp.
struct NvmlDevice;

constexpr int nvml_success = 0;
constexpr int nvml_clock_sm = 1;
constexpr int nvml_clock_memory = 2;
constexpr int nvml_temperature_gpu = 0;
constexpr unsigned int nvml_field_power_instant = 186;
constexpr int nvml_peers_by_nvlink = 2;  // an index of nvmlDeviceGetP2PStatus, which answers 0 for yes
constexpr unsigned int nvml_most_links = 18;
constexpr int nvml_insufficient_size = 7;

// nvmlFieldValue_t: a reading asked for by number.
struct NvmlFieldValue {
    unsigned int field = 0;
    unsigned int scope = 0;
    long long timestamp = 0;
    long long latency = 0;
    int type = 0;  // of the value; 1: unsigned int
    int result = 0;
    union {
        double real;
        unsigned int number;
        unsigned long long large;
    } value = {};
};

// nvmlProcessInfo_t: a process that uses a device.
struct NvmlProcess {
    unsigned int pid = 0;
    unsigned long long memory_bytes = 0;
    unsigned int gpu_instance = 0;
    unsigned int compute_instance = 0;
};

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

// Functions that older drivers lack: the board's energy since the driver was loaded, readings by
// number, what leads to other devices, and who shares one.
#define HONE_NVML_FURTHER_FUNCTIONS(row)                                                                                     \
    row(total_energy, nvmlDeviceGetTotalEnergyConsumption, int, (NvmlDevice* device, unsigned long long* millijoules))       \
    row(field_values, nvmlDeviceGetFieldValues, int, (NvmlDevice* device, int count, NvmlFieldValue* values))                \
    row(peer_status, nvmlDeviceGetP2PStatus, int, (NvmlDevice* device, NvmlDevice* other, int by, int* status))              \
    row(link_state, nvmlDeviceGetNvLinkState, int, (NvmlDevice* device, unsigned int link, int* is_active))                  \
    row(mps_processes, nvmlDeviceGetMPSComputeRunningProcesses_v3, int,                                                      \
        (NvmlDevice* device, unsigned int* count, NvmlProcess* processes))
// clang-format on

struct Nvml {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, no expression
#define HONE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
    HONE_NVML_FUNCTIONS(HONE_MEMBER)
    HONE_NVML_FURTHER_FUNCTIONS(HONE_MEMBER)
#undef HONE_MEMBER
};

}  // namespace hone::inline v0_1::cuda
