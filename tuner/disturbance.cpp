#include "tuner/disturbance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "foundation/text.hpp"

namespace hone::inline v0_1 {

std::int64_t most_cache_bytes(const Limits& limits) {
    if (!traits_of(limits.target).shares_processors) return limits.cache_bytes;
    // Four cores or more share a last cache.
    constexpr std::int64_t least_sharing = 4;
    const std::int64_t cores = std::max(1, limits.multiprocessors / std::max(1, limits.threads_per_core));
    const std::int64_t last = std::max<std::int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
    return cores * limits.cache_bytes + (cores + least_sharing - 1) / least_sharing * last;
}

std::string disturbance(const Record& record, double executed_operations, std::int64_t cache_bytes, const Ceilings& ceilings) {
    constexpr double most = 1.1;
    Counts unavoidable = record.counts;
    unavoidable.bytes = std::max(0.0, unavoidable.bytes - 2 * static_cast<double>(cache_bytes));
    unavoidable.operations = traits_of(record.device.target).shares_processors ? std::min(unavoidable.operations, executed_operations) : 0;
    std::string binding;
    const double part = ceiling_seconds(unavoidable, record.problem.precision(), ceilings, binding) / record.step.median;
    std::vector<std::string> reasons;
    if (part > most) reasons.push_back(fmt::format("its rate is {} of the {} ceiling, which no kernel can pass", text::percent(part), binding));
    if (std::string gain = implausible_gain(record); !gain.empty()) reasons.push_back(std::move(gain));
    return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace hone::inline v0_1
