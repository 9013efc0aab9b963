#include "tuner/worker/guarded_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/host_memory.hpp"

namespace hone::inline v0_1 {
namespace {

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// Of other devices: where the array begins behind the guard. Large arrays a large page further, so
// that they keep their place in it, and small ones as their own allocation would place them.
std::int64_t lead_bytes(std::int64_t bytes, std::int64_t guard) {
    return bytes >= 2 * large_page_bytes ? large_page_bytes : guard;
}

}  // namespace

GuardedMemory::GuardedMemory(Backend& backend, std::int64_t bytes, std::int64_t guard) : bytes_(bytes), before_(guard), behind_(guard) {
    if (traits_of(backend.device().limits.target).host_memory) {
        map(guard);
        return;
    }
    const std::int64_t lead = guard == 0 ? 0 : lead_bytes(bytes, guard);
    device_ = DeviceArray(backend, lead + bytes + guard);
    data_ = static_cast<char*>(device_.data()) + lead;
}

GuardedMemory::~GuardedMemory() {
    if (mapping_ != nullptr) munmap(mapping_, static_cast<std::size_t>(mapped_));
}

void GuardedMemory::map(std::int64_t guard) {
    constexpr std::int64_t far = std::int64_t{1} << 30, near = std::int64_t{1} << 20;
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    const auto refused = [&] {
        return Error("memory on the cpu", fmt::format("no room for {} bytes between pages without access", bytes_), "use a smaller problem");
    };
    if (bytes_ > usable_memory()) throw refused();
    const auto place = static_cast<std::int64_t>(next_place());
    // Where this process may not have so many addresses (ulimit -v), fewer will do.
    void* memory = MAP_FAILED;
    std::int64_t margin = 0;
    for (const std::int64_t one : {rounded_up(std::max(far, bytes_), page), near}) {
        if (memory != MAP_FAILED) break;
        margin = one;
        mapped_ = 2 * margin + rounded_up(guard, page) + large_page_bytes + rounded_up(place + bytes_ + guard, page);
        memory = mmap(nullptr, static_cast<std::size_t>(mapped_), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (memory == MAP_FAILED) throw refused();
    mapping_ = static_cast<char*>(memory);
    // The large page in which the array begins. The guard is before it: so that page is a whole
    // one.
    const std::int64_t least = margin + rounded_up(guard, page);
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(mapping_));
    char* const first = mapping_ + (rounded_up(address + least, large_page_bytes) - address);
    char* const low = first - rounded_up(guard, page);
    data_ = first + (lies_on_large_pages(bytes_) ? place : place % page);
    before_ = static_cast<char*>(data_) - low;
    behind_ = rounded_up(static_cast<char*>(data_) - first + bytes_ + guard, page) - (static_cast<char*>(data_) - first) - bytes_;
    const std::int64_t usable = before_ + bytes_ + behind_;
    if (mprotect(low, static_cast<std::size_t>(usable), PROT_READ | PROT_WRITE) != 0) {
        munmap(std::exchange(mapping_, nullptr), static_cast<std::size_t>(mapped_));
        throw refused();
    }
    if (lies_on_large_pages(bytes_)) madvise(first, static_cast<std::size_t>(low + usable - first), MADV_HUGEPAGE);
}

void GuardedMemory::make_read_only() {
    if (mapping_ == nullptr) return;
    char* const low = static_cast<char*>(data_) - before_;
    mprotect(low, static_cast<std::size_t>(before_ + bytes_ + behind_), PROT_READ);
}

void GuardedMemory::swap(GuardedMemory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(before_, other.before_);
    std::swap(behind_, other.behind_);
}

}  // namespace hone::inline v0_1
