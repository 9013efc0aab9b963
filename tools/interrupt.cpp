#include "tools/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "tools/command.hpp"

namespace hone::tools {
namespace {

// A signal handler can reach nothing but a global of this type.
volatile std::sig_atomic_t interruptions = 0;

extern "C" void count_interruption(int) {
    if (interruptions > 0) _exit(static_cast<int>(Exit::interrupted));
    interruptions = 1;
}

void install(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction hangup {};
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup wants it ignored
}

}  // namespace

InterruptGuard::InterruptGuard() {
    interruptions = 0;
    install(count_interruption);
}

InterruptGuard::~InterruptGuard() {
    // After an interruption the process is about to end with its own code: a late second Ctrl-C
    // must not change that.
    if (!requested()) install(SIG_DFL);
}

bool InterruptGuard::requested() const {
    return interruptions > 0;
}

}  // namespace hone::tools
