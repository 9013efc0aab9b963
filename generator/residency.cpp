#include "generator/residency.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::inline v0_1 {

std::int64_t resident_blocks(const BlockResources& needs, const Limits& limits) {
    constexpr std::int64_t most = 32;  // of sm_70 to sm_120, but for those with 16 or 24
    if (needs.threads <= 0) return 0;
    std::int64_t blocks = std::min(most, limits.max_threads_per_multiprocessor / needs.threads);
    blocks = std::min(blocks, limits.shared_bytes_per_multiprocessor / (needs.shared_bytes + reserved_shared_bytes));
    if (needs.registers > 0) blocks = std::min(blocks, limits.registers_per_multiprocessor / (needs.registers * needs.threads));
    return blocks;
}

std::optional<std::string> too_many(std::int64_t value, std::int64_t most, const char* what) {
    if (value <= most) return std::nullopt;
    return fmt::format("{} {}, at most {} possible", value, what, most);
}

std::optional<std::string> thread_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits) {
    if (auto violation = too_many(needs.threads, limits.max_threads_per_block, "threads per block")) return violation;
    return too_many(needs.threads * blocks, limits.max_threads_per_multiprocessor, "threads for min_blocks blocks");
}

std::optional<std::string> shared_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits) {
    if (auto violation = too_many(needs.shared_bytes, limits.shared_bytes_per_block, "bytes of shared memory")) return violation;
    return too_many((needs.shared_bytes + reserved_shared_bytes) * blocks, limits.shared_bytes_per_multiprocessor,
                    "bytes of shared memory for min_blocks blocks");
}

std::optional<std::string> register_violation(const BlockResources& needs, std::int64_t blocks, const Limits& limits) {
    if (needs.threads == 0) return std::nullopt;  // a layout without threads is for another rule to refuse
    // Devices give registers to threads in steps of 8. An estimate is no better than that.
    const std::int64_t share = limits.registers_per_multiprocessor / (needs.threads * blocks);
    return too_many(needs.registers, std::min<std::int64_t>(share, limits.max_registers_per_thread), "registers per thread (estimated)");
}

}  // namespace hone::inline v0_1
