#pragma once

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "foundation/caught.hpp"

namespace hone::inline v0_1 {

/// Threads whose exceptions reach the one that joins them. The destructor joins, too, and drops
/// them.
///
///     Threads threads;
///     for (int i = 0; i < 4; ++i) threads.start([&] { work(); });
///     threads.join();
class Threads {
  public:
    /// Throws std::system_error where the system gives no further thread.
    void start(std::function<void()> work) {
        threads_.emplace_back([this, work = std::move(work)] { caught_.from(work); });
    }
    bool any_failed() { return caught_.any(); }
    /// Waits for all, and throws the first of what they threw.
    void join() {
        threads_.clear();
        caught_.rethrow();
    }

  private:
    Caught caught_;
    std::vector<std::jthread> threads_;  // last: they use the other
};

}  // namespace hone::inline v0_1
