#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// Copies ordinary host memory to a device at the rate of pinned memory: all threads fill one
/// pinned buffer while the device fetches the other. (An H200 took ordinary memory at 8.4 GB/s and
/// pinned memory at 55 GB/s: `benchmarks/buffers_benchmark`.) On the processor it is a plain copy.
///
///     Uploader uploader(backend);
///     uploader.upload(device.data(), host.data(), host.bytes());
class Uploader {
  public:
    static constexpr std::int64_t buffer_bytes = std::int64_t{16} << 20;  ///< long enough that a transfer's start does not count

    /// The backend must outlive it. The buffers are allocated at the first upload; Error when there
    /// is no memory for them.
    explicit Uploader(Backend& backend) : backend_(backend) {}

    /// Returns when the bytes are on the device and `from` may be reused; what was queued on the
    /// default stream before comes first.
    void upload(void* to, const void* from, std::int64_t bytes);

  private:
    struct FreePinned {
        Backend* backend;
        void operator()(void* pointer) const { backend->free_pinned(pointer); }
    };
    Backend& backend_;
    std::array<std::unique_ptr<void, FreePinned>, 2> buffers_;
};

}  // namespace hone::inline v0_1
