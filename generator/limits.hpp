#pragma once

#include "foundation/value.hpp"

namespace hone::inline v0_1 {

/// The limits of a device that constraints of a search space need. They are known for an
/// architecture without having the device.
struct Limits {
    Target target = Target::cpu;
    int architecture = 0;                     ///< CUDA: compute capability times ten (90 for sm_90); CPU: 0
    int max_threads_per_block = 1;            ///< CUDA
    int max_threads_per_multiprocessor = 1;   ///< CUDA
    int registers_per_multiprocessor = 0;     ///< CUDA, 32-bit registers
    int max_registers_per_thread = 255;       ///< CUDA
    int shared_bytes_per_block = 0;           ///< CUDA, with opt-in
    int shared_bytes_per_multiprocessor = 0;  ///< CUDA
    int multiprocessors = 1;                  ///< CUDA: multiprocessors; CPU: processors, which are threads of cores
    int threads_per_core = 1;                 ///< CPU
    int vector_bytes = 16;                    ///< CPU: widest vector register
    int cache_bytes = 1 << 20;                ///< CPU: L2 per core; CUDA: L2
};

/// Limits of a CUDA architecture given as 80, 86, 89, 90, 100, 120, ...; an unknown newer one gets
/// the safest known values.
Limits cuda_limits(int architecture);

/// Limits that hold on any x86-64 or Arm processor; the CPU backend refines them for the machine it
/// runs on.
Limits cpu_limits();

}  // namespace hone::inline v0_1
