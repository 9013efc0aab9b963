// A library to be preloaded, see file_calls.hpp. It is C++ for its types alone: it may be called
// before anything of the program is set up, by any thread, and must change nothing but what it was
// asked to.
#include "tests/campaign/file_calls.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hone::test {
namespace {

constexpr int most_descriptors = 1024;
constexpr int log_descriptor = 900;  // beyond what a program opens by itself

struct Path {
    std::array<char, PATH_MAX> text{};
    std::size_t length() const { return std::strlen(text.data()); }
};

Path folder;
std::array<char*, most_descriptors> opened_as{};  // what these descriptors were opened as, where that is below the folder
int log_file = -1;
int failing_call = -1;
int failing_number = 0;
int failing_error = 0;
bool room_is_spent = false;  // after a short write
std::array<int, call_names.size()> calls{};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // NOLINT: the log's order is the calls' order

class Lock {
  public:
    Lock() { pthread_mutex_lock(&mutex); }
    ~Lock() { pthread_mutex_unlock(&mutex); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

void read_fault(const char* text) {
    const char* const number = std::strchr(text, ':');
    const char* const error = number == nullptr ? nullptr : std::strchr(number + 1, ':');
    if (error == nullptr) return;
    for (std::size_t i = 0; i < call_names.size(); ++i)
        if (std::strncmp(text, call_names[i], static_cast<std::size_t>(number - text)) == 0 && call_names[i][number - text] == '\0')
            failing_call = static_cast<int>(i);
    failing_number = std::atoi(number + 1);
    failing_error = std::atoi(error + 1);
}

__attribute__((constructor)) void set_up(int count, char** words, char** /*environment*/) {
    const char* const where = std::getenv("HONE_CALLS_FOLDER");
    const char* const command = std::getenv("HONE_CALLS_COMMAND");
    if (where == nullptr || std::strlen(where) >= PATH_MAX) return;
    if (command != nullptr && (count < 2 || std::strcmp(words[1], command) != 0)) return;
    std::strcpy(folder.text.data(), where);
    if (const char* const fault = std::getenv("HONE_CALLS_FAIL")) read_fault(fault);
    if (const char* const log = std::getenv("HONE_CALLS_LOG")) {
        const int file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
        log_file = static_cast<int>(syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, log_descriptor));
        syscall(SYS_close, file);
    }
}

bool below_folder(const char* path) {
    const std::size_t length = folder.length();
    return length > 0 && std::strncmp(path, folder.text.data(), length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// The absolute path, without `.` in the middle of it; empty when it is too long.
Path absolute(int base, const char* path) {
    Path result;
    if (path[0] != '/') {
        std::array<char, 64> link{};
        std::snprintf(link.data(), link.size(), base == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", base);
        if (readlink(link.data(), result.text.data(), result.text.size() - 1) <= 0) result.text[0] = '\0';
        if (std::strcmp(path, ".") == 0) return result;
        std::strncat(result.text.data(), "/", 2);
    }
    if (result.length() + std::strlen(path) + 1 >= result.text.size()) return {};
    std::strcat(result.text.data(), path);
    return result;
}

const char* path_of(int descriptor) {
    return descriptor >= 0 && descriptor < most_descriptors ? opened_as[static_cast<std::size_t>(descriptor)] : nullptr;
}

// Whether this call is the one that shall fail.
bool fails(Call call) {
    const auto index = static_cast<std::size_t>(call);
    return ++calls[index] == failing_number && failing_call == static_cast<int>(index);
}

void log(Event event, const char* path, const void* more = nullptr, std::size_t more_bytes = 0) {
    if (log_file < 0) return;
    const int error = errno;
    event.process = static_cast<pid_t>(syscall(SYS_getpid));
    event.path_bytes = static_cast<std::uint32_t>(std::strlen(path));
    event.more_bytes = static_cast<std::uint32_t>(more_bytes);
    const std::array<iovec, 3> parts{iovec{&event, sizeof event}, iovec{const_cast<char*>(path), event.path_bytes},
                                     iovec{const_cast<void*>(more), more_bytes}};
    syscall(SYS_writev, log_file, parts.data(), parts.size());
    errno = error;
}

int injected(Call call, const char* path, int error) {
    Event event;
    event.call = call;
    event.error = error;
    event.injected = 1;
    log(event, path);
    errno = error;
    return -1;
}

std::uint64_t inode_of(int descriptor) {
    struct stat status {};
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

std::uint64_t inode_of(const char* path) {
    struct stat status {};
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

// A call that changes names.
template <typename Do>
int named(Call call, const char* path, const char* second, const Do& act) {
    const Lock lock;
    if (fails(call)) return injected(call, path, failing_error);
    Event event;
    event.call = call;
    event.inode = inode_of(path);
    const int result = static_cast<int>(act());
    if (result != 0) event.error = errno;
    const int error = errno;
    if (call == Call::mkdir) event.inode = inode_of(path);
    errno = error;
    log(event, path, second, second == nullptr ? 0 : std::strlen(second));
    return result;
}

// A call about an open file that writes nothing.
template <typename Do>
int described(Call call, int descriptor, std::int64_t offset, const Do& act) {
    const char* const path = path_of(descriptor);
    if (path == nullptr) return static_cast<int>(act());
    const Lock lock;
    if (fails(call)) return injected(call, path, failing_error);
    Event event;
    event.call = call;
    event.inode = inode_of(descriptor);
    event.offset = offset;
    const int result = static_cast<int>(act());
    if (result != 0) event.error = errno;
    log(event, path);
    return result;
}

int open_file(int base, const char* name, int flags, mode_t mode) {
    const auto act = [&] { return static_cast<int>(syscall(SYS_openat, base, name, flags, mode)); };
    const Path path = absolute(base, name);
    if (!below_folder(path.text.data())) return act();
    const Lock lock;
    if (fails(Call::open)) return injected(Call::open, path.text.data(), failing_error);
    Event event;
    event.call = Call::open;
    event.created = (flags & O_CREAT) != 0 && inode_of(path.text.data()) == 0 ? 1 : 0;
    event.truncated = (flags & O_TRUNC) != 0 ? 1 : 0;
    const int descriptor = act();
    if (descriptor < 0) {
        event.error = errno;
    } else {
        event.inode = inode_of(descriptor);
        if (descriptor < most_descriptors) opened_as[static_cast<std::size_t>(descriptor)] = strdup(path.text.data());
    }
    log(event, path.text.data());
    return descriptor;
}

ssize_t write_file(Call call, int descriptor, const void* data, std::size_t bytes, std::int64_t offset) {
    const auto act = [&](std::size_t length) {
        return call == Call::write ? syscall(SYS_write, descriptor, data, length) : syscall(SYS_pwrite64, descriptor, data, length, offset);
    };
    const char* const path = path_of(descriptor);
    if (path == nullptr) return act(bytes);
    const Lock lock;
    if (room_is_spent) return injected(call, path, ENOSPC);
    if (fails(call)) {
        if (failing_error != 0) return injected(call, path, failing_error);
        room_is_spent = true;
        bytes /= 2;
    }
    const ssize_t written = act(bytes);
    Event event;
    event.call = call;
    event.inode = inode_of(descriptor);
    event.injected = room_is_spent ? 1 : 0;
    if (written < 0)
        event.error = errno;
    else
        event.offset = call == Call::pwrite ? offset : lseek(descriptor, 0, SEEK_CUR) - written;
    log(event, path, data, written < 0 ? 0 : static_cast<std::size_t>(written));
    return written;
}

ssize_t read_file(Call call, int descriptor, void* data, std::size_t bytes, std::int64_t offset) {
    const char* const path = path_of(descriptor);
    if (path != nullptr) {
        const Lock lock;
        if (fails(call)) return injected(call, path, failing_error);
        Event event;
        event.call = call;
        log(event, path);
    }
    return offset < 0 ? syscall(SYS_read, descriptor, data, bytes) : syscall(SYS_pread64, descriptor, data, bytes, offset);
}

int change_name(Call call, int base, const char* name, const auto& act) {
    const Path path = absolute(base, name);
    return below_folder(path.text.data()) ? named(call, path.text.data(), nullptr, act) : static_cast<int>(act());
}

int change_names(Call call, int from_base, const char* from, int to_base, const char* to, const auto& act) {
    const Path first = absolute(from_base, from);
    const Path second = absolute(to_base, to);
    return below_folder(first.text.data()) ? named(call, first.text.data(), second.text.data(), act) : static_cast<int>(act());
}

// The file's mode, where there is one.
mode_t mode_of(int flags, va_list arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace
}  // namespace hone::test

using hone::test::Call;
using namespace hone::test;

extern "C" {

int open(const char* name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_file(AT_FDCWD, name, flags, mode);
}

int open64(const char* name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_file(AT_FDCWD, name, flags, mode);
}

int openat(int base, const char* name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_file(base, name, flags, mode);
}

int openat64(int base, const char* name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_file(base, name, flags, mode);
}

int close(int descriptor) {
    const auto act = [&] { return syscall(SYS_close, descriptor); };
    const char* const path = path_of(descriptor);
    if (path == nullptr) return static_cast<int>(act());
    const Lock lock;
    opened_as[static_cast<std::size_t>(descriptor)] = nullptr;
    const bool failing = fails(Call::close);
    Event event;
    event.call = Call::close;
    const int result = static_cast<int>(act());  // on Linux it is closed whatever it says
    if (failing) return injected(Call::close, path, failing_error);
    log(event, path);
    return result;
}

ssize_t write(int descriptor, const void* data, std::size_t bytes) {
    return write_file(Call::write, descriptor, data, bytes, 0);
}

ssize_t pwrite(int descriptor, const void* data, std::size_t bytes, off_t offset) {
    return write_file(Call::pwrite, descriptor, data, bytes, offset);
}

ssize_t pwrite64(int descriptor, const void* data, std::size_t bytes, off64_t offset) {
    return write_file(Call::pwrite, descriptor, data, bytes, offset);
}

ssize_t read(int descriptor, void* data, std::size_t bytes) {
    return read_file(Call::read, descriptor, data, bytes, -1);
}

ssize_t pread(int descriptor, void* data, std::size_t bytes, off_t offset) {
    return read_file(Call::read, descriptor, data, bytes, offset);
}

ssize_t pread64(int descriptor, void* data, std::size_t bytes, off64_t offset) {
    return read_file(Call::read, descriptor, data, bytes, offset);
}

int fsync(int descriptor) {
    return described(Call::fsync, descriptor, 0, [&] { return syscall(SYS_fsync, descriptor); });
}

int fdatasync(int descriptor) {
    return described(Call::fdatasync, descriptor, 0, [&] { return syscall(SYS_fdatasync, descriptor); });
}

int ftruncate(int descriptor, off_t length) noexcept {
    return described(Call::ftruncate, descriptor, length, [&] { return syscall(SYS_ftruncate, descriptor, length); });
}

int ftruncate64(int descriptor, off64_t length) noexcept {
    return described(Call::ftruncate, descriptor, length, [&] { return syscall(SYS_ftruncate, descriptor, length); });
}

int flock(int descriptor, int operation) noexcept {
    return described(Call::flock, descriptor, 0, [&] { return syscall(SYS_flock, descriptor, operation); });
}

int fcntl64(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    const auto act = [&] { return syscall(SYS_fcntl, descriptor, command, argument); };
    if (command != F_OFD_SETLK && command != F_OFD_GETLK) return static_cast<int>(act());
    return described(Call::lock, descriptor, 0, act);
}

int fcntl(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    return fcntl64(descriptor, command, argument);
}

int rename(const char* from, const char* to) noexcept {
    return change_names(Call::rename, AT_FDCWD, from, AT_FDCWD, to, [&] { return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to); });
}

int renameat(int from_base, const char* from, int to_base, const char* to) noexcept {
    return change_names(Call::rename, from_base, from, to_base, to, [&] { return syscall(SYS_renameat, from_base, from, to_base, to); });
}

int link(const char* from, const char* to) noexcept {
    return change_names(Call::link, AT_FDCWD, from, AT_FDCWD, to, [&] { return syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0); });
}

int unlink(const char* name) noexcept {
    return change_name(Call::unlink, AT_FDCWD, name, [&] { return syscall(SYS_unlinkat, AT_FDCWD, name, 0); });
}

int unlinkat(int base, const char* name, int flags) noexcept {
    const Call call = (flags & AT_REMOVEDIR) != 0 ? Call::rmdir : Call::unlink;
    return change_name(call, base, name, [&] { return syscall(SYS_unlinkat, base, name, flags); });
}

int rmdir(const char* name) noexcept {
    return change_name(Call::rmdir, AT_FDCWD, name, [&] { return syscall(SYS_unlinkat, AT_FDCWD, name, AT_REMOVEDIR); });
}

// The C library's own would go past the two above.
int remove(const char* name) noexcept {
    const int result = unlink(name);
    return result != 0 && (errno == EISDIR || errno == EPERM) ? rmdir(name) : result;
}

int mkdir(const char* name, mode_t mode) noexcept {
    return change_name(Call::mkdir, AT_FDCWD, name, [&] { return syscall(SYS_mkdirat, AT_FDCWD, name, mode); });
}

}  // extern "C"
