#include "tools/console/crash_guard.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "tools/console/command.hpp"

namespace hone::tools {
namespace {

constexpr unsigned patience = 300;              // seconds
constexpr std::size_t stack_bytes = 64 * 1024;  // beside a stack that may have run over

// What a handler can reach.
std::string crashed, endless;
alignas(std::max_align_t) std::array<char, stack_bytes> stack;

extern "C" void tell(int signal) {
    const std::string_view text = signal == SIGALRM ? endless : crashed;
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(static_cast<int>(Exit::internal));
    _exit(static_cast<int>(Exit::nothing));
}

}  // namespace

CrashGuard::CrashGuard(const std::string& what) {
    crashed = fmt::format("hone: mistake: {}: it crashes\n", what);
    endless = fmt::format("hone: mistake: {}: it does not end within {} minutes\n", what, patience / 60);
    stack_t own{};
    own.ss_sp = stack.data();
    own.ss_size = stack.size();
    sigaltstack(&own, &stack_before_);
    struct sigaction action {};
    action.sa_handler = tell;
    action.sa_flags = SA_ONSTACK;
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before_[i]);
    alarm(patience);
}

CrashGuard::~CrashGuard() {
    alarm(0);
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
    sigaltstack(&stack_before_, nullptr);
}

}  // namespace hone::tools
