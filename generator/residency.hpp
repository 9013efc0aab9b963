#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "generator/limits.hpp"

namespace hone::inline v0_1 {

/// Shared memory that the driver keeps per block. Source: CUDA C++ Programming Guide.
constexpr int reserved_shared_bytes = 1024;

/// A block's demand on a device, as far as it is known without compiling.
struct BlockResources {
    std::int64_t threads = 0;
    std::int64_t shared_bytes = 0;
    int registers = 0;      ///< per thread
    std::int64_t code = 0;  ///< multiply-adds that stand unrolled in the text
};

/// Blocks that a multiprocessor has at once, by what is known of them; 0 where one is too many, or
/// has no threads.
std::int64_t resident_blocks(const BlockResources& needs, const Limits& limits);

/// Why there is more of something than there can be, or nothing.
std::optional<std::string> too_many(std::int64_t value, std::int64_t most, const char* what);

/// Why a block, or `blocks` of them on one multiprocessor, need more than `limits`, or nothing.
std::optional<std::string> thread_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits);
std::optional<std::string> shared_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits);
std::optional<std::string> register_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits);

}  // namespace hone::inline v0_1
