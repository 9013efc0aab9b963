#include "generator/families/device/cuda_residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace hone {

std::vector<Constraint> residency_constraints(const Limits& limits, const std::function<std::int64_t(const Config&)>& threads,
                                              const std::function<std::int64_t(const Config&)>& registers) {
    return {{"threads_per_block",
             [=](const Config& config) -> std::optional<std::string> {
                 if (threads(config) <= limits.max_threads_per_block) return {};
                 return fmt::format("{} threads in a block, the device allows {}", threads(config), limits.max_threads_per_block);
             }},
            {"resident_threads",
             [=](const Config& config) -> std::optional<std::string> {
                 const std::int64_t resident = threads(config) * config.integer("min_blocks");
                 if (resident <= limits.max_threads_per_multiprocessor) return {};
                 return fmt::format("{} threads on a multiprocessor, the device holds {}", resident, limits.max_threads_per_multiprocessor);
             }},
            {"registers", [=](const Config& config) -> std::optional<std::string> {
                 const std::int64_t available = limits.registers_per_multiprocessor / (threads(config) * config.integer("min_blocks"));
                 const std::int64_t needed = registers(config);
                 if (needed <= std::min<std::int64_t>(available, limits.max_registers_per_thread)) return {};
                 return fmt::format("about {} registers per thread are needed, {} can be had", needed, available);
             }}};
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
    constexpr int granularity = 8;  // registers are given out per thread in steps of 8
    const std::int64_t share = limits.registers_per_multiprocessor / (needs.threads * blocks) / granularity * granularity;
    return too_many(needs.registers, std::min<std::int64_t>(share, limits.max_registers_per_thread), "registers per thread (estimated)");
}

}  // namespace hone
