#pragma once

#include <omp.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace hone::inline v0_1 {

/// A thread that does one piece of work at a time, and is the same one every time: the OpenMP
/// threads that it starts stay.
///
///     thread.begin([&] { half(); });
///     other_half();
///     thread.end();
class HybridThread {
  public:
    HybridThread() : thread_([this, threads = omp_get_max_threads()](const std::stop_token& stop) { run(stop, threads); }) {}

    /// Requires that no work is under way.
    void begin(std::function<void()> work) {
        const std::lock_guard lock(mutex_);
        work_ = std::move(work);
        changed_.notify_all();
    }
    /// Waits for the work, and keeps what it threw.
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !work_; });
    }
    /// Waits for the work, and throws what it threw.
    void end() {
        wait();
        if (const std::exception_ptr thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
    }

  private:
    void run(const std::stop_token& stop, int threads) {
        omp_set_num_threads(threads);  // a new thread of ours has forgotten what the application asked for
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [this] { return static_cast<bool>(work_); })) {
            lock.unlock();
            std::exception_ptr thrown;
            try {
                work_();
            } catch (...) {
                thrown = std::current_exception();
            }
            lock.lock();
            thrown_ = thrown;
            work_ = nullptr;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::function<void()> work_;
    std::exception_ptr thrown_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace hone::inline v0_1
