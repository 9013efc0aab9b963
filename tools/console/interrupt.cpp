#include "tools/console/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "foundation/process.hpp"
#include "tools/console/command.hpp"

namespace hone::tools {
namespace {

// A signal handler can reach nothing but a global of this type.
volatile std::sig_atomic_t interruptions = 0;

extern "C" void count_interruption(int) {
    if (interruptions > 0) {
        kill_running_programs();
        _exit(static_cast<int>(Exit::interrupted));
    }
    interruptions = 1;
}

extern "C" void kill_programs_and_end(int signal) {
    kill_running_programs();
    std::signal(signal, SIG_DFL);
    raise(signal);
}

void (*otherwise)(int) = SIG_DFL;  // where there is no guard

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

void end_with_programs() {
    otherwise = kill_programs_and_end;
    install(otherwise);
}

InterruptGuard::InterruptGuard() {
    interruptions = 0;
    install(count_interruption);
    end_programs_when([] { return interruptions > 0; });
}

InterruptGuard::~InterruptGuard() {
    // After an interruption the process is about to end with its own code: a late second Ctrl-C
    // must not change that.
    if (requested()) return;
    end_programs_when(nullptr);
    install(otherwise);
}

bool InterruptGuard::requested() const {
    return interruptions > 0;
}

}  // namespace hone::tools
