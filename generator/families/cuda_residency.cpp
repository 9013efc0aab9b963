#include "generator/families/cuda_residency.hpp"

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

}  // namespace hone
