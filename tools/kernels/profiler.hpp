#pragma once

#include <string>
#include <vector>

#include "tools/console/json.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// A counter of the hardware, read while a kernel ran.
struct HardwareCounter {
    std::string kernel;
    std::string name;  ///< of the metric, as the profiler has it
    std::string unit;
    double value = 0;
};

/// The command that lets Nsight Compute read counters of a record's kernels: DRAM traffic and
/// throughput, arithmetic throughput, resident warps, hits of the second cache. `program` is ncu;
/// the kernels run as 'hone verify' with `words` runs them.
std::vector<std::string> profile_command(const std::string& program, const std::string& hone, const std::vector<std::string>& words,
                                         const std::vector<std::string>& entries);

/// Counters in what `ncu --csv` printed, which may have other lines around; of a kernel that ran
/// several times the last. Throws Error where there are none, with the profiler's own words.
std::vector<HardwareCounter> counters_in(const std::string& output);

/// Reads them on this machine's GPU. What stands in the way (no profiler, no permission, another
/// device) is an Error that says so.
std::vector<HardwareCounter> read_counters(const Record& record, const std::string& database);

std::string counters_table(const std::vector<HardwareCounter>& counters, const Counts& counts);
Json json_of(const std::vector<HardwareCounter>& counters);

}  // namespace hone::tools
