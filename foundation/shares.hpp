#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace hone::inline v0_1 {

/// One value, owned by several counts. Threads that copy pointers to it from different shares do
/// not wait for each other's count, as they would for the one count that all copies of a shared
/// pointer have. The value lives until the last copy of any share is gone.
template <typename Value>
class Shares {
  public:
    explicit Shares(const std::shared_ptr<const Value>& value) {
        for (auto& share : shares_) share = {std::make_shared<const Count>(Count{value}), value.get()};
    }

    /// The calling thread's; of more threads than there are shares some have the same.
    const std::shared_ptr<const Value>& mine() const {
        static std::atomic<std::size_t> threads{0};
        thread_local const std::size_t thread = threads.fetch_add(1, std::memory_order_relaxed);
        return shares_[thread % shares_.size()];
    }

  private:
    static constexpr std::size_t cache_lines = 128;  // that processors fetch together
    struct alignas(cache_lines) Count {
        std::shared_ptr<const Value> value;
    };
    std::array<std::shared_ptr<const Value>, 32> shares_;
};

}  // namespace hone::inline v0_1
