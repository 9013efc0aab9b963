#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/families.hpp"

namespace hone::test {

/// The statements of a kernel that ran.
struct Coverage {
    int statements = 0;             ///< of all functions
    int executed = 0;               ///< of them
    std::vector<std::string> left;  ///< lines of those that were not executed: "412: sum = 0;"

    double share() const { return statements == 0 ? 1 : double(executed) / statements; }
};

/// Why statements cannot be counted here; empty when they can. Takes clang, llvm-cov and
/// llvm-profdata.
std::string missing_for_coverage();

/// Runs a step, and a part of one, of each problem on the processor, of random data, compiled by
/// clang with its source-based coverage, and compares with the reference. The problems differ in
/// sizes, so that all have one kernel. `emitted` is the text whose statements are counted; what
/// else the kernel consists of (an emulator, say) is left out. `folder` is for the compiler's and
/// the runs' files.
Coverage coverage_of(const Family& family, const std::vector<Problem>& problems, const Config& config, const std::string& emitted,
                     const std::filesystem::path& folder);

}  // namespace hone::test
