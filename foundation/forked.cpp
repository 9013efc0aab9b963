#include "foundation/forked.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

// What fork copies and only the child changes.
std::atomic<bool> forked = false;

void note_fork() {
    forked.store(true, std::memory_order_relaxed);
}

}  // namespace

bool is_forked() noexcept {
    return forked.load(std::memory_order_relaxed);
}

void expect_not_forked() {
    if (!is_forked()) return;
    throw Error(fmt::format("process {}", getpid()),
                fmt::format("it was forked from process {}, which had opened a device: neither threads nor devices live on in a child", getppid()),
                "fork before the first device is opened, or start the program anew in the child (in Python: multiprocessing.get_context(\"spawn\"))");
}

void open_in_this_process() {
    expect_not_forked();
    static const int registered = pthread_atfork(nullptr, nullptr, note_fork);
    if (registered != 0) throw Error("opening a device", "there is no memory to note it", "end other programs");
}

}  // namespace hone::inline v0_1
