// A management library for the fake driver's first device: 512.5 W, 1980 and 3201 MHz, 45 degrees, held back by the software power cap, and idle.
#include <cstring>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {
int the_device = 0;
constexpr int not_found = 6;
}  // namespace

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
    return std::strcmp(id, "0000:01:00.0") == 0 ? 0 : not_found;
}
EXPORTED int nvmlDeviceGetPowerUsage(int*, unsigned* milliwatts) {
    *milliwatts = 512500;
    return 0;
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
