#include "generator/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "generator/cgroup.hpp"
#include "generator/error.hpp"

namespace hone {

namespace {

std::int64_t physical_memory() {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

// Of /proc/meminfo: lines such as "MemAvailable:   31457280 kB".
std::int64_t available_memory(const std::filesystem::path& root) {
    std::ifstream file(root / "proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::int64_t kibibytes = 0;
        if (words >> name >> kibibytes && name == "MemAvailable:") return kibibytes << 10;
    }
    return physical_memory();
}

}  // namespace

std::int64_t usable_memory() {
    static const std::int64_t bytes = [] {
        const std::int64_t limit = cgroup_limits().memory_bytes;
        return limit == 0 ? physical_memory() : std::min(limit, physical_memory());
    }();
    return bytes;
}

std::int64_t free_memory(const std::filesystem::path& root) {
    return std::min(available_memory(root), cgroup_limits(root).memory_left);
}

void* allocate_host_memory(std::int64_t bytes, const std::string& what) {
    constexpr std::size_t large_page = std::size_t{2} << 20;
    constexpr std::size_t least_alignment = 256;
    if (bytes < 0) throw Error(what, fmt::format("{} bytes", bytes), "ask for a size of at least 0");
    const auto gib = [](std::int64_t size) { return static_cast<double>(size) / (1 << 30); };
    const std::int64_t most = usable_memory();
    void* memory = nullptr;
    if (bytes <= most) {
        const std::size_t wanted = std::max<std::size_t>(static_cast<std::size_t>(bytes), 1);
        const std::size_t unit = wanted >= 2 * large_page ? large_page : least_alignment;
        const std::size_t rounded = (wanted + unit - 1) / unit * unit;
        memory = std::aligned_alloc(unit, rounded);
        // Stencils walk over many rows at once, each on another page: large pages spare the address look-ups.
        if (memory != nullptr && unit == large_page) madvise(memory, rounded, MADV_HUGEPAGE);
    }
    if (memory == nullptr)
        throw Error(what, fmt::format("no room for {} bytes ({:.3g} GiB; this process may have {:.3g} GiB)", bytes, gib(bytes), gib(most)),
                    "use a smaller problem");
    return memory;
}

}  // namespace hone
