#include "foundation/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "foundation/cgroup.hpp"
#include "foundation/error.hpp"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace hone::inline v0_1 {

namespace {

std::int64_t physical_memory() {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

constexpr std::size_t large_page = large_page_bytes, small_page = std::size_t{4} << 10;
constexpr std::size_t alignment = 256;

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

// One place of a small page after the other, each on the next page, for caches that look at more of
// an address. Seventeen: whoever allocates others between a kernel's arrays, two or four for each,
// comes through all places, too.
std::size_t next_place() {
    constexpr unsigned places = small_page / alignment + 1;
    static std::atomic<unsigned> turn{0};
    return (turn++ % places + 1) * (small_page + alignment);
}

bool lies_on_large_pages(std::int64_t bytes) {
    return bytes >= large_page_bytes / 2;  // parts of ranks are small, and each look-up counts for them, too
}

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
    if (bytes < 0) throw Error(what, fmt::format("{} bytes", bytes), "ask for a size of at least 0");
    const auto gib = [](std::int64_t size) { return static_cast<double>(size) / (1 << 30); };
    const std::int64_t most = usable_memory();
    char* memory = nullptr;
    std::size_t before = alignment;
    if (bytes <= most) {
        const std::size_t wanted = std::max<std::size_t>(static_cast<std::size_t>(bytes), 1);
        const bool large = lies_on_large_pages(bytes);
        if (large) before = next_place();
        const std::size_t unit = large ? large_page : alignment, rounded = (before + wanted + unit - 1) / unit * unit;
        memory = static_cast<char*>(std::aligned_alloc(unit, rounded));
        // Stencils walk over many rows at once, each on another page: large pages spare the address
        // look-ups.
        if (memory != nullptr && large) madvise(memory, rounded, MADV_HUGEPAGE);
    }
    if (memory == nullptr)
        throw Error(what, fmt::format("no room for {} bytes ({:.3g} GiB; this process may have {:.3g} GiB)", bytes, gib(bytes), gib(most)),
                    "use a smaller problem");
    char* const start = memory + before;
    std::memcpy(start - sizeof memory, &memory, sizeof memory);
    ASAN_POISON_MEMORY_REGION(memory, before);
    return start;
}

void release_host_memory(void* pointer) noexcept {
    if (pointer == nullptr) return;
    char* memory = nullptr;
    ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(pointer) - alignment, alignment);
    std::memcpy(&memory, static_cast<char*>(pointer) - sizeof memory, sizeof memory);
    ASAN_UNPOISON_MEMORY_REGION(memory, static_cast<char*>(pointer) - memory);
    std::free(memory);
}

}  // namespace hone::inline v0_1
