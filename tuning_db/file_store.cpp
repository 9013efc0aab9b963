#include "tuning_db/file_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <thread>

#include "generator/error.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr mode_t shared_mode = 0666;  // less the user's umask

[[noreturn]] void fail(const fs::path& path, const std::string& what, const std::string& remedy) {
    throw Error(path.string(), fmt::format("{}: {}", what, std::generic_category().message(errno)), remedy);
}

// A file descriptor that closes itself.
class Descriptor {
  public:
    Descriptor(const fs::path& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, shared_mode)) {}
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number() const { return number_; }
    bool valid() const { return number_ >= 0; }

  private:
    int number_;
};

bool write_all(int descriptor, std::string_view contents) {
    while (!contents.empty()) {
        const ssize_t written = write(descriptor, contents.data(), contents.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        contents.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string holder_of(int descriptor) {
    std::string text(64, '\0');
    const ssize_t length = pread(descriptor, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    return text.empty() ? "another process" : text;
}

}  // namespace

std::string read_file(const fs::path& path, std::int64_t most_bytes) {
    constexpr const char* remedy = "check the path and its permissions";
    std::error_code status;
    if (!fs::is_regular_file(path, status)) throw Error(path.string(), "it is no plain file", remedy);
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) fail(path, "it cannot be read", remedy);
    const auto length = static_cast<std::int64_t>(file.tellg());
    if (length > most_bytes) throw Error(path.string(), fmt::format("it is longer than {} bytes", most_bytes), "check that it is what it should be");
    std::string contents(static_cast<std::size_t>(std::max<std::int64_t>(length, 0)), '\0');
    file.seekg(0);
    file.read(contents.data(), length);
    if (file.gcount() != length) fail(path, "it cannot be read", remedy);
    return contents;
}

void replace_file(const fs::path& path, std::string_view contents) {
    constexpr const char* remedy = "make room, or check the folder's permissions; the old file is unchanged";
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const fs::path temporary = folder / fmt::format(".{}.tmp", path.filename().string());
    const Descriptor folder_descriptor(folder, O_RDONLY | O_DIRECTORY);
    if (!folder_descriptor.valid()) fail(folder, "the folder cannot be opened", remedy);
    {
        const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
        if (!file.valid()) fail(temporary, "it cannot be written", remedy);
        if (!write_all(file.number(), contents) || fsync(file.number()) != 0) {
            const int reason = errno;
            unlink(temporary.c_str());
            errno = reason;
            fail(temporary, "it cannot be written", remedy);
        }
    }
    if (rename(temporary.c_str(), path.c_str()) != 0) {
        const int reason = errno;
        unlink(temporary.c_str());
        errno = reason;
        fail(path, "it cannot be replaced", remedy);
    }
    // Some file systems refuse to synchronise a folder (EINVAL); the rename is atomic there all the same.
    if (fsync(folder_descriptor.number()) != 0 && errno != EINVAL) fail(folder, "the folder cannot be synchronised", "check the disk");
}

FolderLock::FolderLock(const fs::path& folder, std::chrono::milliseconds patience) {
    const fs::path path = folder / ".lock";
    descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, shared_mode);
    if (descriptor_ < 0) fail(path, "it cannot be opened", "name a folder that can be written");
    const auto deadline = std::chrono::steady_clock::now() + patience;
    auto pause = std::chrono::milliseconds(1);
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        const bool taken = errno == EWOULDBLOCK || errno == EINTR;
        if (!taken || std::chrono::steady_clock::now() >= deadline) {
            const std::string holder = holder_of(descriptor_);
            close(descriptor_);
            if (!taken) fail(path, "it cannot be locked", "use a file system with locks");
            throw Error(path.string(), fmt::format("{} has held it for over {} ms", holder, patience.count()),
                        "wait until it ends, or end it, then try again");
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::milliseconds(50));
    }
    // For the message of whoever waits in vain; nothing depends on it.
    const std::string holder = fmt::format("process {}", getpid());
    if (ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, holder.data(), holder.size(), 0) < 0) errno = 0;
}

FolderLock::~FolderLock() {
    // Explicitly, because a child forked meanwhile shares the open file and would hold the lock on.
    flock(descriptor_, LOCK_UN);
    close(descriptor_);
}

}  // namespace hone
