#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/descriptor.hpp"

namespace hone::inline v0_1 {

/// A content-addressed cache of compiled code on disk, shared by processes and threads.
///
/// Entries are private to the user (0700 folders, 0600 files; a folder that is a link, another
/// user's or one that others may write to is refused, and the one that was looked at stays in use
/// whatever takes its name), written to a temporary file and renamed, and carry the SHA-256 of
/// their contents: a truncated or corrupted entry counts as absent and is deleted. The oldest used
/// go first when the cache outgrows its bound.
///
///     DiskCache cache(DiskCache::default_folder());
///     cache.write("nvrtc 13.0 sm_90\n" + source, cubin);
///     if (auto cubin = cache.read("nvrtc 13.0 sm_90\n" + source)) ...
class DiskCache {
  public:
    /// `folder` is made when absent. Throws Error when it cannot be private.
    explicit DiskCache(std::filesystem::path folder, std::int64_t most_bytes = std::int64_t{2} << 30);

    /// HONE_CACHE, else XDG_CACHE_HOME/hone, else ~/.cache/hone, else, and where these can neither
    /// be found nor made, as on nodes whose home is read-only, hone-<user id> in the temporary
    /// folder.
    static std::filesystem::path default_folder();

    const std::filesystem::path& folder() const { return folder_; }

    /// The contents that were written under `key` (any text: it is hashed into the file's name), if
    /// they are there and whole.
    std::optional<std::string> read(const std::string& key) const;
    /// False when the disk refuses, e.g. because it is full: a cache that cannot keep is no error.
    bool write(const std::string& key, std::string_view contents) const;
    /// Where the contents of `key` lie once written. The file begins with the contents, so that a
    /// shared object can be loaded from there; what proves it whole stands behind them. `read`
    /// before, which verifies. A path for this process, while the cache lives.
    std::filesystem::path path(const std::string& key) const;

  private:
    void keep_bound() const;

    std::filesystem::path folder_;
    std::int64_t most_bytes_;
    Descriptor opened_;  // the folder
    /// Bytes that may be written before the folder is measured again.
    mutable std::atomic<std::int64_t> room_{0};
};

}  // namespace hone::inline v0_1
