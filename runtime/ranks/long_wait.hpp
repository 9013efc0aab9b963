#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <string>

#include "foundation/threads.hpp"

namespace hone::inline v0_1 {

/// A wait for other ranks, which is told of when it lasts: after a while, then each time it has
/// become twice as long. The while is HONE_PATIENCE, in seconds; default 30; 0: nothing is told.
///
///     LongWait wait;
///     while (!changed.wait_until(lock, wait.next(), arrived)) tell_of_wait(text of wait.count());
class LongWait {
  public:
    using Clock = std::chrono::steady_clock;

    /// `part` of the while before the first time.
    explicit LongWait(double part = 1);

    Clock::time_point next() const { return next_; }
    /// Whether the next moment has come; then another one is next.
    bool due();
    double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  private:
    Clock::time_point begin_ = Clock::now();
    Clock::duration pause_{};
    Clock::time_point next_ = Clock::time_point::max();
};

/// What a rank is known to do.
struct RankWait {
    static constexpr int everybody = -1;
    bool waits = false;
    int from = everybody;  ///< whom it waits for

    bool operator==(const RankWait&) const = default;
};

/// "rank 0 of 3 has waited 30 s for rank 1. Rank 1 waits, too. Rank 2 does not wait: it computes,
/// or it is stopped". `first` is the number of the first in `ranks`, `noun` what they are called.
std::string wait_report(int speaker, double seconds, std::span<const RankWait> ranks, const std::string& noun = "rank", int first = 0);

/// A line on standard error.
void tell_of_wait(const std::string& text);

/// Tells of a call that returns when other ranks have made it, too, as long as the object lives.
class ToldWait {
  public:
    /// `text`: "rank 0 of 4 connects by NCCL"
    explicit ToldWait(std::string text);
    ~ToldWait();
    ToldWait(const ToldWait&) = delete;
    ToldWait& operator=(const ToldWait&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false;
    Threads thread_;
};

}  // namespace hone::inline v0_1
