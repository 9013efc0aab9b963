#pragma once

#include "generator/families.hpp"
#include "generator/limits.hpp"
#include "generator/search_space.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// Whether code for a device of these limits is code for a record's device, too: one instruction
/// set, or one compute capability.
bool same_instructions(const DeviceFingerprint& device, const Limits& limits);

/// How much less another architecture's result says, from 0 to 1: how differently memory and
/// arithmetic limit the record's step on the two devices, and how much their shared memory and
/// threads per multiprocessor differ; of processors, their threads, vectors and L2 caches.
double device_difference(const Record& record, const DeviceFingerprint& device);

/// What a member of a GPU's space makes of a multiprocessor, from 0 to 1: less than 1 where few
/// warps are resident at once, or lanes have no thread. 1 on a processor, and where a form does not
/// say what it takes.
double held(const SearchSpace& space, const Config& config, const Limits& limits);

/// How long a member takes by its family's count (FormSpace::count); 0 where that does not count.
double counted(const SearchSpace& space, const Config& config);

/// Part of the logarithm of a gain that is lost for every unit of distance (neighbour_distance)
/// over which a configuration carries: measured on an H200, 169 problems.
inline constexpr double lost_a_unit = 0.05;

/// How many times as fast as the safe configuration `member` is expected to be on the device of
/// `limits`, from what another architecture's record gained there: less what is lost over
/// `distance`, and in proportion to what the two leave of a multiprocessor here and there. A
/// configuration that filled 228 KB of shared memory with two blocks has half of its warps where
/// there are 100 KB. Where the family counts, no more than counts say.
double expected_gain(const Families& families, const Record& record, double distance, const SearchSpace& space, const Config& member,
                     const Limits& limits);

}  // namespace hone::inline v0_1
