#include "runtime/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>
#include <vector>

#include "generator/error.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

// An entry is its contents followed by this: magic, the SHA-256 and the length of the contents. A loader of shared objects ignores it.
constexpr std::string_view magic = "\nhone cache entry 1 ";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t length_digits = 16;
constexpr std::size_t trailer_bytes = magic.size() + digest_digits + length_digits;
constexpr std::string_view entry_ending = ".entry";
constexpr std::string_view temporary_ending = ".new";

class File {
  public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    bool open() const { return descriptor_ >= 0; }
    int get() const { return descriptor_; }

  private:
    int descriptor_;
};

std::string trailer(std::string_view contents) {
    return fmt::format("{}{}{:016x}", magic, sha256(contents), contents.size());
}

bool write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::optional<std::string> read_all(int descriptor, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t at = 0; at < bytes;) {
        const ssize_t got = ::read(descriptor, text.data() + at, bytes - at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        at += static_cast<std::size_t>(got);
    }
    return text;
}

// The contents of an entry that is whole.
std::optional<std::string> verified(std::string entry) {
    if (entry.size() < trailer_bytes) return std::nullopt;
    const std::size_t length = entry.size() - trailer_bytes;
    if (std::string_view(entry).substr(length) != trailer(std::string_view(entry).substr(0, length))) return std::nullopt;
    entry.resize(length);
    return entry;
}

void require_private(const fs::path& folder) {
    const std::string where = fmt::format("cache folder {}", folder.string());
    const std::string remedy = "set HONE_CACHE to a folder of your own";
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) throw Error(where, std::strerror(errno), remedy);
    if (!S_ISDIR(status.st_mode)) throw Error(where, "it is not a folder", remedy);
    if (status.st_uid != ::geteuid())
        throw Error(where, fmt::format("it belongs to user {}, this process runs as user {}", status.st_uid, ::geteuid()), remedy);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        throw Error(where, "others may write to it, and what lies in it is loaded as code",
                    fmt::format("chmod 700 {}, or {}", folder.string(), remedy));
}

// Unique among processes and threads.
std::string temporary_name(const std::string& entry) {
    static std::atomic<unsigned> counter{0};
    return fmt::format("{}.{}.{}{}", entry, ::getpid(), counter.fetch_add(1), temporary_ending);
}

struct Entry {
    fs::path path;
    std::int64_t bytes = 0;
    struct timespec used {};
};

// All entries, oldest use first. Temporary files that nobody renames any more (their writer was killed) are removed.
std::vector<Entry> entries_by_age(const fs::path& folder) {
    constexpr time_t abandoned_seconds = 3600;
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator item(folder, error), end; !error && item != end; item.increment(error)) {
        const std::string extension = item->path().extension().string();
        struct stat status {};
        if ((extension != entry_ending && extension != temporary_ending) || ::lstat(item->path().c_str(), &status) != 0) continue;
        if (extension == entry_ending)
            entries.push_back({item->path(), status.st_size, status.st_mtim});
        else if (status.st_mtim.tv_sec + abandoned_seconds < std::time(nullptr))
            ::unlink(item->path().c_str());
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec); });
    return entries;
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::int64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {
    std::error_code error;
    if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), error);
    if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        throw Error(fmt::format("cache folder {}", folder_.string()), fmt::format("it cannot be made: {}", std::strerror(errno)),
                    "set HONE_CACHE to a folder of your own");
    require_private(folder_);
}

fs::path DiskCache::default_folder() {
    const auto variable = [](const char* name) {
        const char* text = std::getenv(name);
        return fs::path(text == nullptr ? "" : text);
    };
    if (fs::path own = variable("HONE_CACHE"); !own.empty()) return own;
    // The XDG base directory specification: a relative path is to be ignored.
    if (const fs::path caches = variable("XDG_CACHE_HOME"); caches.is_absolute()) return caches / "hone";
    if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "hone";
    return fs::temp_directory_path() / fmt::format("hone-{}", ::geteuid());
}

fs::path DiskCache::path(const std::string& key) const {
    return folder_ / (sha256(key) + std::string(entry_ending));
}

std::optional<std::string> DiskCache::read(const std::string& key) const {
    const fs::path entry = path(key);
    const File file(::open(entry.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!file.open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return std::nullopt;
    auto text = read_all(file.get(), static_cast<std::size_t>(status.st_size));
    auto contents = text ? verified(std::move(*text)) : std::nullopt;
    if (contents)
        ::futimens(file.get(), nullptr);  // used now
    else
        ::unlink(entry.c_str());
    return contents;
}

bool DiskCache::write(const std::string& key, std::string_view contents) const {
    const fs::path entry = path(key);
    const fs::path temporary = temporary_name(entry.string());
    bool written = false;
    {
        const File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
        if (!file.open()) return false;
        written = write_all(file.get(), contents) && write_all(file.get(), trailer(contents)) && ::fsync(file.get()) == 0;
    }
    if (!written || ::rename(temporary.c_str(), entry.c_str()) != 0) {
        ::unlink(temporary.c_str());
        return false;
    }
    const auto bytes = static_cast<std::int64_t>(contents.size() + trailer_bytes);
    if (room_.fetch_sub(bytes) < bytes) keep_bound();
    return true;
}

// Measuring thousands of files at every write would cost as much as a small compilation, so it is done once an eighth of the room is used up:
// seven other processes may use theirs meanwhile.
void DiskCache::keep_bound() const {
    constexpr std::int64_t processes = 8;
    const auto entries = entries_by_age(folder_);
    std::int64_t total = 0;
    for (const auto& entry : entries) total += entry.bytes;
    // Down to seven eighths, so that a full cache is not measured at every write.
    const std::int64_t wanted = total > most_bytes_ ? most_bytes_ - most_bytes_ / 8 : most_bytes_;
    for (const auto& entry : entries) {
        if (total <= wanted) break;
        ::unlink(entry.path.c_str());
        total -= entry.bytes;
    }
    room_.store((most_bytes_ - total) / processes);
}

}  // namespace hone
