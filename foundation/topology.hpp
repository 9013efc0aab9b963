#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hone::inline v0_1 {

/// Caches of one level and kind that some processors use.
struct CacheKind {
    int level = 1;
    std::string kind;        ///< "data", "instruction" or "unified"
    std::int64_t bytes = 0;  ///< of one of them
    int count = 0;           ///< how many there are
};

/// Where some processors lie in the machine. What the system does not tell is counted as one.
struct Topology {
    int sockets = 1;
    int cores = 1;
    int threads_per_core = 1;  ///< of these processors, at most
    int numa_nodes = 1;
    std::vector<CacheKind> caches;  ///< by level
};

/// The bytes of a cache as Linux writes them under /sys: "48K", "2M"; 0 when the text says nothing.
std::int64_t cache_bytes(std::string_view text);

/// Of the processors of these numbers, as Linux describes them under /sys/devices/system/cpu.
/// `root`: of the file system, another in tests.
///
///     fmt::print("{} sockets\n", topology_of(processors().numbers).sockets);
Topology topology_of(const std::vector<int>& processors, const std::filesystem::path& root = "/");

/// These processors in as many shares of equal size, in the order of sockets and cores: threads of
/// a core stay together where that is possible. What is left over is in no share. Each is in
/// ascending order; `parts` is at most the number of processors.
std::vector<std::vector<int>> shares_of(const std::vector<int>& processors, int parts, const std::filesystem::path& root = "/");

}  // namespace hone::inline v0_1
