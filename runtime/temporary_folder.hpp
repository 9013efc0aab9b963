#pragma once

#include <filesystem>

namespace hone {

/// A private folder in TMPDIR (or /tmp) that removes itself with all that is in it.
class TemporaryFolder {
  public:
    /// Throws Error when none can be made.
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace hone
