#pragma once

#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tools/console/console.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// The compilers' verdict on the kernels that this hone makes of records' configurations.
struct KernelTrials {
    std::vector<std::string> failures;  ///< one for each record: why its kernel does not compile; empty: it does, or was not tried
    std::size_t tried = 0;
    std::size_t elsewhere = 0;  ///< not tried, because they are for processors of another architecture than this machine's
    std::size_t left = 0;       ///< not tried, because Ctrl-C came before
};

/// Compiles records' kernels, each for its own device, which need not be here, in as many processes
/// as the machine has threads, and shows progress. Of a step that two devices share it is the
/// kernel of the record's own. Records of which no kernel is made today are left out. What was
/// compiled is in the disk cache, so that the same call is soon done with it. Ctrl-C ends it with
/// what is known. Throws MissingError when there is no compiler.
KernelTrials try_kernels(const std::vector<Record>& records, const Families& families, Console& console);

}  // namespace hone::tools
