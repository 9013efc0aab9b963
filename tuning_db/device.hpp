#pragma once

#include <string>

#include "generator/value.hpp"

namespace hone {

/// What a tuned result is valid for: one model of device with its software. Two equal machines have equal fingerprints.
struct DeviceFingerprint {
    Target target = Target::cpu;
    std::string name;          ///< as the driver or the processor says it: "NVIDIA H200", "AMD EPYC 9B14"
    std::string architecture;  ///< "sm_90"; CPU: widest instruction set, e.g. "x86-64-avx512"
    int units = 0;             ///< multiprocessors, or hardware threads that may be used
    std::string driver;        ///< CUDA driver version; empty on the CPU
    std::string compiler;      ///< "NVRTC 13.0" or the host compiler's first line

    bool operator==(const DeviceFingerprint&) const = default;
};

/// Name of the database file of a device model, e.g. "nvidia_h200" or "amd_epyc_9b14_2": lower case, digits, underscores. CPUs add their
/// number of threads, because the best configuration depends on it.
std::string device_key(const DeviceFingerprint& device);

}  // namespace hone
