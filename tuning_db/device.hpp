#pragma once

#include <string>
#include <string_view>

#include "foundation/value.hpp"
#include "generator/limits.hpp"

namespace hone::inline v0_1 {

/// The device that a tuned result is valid for: one model with its software. Two equal machines
/// have equal fingerprints.
struct DeviceFingerprint {
    Target target = Target::cpu;
    std::string name;          ///< as the driver or the processor says it: "NVIDIA H200", "AMD EPYC 9B14"
    std::string architecture;  ///< "sm_90"; CPU: widest instruction set and, where known, microarchitecture: "x86-64-avx512 intel-6-207-2048k"
    int units = 0;             ///< multiprocessors, or hardware threads that may be used
    std::string driver;        ///< CUDA driver version; empty on the CPU
    std::string compiler;      ///< "NVRTC 13.0" or the host compiler's first line

    bool operator==(const DeviceFingerprint&) const = default;
};

/// The instruction set that a device's code must be compiled for: the first part of `architecture`.
std::string_view instruction_set(const DeviceFingerprint& device);

/// Name of the database file of a device model, e.g. "nvidia_h200" or "amd_epyc_amd_25_17_1024k_2":
/// lower case, digits, underscores. CPUs add their microarchitecture, because virtual machines give
/// many models one name, and their number of threads, because the best configuration depends on
/// both.
std::string device_key(const DeviceFingerprint& device);

/// "sm_90" or "90" as 90. Throws Error naming `where`.
int parse_architecture(const std::string& text, const std::string& where);

/// The most that a device allows, as far as its model says it: its architecture's limits, or what
/// any processor of so many threads might have. Throws Error for a GPU of an unknown architecture.
Limits generous_limits(const DeviceFingerprint& device);

}  // namespace hone::inline v0_1
