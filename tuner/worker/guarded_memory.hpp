#pragma once

#include <cstdint>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// Memory of a device for one array, with more of it on both sides: `before` and `behind` bytes
/// that belong to nobody. Whoever fills them with known values sees there what wrote past an end.
///
/// On processors pages without access lie beyond these, a gigabyte of addresses or the size of the
/// array on either side, if that is more: what reads or writes far outside of the array crashes
/// there, rather than in other data. Arrays begin where allocate_host_memory would have them begin
/// in their page.
///
///     GuardedMemory memory(backend, bytes, 16384);
///     backend.copy(memory.data(), pristine, bytes);
class GuardedMemory {
  public:
    GuardedMemory() = default;
    /// With at least `guard` bytes on either side, which may be 0 and is a multiple of 256. The
    /// backend must outlive it. Throws Error with the size asked for.
    GuardedMemory(Backend& backend, std::int64_t bytes, std::int64_t guard);
    GuardedMemory(GuardedMemory&& other) noexcept { swap(other); }
    GuardedMemory& operator=(GuardedMemory&& other) noexcept {
        swap(other);
        return *this;
    }
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;
    ~GuardedMemory();

    void* data() const { return data_; }
    std::int64_t bytes() const { return bytes_; }
    std::int64_t before() const { return before_; }
    std::int64_t behind() const { return behind_; }

    /// From now on it is only read: on processors a write crashes. Other devices go on writing.
    void make_read_only();

  private:
    void map(std::int64_t guard);
    void swap(GuardedMemory& other) noexcept;

    DeviceArray device_;       // of what has a memory of its own
    char* mapping_ = nullptr;  // of processors, with the pages without access
    std::int64_t mapped_ = 0;
    void* data_ = nullptr;
    std::int64_t bytes_ = 0;
    std::int64_t before_ = 0;
    std::int64_t behind_ = 0;
};

}  // namespace hone::inline v0_1
