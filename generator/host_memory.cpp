#include "generator/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "generator/error.hpp"

namespace hone {

std::int64_t physical_memory() {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

void* allocate_host_memory(std::int64_t bytes, const std::string& what) {
    constexpr std::size_t large_page = std::size_t{2} << 20;
    constexpr std::size_t least_alignment = 256;
    if (bytes < 0) throw Error(what, fmt::format("{} bytes", bytes), "ask for a size of at least 0");
    const auto gib = [](std::int64_t size) { return static_cast<double>(size) / (1 << 30); };
    const std::int64_t most = physical_memory();
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
        throw Error(what, fmt::format("no room for {} bytes ({:.3g} GiB; the machine has {:.3g} GiB)", bytes, gib(bytes), gib(most)),
                    "use a smaller problem");
    return memory;
}

}  // namespace hone
