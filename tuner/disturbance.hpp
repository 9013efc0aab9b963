#pragma once

#include <cstdint>
#include <string>

#include "generator/limits.hpp"
#include "runtime/ceilings.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// Bytes that a device's caches may keep from one time step to the next, rather too many than too
/// few.
std::int64_t most_cache_bytes(const Limits& limits);

/// The reason why a record's figures cannot be right, or an empty string. It is kept in
/// Record::disturbed.
///
/// - It passes 110 % of a ceiling that nothing can pass. At least the compulsory bytes go through
///   memory, except those that `cache_bytes` of caches may save: each of them one read and one
///   write. On a processor the units that the arithmetic ceiling is measured on do
///   `executed_operations` (KernelSource) or the counted ones, whichever are fewer; a GPU has
///   matrix units beside those.
/// - Its gain over the safe configuration is implausible (implausible_gain).
///
/// 110 %: ceilings are medians of a second's measurement, and records of a quiet H200 reach 104 %.
std::string disturbance(const Record& record, double executed_operations, std::int64_t cache_bytes, const Ceilings& ceilings);

}  // namespace hone::inline v0_1
