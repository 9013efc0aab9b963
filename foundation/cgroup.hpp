#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

namespace hone::inline v0_1 {

/// Limits by the control groups of this process, version 1 or 2 of the system's interface: the
/// least of its group and all that hold it.
struct CgroupLimits {
    double processors = 0;          ///< time of so many per second; 0: no limit
    std::int64_t memory_bytes = 0;  ///< 0: no limit
    /// Of the memory, what is left beside what the groups' processes use; what the system keeps of
    /// files and can drop counts as left.
    std::int64_t memory_left = std::numeric_limits<std::int64_t>::max();
};

/// Where the files of this process's control groups may lie, of both versions of the interface; of
/// each hierarchy the group that holds all others first, its own last. `root`: of the file system,
/// another in tests.
std::vector<std::filesystem::path> cgroup_folders(const std::filesystem::path& root = "/");

/// Reads /proc/self/cgroup and the groups' files below /sys/fs/cgroup; what is not there limits
/// nothing. `root`: of the file system, another in tests.
///
///     if (const double quota = cgroup_limits().processors; quota > 0) fmt::print("{} processors\n", quota);
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace hone::inline v0_1
