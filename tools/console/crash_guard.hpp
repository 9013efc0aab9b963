#pragma once

#include <array>
#include <csignal>
#include <string>

namespace hone::tools {

/// While it lives, code of a user's that this process runs may crash, or not end within five
/// minutes: then standard error says so of `what`, and the process ends with Exit::nothing. It
/// stands in for a signal's handlers, so there is one at a time.
///
///     const CrashGuard guard("the reference of jacobi");
class CrashGuard {
  public:
    explicit CrashGuard(const std::string& what);
    ~CrashGuard();
    CrashGuard(const CrashGuard&) = delete;
    CrashGuard& operator=(const CrashGuard&) = delete;

    /// SIGALRM is that of the five minutes.
    static constexpr std::array signals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};

  private:
    std::array<struct sigaction, signals.size()> before_{};
    stack_t stack_before_{};
};

}  // namespace hone::tools
