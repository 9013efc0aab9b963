// A management library for the fake driver's first device: 512.5 W, 1980 and 3201 MHz, 45 degrees,
// held back by the software power cap, and idle.
#include <cstring>

#include "runtime/cuda/nvml_functions.hpp"
#include "tests/runtime/cuda/fake_driver/fake_driver.hpp"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {
int the_device = 0;
constexpr int not_supported = 3;
constexpr int not_found = 6;
hone::test::FakeNvmlState state;
}  // namespace

EXPORTED hone::test::FakeNvmlState& fake_nvml_state() {
    return state;
}

EXPORTED int nvmlInit_v2() {
    return 0;
}
EXPORTED int nvmlShutdown() {
    return 0;
}
EXPORTED const char* nvmlErrorString(int) {
    return "Not Found";
}
EXPORTED int nvmlSystemGetDriverVersion(char* version, unsigned length) {
    std::strncpy(version, "580.1", length);
    return 0;
}
EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char* id, int** device) {
    *device = &the_device;
    return std::strcmp(id, "0000:01:00.0") == 0 || (state.knows_second && std::strcmp(id, "0000:02:00.0") == 0) ? 0 : not_found;
}
EXPORTED int nvmlDeviceGetP2PStatus(int*, int*, int by, int* status) {
    *status = by == hone::cuda::nvml_peers_by_nvlink && state.links > 0 ? 0 : not_supported;
    return 0;
}
EXPORTED int nvmlDeviceGetNvLinkState(int*, unsigned link, int* is_active) {
    *is_active = static_cast<int>(link) < state.links ? 1 : 0;
    return 0;
}
EXPORTED int nvmlDeviceGetMPSComputeRunningProcesses_v3(int*, unsigned* count, hone::cuda::NvmlProcess*) {
    *count = static_cast<unsigned>(state.clients);
    return state.clients < 0 ? not_supported : 0;
}
EXPORTED int nvmlDeviceGetPowerUsage(int*, unsigned* milliwatts) {
    *milliwatts = 512500;
    return state.tells_power ? 0 : not_supported;
}
EXPORTED int nvmlDeviceGetClockInfo(int*, int type, unsigned* megahertz) {
    *megahertz = type == 1 ? 1980 : 3201;
    return 0;
}
EXPORTED int nvmlDeviceGetTemperature(int*, int, unsigned* celsius) {
    *celsius = 45;
    return 0;
}
EXPORTED int nvmlDeviceGetCurrentClocksThrottleReasons(int*, unsigned long long* reasons) {
    *reasons = 0x1 | 0x4;
    return 0;
}
EXPORTED int nvmlDeviceGetTotalEnergyConsumption(int*, unsigned long long* millijoules) {
    *millijoules = state.millijoules;
    return state.counts_energy ? 0 : not_supported;
}
EXPORTED int nvmlDeviceGetFieldValues(int*, int count, hone::cuda::NvmlFieldValue* values) {
    for (int i = 0; i < count; ++i) {
        values[i].type = 1;
        values[i].value.number = 600250;
        values[i].result = state.tells_instant && values[i].field == hone::cuda::nvml_field_power_instant ? 0 : not_supported;
    }
    return 0;
}
