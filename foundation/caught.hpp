#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace hone::inline v0_1 {

/// Carries exceptions from threads to the one that waits for them: one that left a thread's
/// function, or a parallel loop, would end the process.
///
///     Caught caught;
///     #pragma omp parallel for
///     for (int i = 0; i < count; ++i) caught.from([&] { work(i); });
///     caught.rethrow();
class Caught {
  public:
    /// Runs `work`, and keeps what it throws, if nothing is kept yet.
    template <typename Work>
    void from(const Work& work) noexcept {
        try {
            work();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!first_) first_ = std::current_exception();
        }
    }
    bool any() {
        const std::lock_guard lock(mutex_);
        return first_ != nullptr;
    }
    /// Throws the first exception, once; when the threads are done.
    void rethrow() {
        if (const std::exception_ptr first = std::exchange(first_, nullptr)) std::rethrow_exception(first);
    }

  private:
    std::mutex mutex_;
    std::exception_ptr first_;
};

}  // namespace hone::inline v0_1
