#include "tests/support/failing_call.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>

namespace hone::test {
namespace {

constexpr int none = -1;
std::atomic<int> failing_call{none};
std::atomic<int> failing_error{0};
std::atomic<int> calls_before{0};

bool fails(FailingCall::Call call) {
    if (failing_call != static_cast<int>(call)) return false;
    errno = failing_error;
    return true;
}

}  // namespace

FailingCall::FailingCall(Call call, int error) {
    failing_error = error;
    calls_before = 0;
    failing_call = static_cast<int>(call);
}

FailingCall::~FailingCall() {
    failing_call = none;
}

}  // namespace hone::test

// These stand before the C library's, in programs that use the above.
using hone::test::FailingCall;

extern "C" int flock(int file, int operation) noexcept {
    if (hone::test::fails(FailingCall::Call::flock)) return -1;
    return static_cast<int>(syscall(SYS_flock, file, operation));
}

extern "C" int fcntl64(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    if ((command == F_OFD_SETLK || command == F_OFD_GETLK) && hone::test::fails(FailingCall::Call::ofd_lock)) return -1;
    return static_cast<int>(syscall(SYS_fcntl, file, command, argument));
}

extern "C" int fcntl(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    return fcntl64(file, command, argument);
}

extern "C" ssize_t write(int file, const void* data, std::size_t bytes) {
    constexpr std::size_t part = 8;
    if (bytes >= 2 * part && hone::test::failing_call == static_cast<int>(FailingCall::Call::write_short)) {
        if (hone::test::calls_before++ == 0) return syscall(SYS_write, file, data, part);
        hone::test::fails(FailingCall::Call::write_short);
        return -1;
    }
    return syscall(SYS_write, file, data, bytes);
}

extern "C" int rename(const char* from, const char* to) noexcept {
    if (hone::test::failing_call == static_cast<int>(FailingCall::Call::rename_second) && hone::test::calls_before++ == 1 &&
        hone::test::fails(FailingCall::Call::rename_second))
        return -1;
    return static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}
