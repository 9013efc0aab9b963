#include "foundation/file_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

constexpr mode_t shared_mode = 0666;  // less the user's umask

[[noreturn]] void fail(const fs::path& path, const std::string& what, const std::string& remedy) {
    throw Error(path.string(), fmt::format("{}: {}", what, system_message(errno)), remedy);
}

Descriptor opened(const fs::path& path, int flags) {
    fill_standard_descriptors();
    return Descriptor(open(path.c_str(), flags | O_CLOEXEC, shared_mode));
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

fs::path temporary_of(const fs::path& path) {
    return folder_of(path) / fmt::format(".{}.tmp", path.filename().string());
}

constexpr const char* room_remedy = "make room, or check the folder's permissions; what was there is unchanged";

// Removes a file without losing the reason of what failed before.
void discard(const fs::path& path) {
    const int reason = errno;
    unlink(path.c_str());
    errno = reason;
}

// New contents beside a file, on the disk.
void stage(const FileContents& file) {
    const fs::path temporary = temporary_of(file.path);
    const Descriptor descriptor = opened(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (!descriptor.valid()) fail(temporary, "it cannot be written", room_remedy);
    if (write_all(descriptor.get(), file.contents) && fsync(descriptor.get()) == 0) return;
    discard(temporary);
    fail(temporary, "it cannot be written", room_remedy);
}

// The staged contents that are not in place yet go when something fails.
class Staged {
  public:
    explicit Staged(const std::vector<FileContents>& files) : files_(&files) {}
    ~Staged() {
        for (std::size_t i = placed_; i < end_; ++i) discard(temporary_of((*files_)[i].path));
    }
    Staged(const Staged&) = delete;
    Staged& operator=(const Staged&) = delete;

    void add() {
        stage((*files_)[end_]);
        ++end_;
    }
    void place() {
        const fs::path& path = (*files_)[placed_].path;
        if (rename(temporary_of(path).c_str(), path.c_str()) != 0) fail(path, "it cannot be replaced", room_remedy);
        ++placed_;
    }
    std::size_t placed() const { return placed_; }

  private:
    const std::vector<FileContents>* files_;
    std::size_t end_ = 0;
    std::size_t placed_ = 0;
};

// As well as can be done: the disk has just failed.
void put_back(const fs::path& path, const std::optional<std::string>& before) {
    try {
        if (before)
            replace_file(path, *before);
        else
            unlink(path.c_str());
    } catch (const Error&) {
    }
}

// The queue of a folder's lock is a row of one-byte locks on its file. Byte 0 is held while a place
// is drawn: the byte after the last that anybody holds. Each holds its byte until it is done, so
// whoever has none before it has the folder. All of it is the kernel's: it ends with the process,
// and there is no number in a file that could be wrong. These are locks of an open file
// (F_OFD_...): threads exclude each other as well.
constexpr off_t drawing = 0;
constexpr off_t first_place = 1;

struct Bytes {
    off_t begin;
    off_t end;  // 0: no end
};

struct flock request(int type, Bytes bytes) {
    struct flock lock {};
    lock.l_type = static_cast<short>(type);
    lock.l_whence = SEEK_SET;
    lock.l_start = bytes.begin;
    lock.l_len = bytes.end == 0 ? 0 : bytes.end - bytes.begin;
    return lock;
}

[[noreturn]] void fail_to_lock(const fs::path& path) {
    const LockFailure failure = lock_failure(errno);
    throw Error(path.string(), failure.found, failure.remedy);
}

bool try_lock(int file, const fs::path& path, off_t place) {
    struct flock lock = request(F_WRLCK, {place, place + 1});
    if (fcntl(file, F_OFD_SETLK, &lock) == 0) return true;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) fail_to_lock(path);
    return false;
}

void unlock(int file, Bytes bytes) {
    struct flock lock = request(F_UNLCK, bytes);
    fcntl(file, F_OFD_SETLK, &lock);
}

// The byte of these that somebody else holds: one of them, not the first.
std::optional<off_t> taken(int file, const fs::path& path, Bytes bytes) {
    if (bytes.begin == bytes.end) return std::nullopt;
    struct flock lock = request(F_WRLCK, bytes);
    if (fcntl(file, F_OFD_GETLK, &lock) != 0) fail_to_lock(path);
    if (lock.l_type == F_UNLCK) return std::nullopt;
    return lock.l_start;
}

std::optional<off_t> first_taken(int file, const fs::path& path, Bytes bytes) {
    std::optional<off_t> first;
    while (const auto earlier = taken(file, path, {bytes.begin, first.value_or(bytes.end)})) first = earlier;
    return first;
}

// Each writes who it is at its own place, so that a name is read of nobody else than the one that
// holds the byte. Nothing depends on it.
constexpr off_t name_bytes = 128;

void write_name(int file, off_t place) {
    std::string name = fmt::format("process {} on {}", getpid(), host_name());
    name.resize(name_bytes, '\n');
    if (pwrite(file, name.data(), name.size(), place * name_bytes) < 0) errno = 0;
}

std::string name_at(int file, off_t place) {
    std::string name(name_bytes, '\0');
    const ssize_t length = pread(file, name.data(), name.size(), place * name_bytes);
    name.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    name.resize(std::min(name.find_first_of(std::string_view("\n\0", 2)), name.size()));
    return name.empty() ? "another process" : name;
}

constexpr auto look_again = std::chrono::milliseconds(2);

// Whether nobody stands in the way any more; waits before it says no. `holder` is who did the last
// time. Throws when that is one for too long.
class Wait {
  public:
    Wait(int file, const fs::path& path, std::chrono::milliseconds patience) : file_(file), path_(&path), patience_(patience) {}

    void behind(off_t holder) {
        const auto now = std::chrono::steady_clock::now();
        if (holder != holder_) {
            holder_ = holder;
            since_ = now;
        }
        if (now - since_ >= patience_)
            throw Error(path_->string(), fmt::format("{} has held it for over {} ms", name_at(file_, holder), patience_.count()),
                        "wait until it ends, or end it, then try again");
        std::this_thread::sleep_for(look_again);
    }

  private:
    int file_;
    const fs::path* path_;
    std::chrono::milliseconds patience_;
    off_t holder_ = -1;
    std::chrono::steady_clock::time_point since_;
};

}  // namespace

std::string system_message(int error) {
    const char* name = strerrorname_np(error);
    return fmt::format("{} ({})", std::generic_category().message(error), name == nullptr ? std::to_string(error) : name);
}

LockFailure lock_failure(int error) {
    // Lustre without its mount option, a network file system without its lock service, a kernel
    // without locks of open files.
    const bool none = error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK || error == EINVAL;
    if (!none) return {"it cannot be locked: " + system_message(error), "check the disk, or choose a folder on another one with --db or HONE_DB"};
    return {"its file system has no locks, and without them two processes would spoil each other's results: " + system_message(error),
            "mount it with locks (Lustre: the option flock or localflock), or choose a folder on another file system with --db or HONE_DB"};
}

bool write_all(int descriptor, std::string_view contents) {
    while (!contents.empty()) {
        const ssize_t written = write(descriptor, contents.data(), contents.size());
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = ENOSPC;  // a device that takes nothing more and gives no reason
        if (written <= 0) return false;
        contents.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string read_file(const fs::path& path, std::int64_t most_bytes) {
    constexpr const char* remedy = "check the path and its permissions";
    // A pipe without a writer would be waited for.
    const Descriptor file = opened(path, O_RDONLY | O_NONBLOCK);
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) fail(path, "it cannot be read", remedy);
    if (!S_ISREG(status.st_mode)) throw Error(path.string(), "it is not a regular file", remedy);
    if (status.st_size > most_bytes)
        throw Error(path.string(), fmt::format("it is longer than {} bytes", most_bytes), "check that it is what it should be");
    std::string contents(static_cast<std::size_t>(status.st_size), '\0');
    for (std::size_t at = 0; at < contents.size();) {
        const ssize_t got = read(file.get(), contents.data() + at, contents.size() - at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(path, "it cannot be read", remedy);
        if (got == 0) throw Error(path.string(), "it became shorter while it was read", "try again");
        at += static_cast<std::size_t>(got);
    }
    return contents;
}

void fill_standard_descriptors() {
    // The lowest number that is free is taken, and it is the one that was found closed.
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void replace_file(const fs::path& path, std::string_view contents) {
    replace_files({{path, std::string(contents)}});
}

void replace_files(const std::vector<FileContents>& files) {
    std::set<fs::path> folders;
    for (const FileContents& file : files) folders.insert(folder_of(file.path));
    for (const fs::path& folder : folders)
        if (!opened(folder, O_RDONLY | O_DIRECTORY).valid())
            fail(folder, "the folder cannot be opened", errno == ENOENT || errno == ENOTDIR ? "make it, or name another one" : room_remedy);
    for (const FileContents& file : files) {
        std::error_code none;
        if (fs::is_other(fs::status(file.path, none)))
            throw Error(file.path.string(), "it is a device, a pipe or a socket", "name a file, which may be replaced");
    }
    std::vector<std::optional<std::string>> before(files.size());
    for (std::size_t i = 0; i + 1 < files.size(); ++i) {
        // What the last one replaces need not be put back.
        if (fs::symlink_status(files[i].path).type() != fs::file_type::not_found)
            before[i] = read_file(files[i].path, std::numeric_limits<std::int64_t>::max());
    }
    Staged staged(files);
    for (std::size_t i = 0; i < files.size(); ++i) staged.add();
    try {
        for (std::size_t i = 0; i < files.size(); ++i) staged.place();
    } catch (const Error&) {
        for (std::size_t i = 0; i < staged.placed(); ++i) put_back(files[i].path, before[i]);
        throw;
    }
    for (const fs::path& folder : folders) synchronise_folder(folder);
}

void synchronise_folder(const fs::path& folder) {
    const Descriptor descriptor = opened(folder.empty() ? fs::path(".") : folder, O_RDONLY | O_DIRECTORY);
    // Some file systems refuse to synchronise a folder (EINVAL); a rename is atomic there all the
    // same.
    if (!descriptor.valid() || (fsync(descriptor.get()) != 0 && errno != EINVAL)) fail(folder, "the folder cannot be synchronised", "check the disk");
}

void make_folders(const fs::path& folder) {
    if (folder.empty()) return;
    std::error_code status;
    if (fs::is_directory(folder, status)) return;
    const fs::path above = folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
    if (above != folder) make_folders(above);
    if (mkdir(folder.c_str(), 0777) == 0) return synchronise_folder(above);
    const int reason = errno;
    if (fs::is_directory(folder, status)) return;  // another process was faster
    errno = reason;
    fail(folder, "the folder cannot be made", "name a folder that can be written");
}

FolderLock::FolderLock(const fs::path& folder, std::chrono::milliseconds patience) {
    const fs::path path = folder / ".lock";
    file_ = opened(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    if (!file_.valid()) fail(path, "it cannot be opened", "name a folder that can be written");
    const int file = file_.get();
    Wait wait(file, path, patience);
    while (!try_lock(file, path, drawing)) wait.behind(drawing);
    off_t place = first_place;
    while (const auto later = taken(file, path, {place, 0})) place = *later + 1;
    if (!try_lock(file, path, place)) fail_to_lock(path);
    write_name(file, place);
    unlock(file, {drawing, drawing + 1});
    while (const auto holder = first_taken(file, path, {first_place, place})) wait.behind(*holder);
}

FolderLock::~FolderLock() {
    // Explicitly, because a child forked meanwhile shares the open file and would hold the lock on.
    unlock(file_.get(), {0, 0});
}

}  // namespace hone::inline v0_1
