#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/descriptor.hpp"

namespace hone::inline v0_1 {

/// A file of lines that one process appends to while others read it, also on other hosts that share
/// the file system: a pipe without a connection. It replaces, by a rename, what an earlier run may
/// have left there. Any thread may append.
class LineFile {
  public:
    /// Throws Error when the file cannot be made.
    explicit LineFile(std::filesystem::path path);
    /// Throws Error when it cannot be written.
    void append(std::string_view line);

  private:
    std::filesystem::path path_;
    Descriptor descriptor_;
    std::mutex mutex_;
};

/// Reads a LineFile as it grows. The file is opened anew each time, which makes network file
/// systems look whether it has changed.
class LineFileReader {
  public:
    explicit LineFileReader(std::filesystem::path path) : path_(std::move(path)) {}

    /// Whole lines that were not taken yet, from the beginning where the file was replaced; none
    /// where there is no file.
    std::vector<std::string> take();
    /// Seconds since the file was seen to grow, or since this began to look at it.
    double silent_seconds() const;
    /// It has grown since the first look at it: whoever writes it lives.
    bool grows() const { return grows_; }

  private:
    std::filesystem::path path_;
    dev_t device_ = 0;
    ino_t number_ = 0;
    std::int64_t taken_ = 0;
    bool seen_ = false;
    bool grows_ = false;
    std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();
    std::string rest_;
};

}  // namespace hone::inline v0_1
