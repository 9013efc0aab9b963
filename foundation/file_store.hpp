#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/descriptor.hpp"

namespace hone::inline v0_1 {

/// The whole of a file. Throws Error when it cannot be read, is no plain file (a pipe is not waited
/// for), or is longer than `most_bytes`.
std::string read_file(const std::filesystem::path& path, std::int64_t most_bytes);

/// Opens what is closed of descriptors 0 to 2, so that reading from it and writing to it go on to
/// fail. Called before files and pipes are opened that stay open: in a program that was started
/// without standard streams they would take those numbers, and whatever it prints would land in
/// them.
void fill_standard_descriptors();

/// Replaces a file so that a crash at any moment leaves the old or the new contents: temporary file
/// in the same folder (`.<name>.tmp`, so that two writers of one file must exclude each other, see
/// FolderLock), fsync, rename, fsync of the folder. Throws Error, also for a device or a pipe; what
/// was there stays then.
void replace_file(const std::filesystem::path& path, std::string_view contents);

/// A file and what it shall hold.
struct FileContents {
    std::filesystem::path path;
    std::string contents;
};

/// Replaces several files, all or none of them: each as `replace_file` does it, but no file is
/// replaced before all new contents are on the disk, and those replaced are put back when one
/// cannot be. Throws Error, with the old files in place. A crash between two renames leaves some
/// old, some new.
void replace_files(const std::vector<FileContents>& files);

/// Makes a folder and those above it that are absent, and writes their names through to the disk.
/// Throws Error.
void make_folders(const std::filesystem::path& folder);

/// Writes a folder's names through to the disk: what was made in it, renamed or removed. Throws
/// Error.
void synchronise_folder(const std::filesystem::path& folder);

/// Writes all of it, however many calls that takes. False with the reason in `errno`.
bool write_all(int descriptor, std::string_view contents);

/// The meaning of an `errno`, e.g. "No space left on device (ENOSPC)".
std::string system_message(int error);

/// A call that locks a file failed for another reason than that somebody else holds it: what to
/// say, and what to do about it.
struct LockFailure {
    std::string found;
    std::string remedy;
};
LockFailure lock_failure(int error);

/// Holds the lock file `.lock` of a folder, against other processes and other threads, for as long
/// as it lives. Who comes first is served first. The system releases it, and a place in the queue,
/// when a process dies in whatever way.
///
///     const FolderLock lock(folder);  // read, change and replace files of the folder here
class FolderLock {
  public:
    /// Waits while the lock goes from hand to hand, and at most `patience` for any one holder.
    /// Throws Error naming the holder after that, or when the folder cannot be written, or when its
    /// file system has no locks.
    explicit FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience = std::chrono::seconds(60));
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

  private:
    Descriptor file_;
};

}  // namespace hone::inline v0_1
