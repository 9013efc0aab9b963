#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

/// A content-addressed cache of compiled code on disk, shared by processes.
///
/// Entries are private to the user (0700 folders, 0600 files; a folder that is another user's or open to others is refused), written to a temporary
/// file and renamed, and carry the SHA-256 of their contents: a truncated or corrupted entry counts as absent and is deleted. The oldest used go
/// first when the cache outgrows its bound.
class DiskCache {
  public:
    /// `folder` is made when absent. Throws Error when it cannot be private.
    explicit DiskCache(std::filesystem::path folder, std::int64_t most_bytes = std::int64_t{2} << 30);

    /// HONE_CACHE, else XDG_CACHE_HOME/hone, else ~/.cache/hone.
    static std::filesystem::path default_folder();

    const std::filesystem::path& folder() const { return folder_; }

    std::optional<std::string> read(const std::string& key) const;
    void write(const std::string& key, std::string_view contents) const;
    /// Where the verified contents of `key` lie as a plain file (a shared object must be one to be loaded).
    std::filesystem::path path(const std::string& key) const;

  private:
    std::filesystem::path folder_;
    std::int64_t most_bytes_;
};

/// SHA-256 as 64 hexadecimal digits (FIPS 180-4).
std::string sha256(std::string_view text);

}  // namespace hone
