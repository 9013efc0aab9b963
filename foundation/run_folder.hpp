#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "foundation/descriptor.hpp"
#include "foundation/temporary_folder.hpp"

namespace hone::inline v0_1 {

/// A temporary folder for programs that this process starts and may have to kill. A killed program
/// cannot clean up; this removes all its files.
///
/// When this process itself is killed, the next one removes the folder: its file `.owner` is locked
/// for as long as the process lives. A folder stays where anything is in doubt: its owner lives, it
/// belongs to another user, it is a link, its lock cannot be taken. Several processes may do this
/// at once.
///
///     const RunFolder folder;
///     run_process({program}, seconds, folder.environment());
class RunFolder {
  public:
    /// Removes the folders of killed processes, then makes one in TMPDIR (or /tmp). Throws Error
    /// when none can be made.
    RunFolder();
    ~RunFolder();
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;

    const std::filesystem::path& path() const { return folder_.path(); }
    /// Environment variables that make a program leave its temporary files here.
    std::vector<std::pair<std::string, std::string>> environment() const { return {{"TMPDIR", path().string()}}; }

  private:
    TemporaryFolder folder_;
    Descriptor owner_;
};

}  // namespace hone::inline v0_1
