#pragma once

namespace hone::tools {

/// From now on SIGINT, SIGTERM and SIGHUP (unless ignored) end this process with the compilers that
/// it waits for, which have groups of their own, where no guard says otherwise.
void end_with_programs();

/// While it lives, the first Ctrl-C (SIGINT), SIGTERM or SIGHUP (unless ignored, as under nohup)
/// sets a flag instead of ending the process, and the second ends it at once with exit code 4.
/// The second does so for the rest of the process, which is about to end. A compiler that this
/// process waits for is ended by the first (InterruptedError, foundation/process.hpp). One at a
/// time.
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
