#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/limits.hpp"
#include "generator/search_space.hpp"

namespace hone {

/// The rules on threads and registers that the CUDA spaces of the stencil families share: a block within the device's, and `min_blocks` blocks
/// resident on a multiprocessor. `threads` are of a block, `registers` an estimate of the 32-bit registers of a thread.
std::vector<Constraint> residency_constraints(const Limits& limits, const std::function<std::int64_t(const Config&)>& threads,
                                              const std::function<std::int64_t(const Config&)>& registers);

/// Shared memory that the driver keeps per block. Source: CUDA C++ Programming Guide.
constexpr int reserved_shared_bytes = 1024;

/// Registers that a thread of a kernel with m16n8k4, k8 or k16 in f64 must be able to have: under launch bounds that leave fewer, ptxas 13 refuses
/// the kernel for sm_90 and sm_100, whatever it needs.
constexpr int f64_matrix_unit_registers = 64;

/// What a block takes of a device, as far as it can be told without compiling.
struct BlockResources {
    std::int64_t threads = 0;
    std::int64_t shared_bytes = 0;
    int registers = 0;      ///< per thread
    std::int64_t code = 0;  ///< multiply-adds that stand unrolled in the text
};

/// Why there is more of something than there can be, or nothing.
std::optional<std::string> too_many(std::int64_t value, std::int64_t most, const char* what);

/// Why a block, or `blocks` of them on one multiprocessor, need more than `limits`, or nothing.
std::optional<std::string> thread_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits);
std::optional<std::string> shared_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits);
std::optional<std::string> register_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits);

}  // namespace hone
