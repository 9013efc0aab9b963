#include "runtime/disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>
#include <vector>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/sha256.hpp"
#include "foundation/temporary_folder.hpp"
#include "foundation/writable_folder.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

// An entry is its contents followed by this: magic, the SHA-256 and the length of the contents. A
// loader of shared objects ignores it.
constexpr std::string_view magic = "\nhone cache entry 1 ";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t length_digits = 16;
constexpr std::size_t trailer_bytes = magic.size() + digest_digits + length_digits;
constexpr std::string_view entry_ending = ".entry";
constexpr std::string_view temporary_ending = ".new";

std::string trailer(std::string_view contents) {
    return fmt::format("{}{}{:016x}", magic, sha256(contents), contents.size());
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

// The folder itself, open: whatever takes its name later is not used.
Descriptor private_folder(const fs::path& folder) {
    const std::string where = fmt::format("cache folder {}", folder.string());
    const std::string remedy = "set HONE_CACHE to a folder of your own";
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) throw Error(where, system_message(errno), remedy);
    if (S_ISLNK(status.st_mode)) throw Error(where, "it is a link", "set HONE_CACHE to the folder that it leads to, if that is yours");
    if (!S_ISDIR(status.st_mode)) throw Error(where, "it is not a folder", remedy);
    Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.valid() || ::fstat(opened.get(), &status) != 0) throw Error(where, system_message(errno), remedy);
    if (status.st_uid != ::geteuid())
        throw Error(where, fmt::format("it belongs to user {}, this process runs as user {}", status.st_uid, ::geteuid()), remedy);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        throw Error(where, "others may write to it, and what lies in it is loaded as code",
                    fmt::format("chmod 700 {}, or {}", folder.string(), remedy));
    return opened;
}

std::string entry_name(const std::string& key) {
    return sha256(key) + std::string(entry_ending);
}

// Unique among processes and threads.
std::string temporary_name(const std::string& entry) {
    static std::atomic<unsigned> counter{0};
    return fmt::format("{}.{}.{}{}", entry, ::getpid(), counter.fetch_add(1), temporary_ending);
}

struct Entry {
    std::string name;
    std::int64_t bytes = 0;
    struct timespec used {};
};

bool ends_with(std::string_view name, std::string_view ending) {
    return name.size() >= ending.size() && name.substr(name.size() - ending.size()) == ending;
}

// The names in a folder; none where it cannot be listed.
std::vector<std::string> names_in(int folder) {
    std::vector<std::string> names;
    // An open folder has one place where it is read, which threads would share.
    const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* listing = own < 0 ? nullptr : ::fdopendir(own);
    if (listing == nullptr) {
        if (own >= 0) ::close(own);
        return names;
    }
    while (const dirent* item = ::readdir(listing)) names.emplace_back(item->d_name);  // NOLINT(concurrency-mt-unsafe): the listing is ours
    ::closedir(listing);
    return names;
}

// All entries, oldest use first. Temporary files that nobody renames any more (their writer was
// killed) are removed.
std::vector<Entry> entries_by_age(int folder) {
    constexpr time_t abandoned_seconds = 3600;
    std::vector<Entry> entries;
    for (const std::string& name : names_in(folder)) {
        const bool entry = ends_with(name, entry_ending);
        struct stat status {};
        if ((!entry && !ends_with(name, temporary_ending)) || ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (entry)
            entries.push_back({name, status.st_size, status.st_mtim});
        else if (status.st_mtim.tv_sec + abandoned_seconds < std::time(nullptr))
            ::unlinkat(folder, name.c_str(), 0);
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec); });
    return entries;
}

bool can_be_used(const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder, error) || why_not_writable(folder).empty();
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::int64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {
    fill_standard_descriptors();
    std::error_code error;
    if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), error);
    int reason = error.value();
    if (reason == 0 && ::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST) reason = errno;
    if (reason != 0)
        throw Error(fmt::format("cache folder {}", folder_.string()), fmt::format("it cannot be made: {}", system_message(reason)),
                    "set HONE_CACHE to a folder of your own");
    opened_ = private_folder(folder_);
}

fs::path DiskCache::default_folder() {
    if (fs::path own = environment_variable("HONE_CACHE"); !own.empty()) return own;
    if (fs::path own = users_folder("XDG_CACHE_HOME", ".cache"); !own.empty() && can_be_used(own)) return own;
    return temporary_place() / fmt::format("hone-{}", ::geteuid());
}

fs::path DiskCache::path(const std::string& key) const {
    // By the open folder, where the system shows it.
    const fs::path open_folder = fmt::format("/proc/self/fd/{}", opened_.get());
    struct stat status {};
    return (::stat(open_folder.c_str(), &status) == 0 ? open_folder : folder_) / entry_name(key);
}

std::optional<std::string> DiskCache::read(const std::string& key) const {
    const std::string entry = entry_name(key);
    // A pipe without a writer would be waited for.
    const Descriptor file(::openat(opened_.get(), entry.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return std::nullopt;
    auto text = read_all(file.get(), static_cast<std::size_t>(status.st_size));
    auto contents = text ? verified(std::move(*text)) : std::nullopt;
    if (contents)
        ::futimens(file.get(), nullptr);  // used now
    else
        ::unlinkat(opened_.get(), entry.c_str(), 0);
    return contents;
}

bool DiskCache::write(const std::string& key, std::string_view contents) const {
    const std::string entry = entry_name(key);
    const std::string temporary = temporary_name(entry);
    const int folder = opened_.get();
    bool written = false;
    {
        const Descriptor file(::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
        if (!file.valid()) return false;
        written = write_all(file.get(), contents) && write_all(file.get(), trailer(contents)) && ::fsync(file.get()) == 0;
    }
    if (!written || ::renameat(folder, temporary.c_str(), folder, entry.c_str()) != 0) {
        ::unlinkat(folder, temporary.c_str(), 0);
        return false;
    }
    const auto bytes = static_cast<std::int64_t>(contents.size() + trailer_bytes);
    if (room_.fetch_sub(bytes) < bytes) keep_bound();
    return true;
}

// Measuring thousands of files at every write would cost as much as a small compilation, so it is
// done once an eighth of the room is used up: seven other processes may use theirs meanwhile.
void DiskCache::keep_bound() const {
    constexpr std::int64_t processes = 8;
    const auto entries = entries_by_age(opened_.get());
    std::int64_t total = 0;
    for (const auto& entry : entries) total += entry.bytes;
    // Down to seven eighths, so that a full cache is not measured at every write.
    const std::int64_t wanted = total > most_bytes_ ? most_bytes_ - most_bytes_ / 8 : most_bytes_;
    for (const auto& entry : entries) {
        if (total <= wanted) break;
        ::unlinkat(opened_.get(), entry.name.c_str(), 0);
        total -= entry.bytes;
    }
    room_.store((most_bytes_ - total) / processes);
}

}  // namespace hone::inline v0_1
