#include "foundation/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t boundless = std::int64_t{1} << 60;  // version 1 writes the largest multiple of a page where there is no limit

/// The numbers that a file begins with: none where it is not there or says "max".
std::vector<std::int64_t> numbers(const fs::path& path) {
    std::vector<std::int64_t> found;
    std::ifstream file(path);
    for (std::int64_t number = 0; file >> number;) found.push_back(number);
    return found;
}

template <typename Number>
void lower(Number& limit, Number to) {
    if (to > 0 && (limit == 0 || to < limit)) limit = to;
}

// What a version calls a group's limit of memory, its use, and in memory.stat the part of the use
// that the system can drop at once.
struct MemoryFiles {
    const char* limit;
    const char* used;
    const char* droppable;
};

std::int64_t droppable(const fs::path& group, std::string_view name) {
    std::ifstream file(group / "memory.stat");
    std::string word;
    for (std::int64_t bytes = 0; file >> word >> bytes;)
        if (word == name) return bytes;
    return 0;
}

void lower_by_group(CgroupLimits& limits, const fs::path& group) {
    const auto lower_processors = [&](std::int64_t microseconds, std::int64_t period) {
        if (period > 0) lower(limits.processors, static_cast<double>(microseconds) / static_cast<double>(period));
    };
    if (const auto both = numbers(group / "cpu.max"); both.size() == 2) lower_processors(both[0], both[1]);
    const auto quota = numbers(group / "cpu.cfs_quota_us");
    const auto period = numbers(group / "cpu.cfs_period_us");
    if (quota.size() == 1 && period.size() == 1) lower_processors(quota[0], period[0]);  // a quota of -1 is none
    for (const MemoryFiles& files : {MemoryFiles{"memory.max", "memory.current", "inactive_file"},
                                     MemoryFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}}) {
        const auto limit = numbers(group / files.limit);
        if (limit.size() != 1 || limit[0] >= boundless) continue;
        lower(limits.memory_bytes, limit[0]);
        const auto used = numbers(group / files.used);
        const std::int64_t kept = used.empty() ? 0 : used[0] - droppable(group, files.droppable);
        limits.memory_left = std::min(limits.memory_left, std::max(limit[0] - kept, std::int64_t{0}));
    }
}

}  // namespace

std::vector<fs::path> cgroup_folders(const fs::path& root) {
    std::vector<fs::path> folders;
    std::ifstream file(root / "proc/self/cgroup");
    const fs::path mounted = root / "sys/fs/cgroup";
    // "4:memory:/a/b", "1:cpu,cpuacct:/a/b"; version 2: "0::/a/b".
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        std::string names = line.substr(first + 1, second - first - 1);
        std::vector<fs::path> bases{mounted / (names.empty() ? "unified" : names)};
        if (names.empty()) bases.push_back(mounted);
        // Inside a container the path may be the host's, and only the group that is mounted can be
        // seen: its folder is read in any case.
        for (; !names.empty(); names.erase(0, std::min(names.find(','), names.size() - 1) + 1))
            bases.push_back(mounted / names.substr(0, names.find(',')));
        for (const fs::path& base : bases) {
            folders.push_back(base);
            for (const fs::path& part : fs::path(line.substr(second + 1)).relative_path()) folders.push_back(folders.back() / part);
        }
    }
    return folders;
}

CgroupLimits cgroup_limits(const fs::path& root) {
    CgroupLimits limits;
    for (const fs::path& group : cgroup_folders(root)) lower_by_group(limits, group);
    return limits;
}

}  // namespace hone::inline v0_1
