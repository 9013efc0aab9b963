#pragma once

#include <filesystem>
#include <string>

namespace hone::inline v0_1 {

/// TMPDIR, or /tmp.
std::filesystem::path temporary_place();

/// A private folder in TMPDIR (or /tmp) that removes itself with all that is in it.
class TemporaryFolder {
  public:
    /// Named `<beginning>XXXXXX`, the end being random. Throws Error when none can be made.
    explicit TemporaryFolder(const std::string& beginning = "hone-");
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace hone::inline v0_1
