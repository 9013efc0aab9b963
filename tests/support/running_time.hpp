#pragma once

#include <pthread.h>

#include <cstdlib>
#include <ctime>
#include <thread>

namespace hone::test {

/// The time for which a thread that never waits has run since this was made. On an idle machine
/// that is elapsed time, and where others take the processors it is what they leave to one thread.
/// So an answer is held to the same bar on either.
class RunningTime {
  public:
    double seconds() {
        clockid_t clock = 0;
        timespec time{};
        if (pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 || clock_gettime(clock, &time) != 0) std::abort();
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }

  private:
    std::jthread thread_{[](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
    }};
};

}  // namespace hone::test
