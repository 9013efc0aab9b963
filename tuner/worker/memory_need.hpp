#pragma once

#include <vector>

#include "generator/kernel_source.hpp"
#include "generator/problem.hpp"
#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// Bytes, on the host and on a device with memory of its own.
struct MemoryBytes {
    double host = 0;
    double device = 0;

    bool operator==(const MemoryBytes&) const = default;
};

/// The memory that a `CandidateBench` needs at most at one time. On the host it has the workload
/// with the reference's answer. On the device, which may be the host, it has the arrays that
/// candidates work on, those that they start from, and the answer. Tables of kernels come on top.
MemoryBytes bench_memory(const std::vector<ArraySpec>& arrays, Precision precision, Target target);

/// The memory that `balance` needs: the workload with the answer and copies of what steps write on
/// the host, and the arrays once more on a device.
MemoryBytes balance_memory(const std::vector<ArraySpec>& arrays, Precision precision);

/// The memory that is free on the host now, by the system and by the control groups of this
/// process, and the memory of the device.
MemoryBytes memory_for(const Device& device);

/// Throws Error when there is not enough memory, saying how much the problem needs and how much
/// there is. Call it before allocating: the system promises more memory than there is, and kills a
/// process when the memory is used.
///
///     require_memory(problem, bench_memory(family.arrays(problem), problem.precision(), target), memory_for(device));
void require_memory(const Problem& problem, const MemoryBytes& needed, const MemoryBytes& there);

}  // namespace hone::inline v0_1
