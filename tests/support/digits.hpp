#pragma once

#include <cstdint>
#include <vector>

#include "generator/family.hpp"
#include "runtime/backend.hpp"

namespace hone::test {

/// All arrays of the family's random workload after `steps` steps of a configuration.
std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed, int steps);

/// The same from given data, which stay as they are.
std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, const Workload& workload,
                               int steps);

/// Whether all arrays are the same to the last digit.
bool same_bytes(const std::vector<HostArray>& a, const std::vector<HostArray>& b);

/// Whether the processor rounds a multiply-add once, as a GPU does.
bool rounds_once();

}  // namespace hone::test
