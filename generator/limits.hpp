#pragma once

#include "foundation/value.hpp"

namespace hone::inline v0_1 {

/// What kernels of a GPU may need beyond its limits: each instruction that not every device and
/// compiler has belongs to one. A form says what it needs (Form::needs); a value of a tunable is
/// offered where `Limits::has` says so.
enum class Feature {
    ordered_accesses,       ///< loads and stores with scopes, by which blocks wait for each other
    async_copies,           ///< copies past the registers, and cache hints
    bulk_copies,            ///< copies and prefetches in bulk, with barriers that count bytes
    f64_matrix_units,       ///< products of 8 x 8 x 4 in f64
    wide_f64_matrix_units,  ///< products of 16 x 8 x 4 to 16 x 8 x 16 in f64
    tf32_matrix_units       ///< products of 16 x 8 x 8 in TF32
};

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
    int compiler = 0;                         ///< CUDA: release of the compiler times ten (118 for NVRTC 11.8); 0: as new as any

    /// Whether the architecture has it, and the compiler knows the instructions. Always false on
    /// the CPU.
    bool has(Feature feature) const;
};

/// Limits of a CUDA architecture given as 80, 86, 89, 90, 100, 120, ...; an unknown newer one gets
/// the safest known values.
Limits cuda_limits(int architecture);

/// Limits that hold on any x86-64 or Arm processor; the CPU backend refines them for the machine it
/// runs on.
Limits cpu_limits();

}  // namespace hone::inline v0_1
