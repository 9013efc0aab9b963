#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hone {

/// The whole of a file. Throws Error when it cannot be read, is no plain file, or is longer than `most_bytes`.
std::string read_file(const std::filesystem::path& path, std::int64_t most_bytes);

/// Replaces a file so that a crash at any moment leaves the old or the new contents: temporary file in the same folder (`.<name>.tmp`, so that two
/// writers of one file must exclude each other, see FolderLock), fsync, rename, fsync of the folder. Throws Error; the old file stays then.
void replace_file(const std::filesystem::path& path, std::string_view contents);

/// Holds the lock file `.lock` of a folder, against other processes and other threads, for as long as it lives. The system releases it when a
/// process dies in whatever way.
///
///     const FolderLock lock(folder);  // read, change and replace files of the folder here
class FolderLock {
  public:
    /// Waits at most `patience`. Throws Error naming the holder after that, or when the folder cannot be written.
    explicit FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience = std::chrono::seconds(60));
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

  private:
    int descriptor_ = -1;
};

}  // namespace hone
