#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>

namespace hone::test {

/// Tells whether all processes that were started while it lives have ended, and those that they
/// started: each inherits the end of a pipe that is written to, and reading from the other one ends
/// when nobody is left who has it.
class Descendants {
  public:
    Descendants() { EXPECT_EQ(pipe(ends_.data()), 0); }
    ~Descendants() {
        for (const int end : ends_)
            if (end >= 0) close(end);
    }
    Descendants(const Descendants&) = delete;
    Descendants& operator=(const Descendants&) = delete;

    /// Waits for their end for half a minute. Asked once, and nothing is started later.
    bool gone() {
        close(ends_[1]);
        ends_[1] = -1;
        pollfd left{ends_[0], POLLIN, 0};
        return poll(&left, 1, 30'000) == 1;
    }

  private:
    std::array<int, 2> ends_{-1, -1};
};

}  // namespace hone::test
