#pragma once

#include <string>
#include <string_view>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// The processor by /proc/cpuinfo.
struct CpuInfo {
    std::string name;               ///< "AMD EPYC 9B14"; Arm: implementer and part, e.g. "Arm 0x41 part 0xd4f"
    std::string flags;              ///< instruction-set flags, in the kernel's order
    std::string instruction_set;    ///< widest vector instructions: "x86-64-avx512", "x86-64-avx2", "x86-64-sse2", "aarch64-sve", "aarch64-neon"
    std::string microarchitecture;  ///< vendor, family and model: "amd-25-17", "intel-6-207"; empty where the system does not tell
    int vector_bytes = 16;          ///< of a register of that set; 16 where the length is the machine's choice (SVE)
};

/// Reads the text of /proc/cpuinfo: its first processor.
CpuInfo parse_cpuinfo(std::string_view text);

/// Number of processors in a list as the system writes it: "0-3,8" has 5. 1 for what is none.
int count_processors(std::string_view list);

/// This machine's.
CpuInfo read_cpuinfo();

/// This machine's processor as a device, with the limits of its cores and caches. `compiler` is the
/// version line for the fingerprint.
Device cpu_device(const std::string& compiler);

}  // namespace hone::inline v0_1
