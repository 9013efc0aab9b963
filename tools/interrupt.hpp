#pragma once

namespace hone::tools {

/// While it lives, the first Ctrl-C (SIGINT), SIGTERM or SIGHUP (unless ignored, as under nohup)
/// sets a flag instead of ending the process, and the second ends it at once with exit code 4.
/// The second does so for the rest of the process, which is about to end. One at a time.
///
///     const InterruptGuard guard;
///     while (!guard.requested()) work();
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    bool requested() const;
};

}  // namespace hone::tools
