#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "generator/kernel_source.hpp"
#include "runtime/backend.hpp"
#include "runtime/capture.hpp"

namespace hone::inline v0_1 {

/// Which launches of an application are kept, and where.
struct CaptureSettings {
    std::string pattern;           ///< of problems' keys, with * and ?; or the name of a family
    std::filesystem::path folder;  ///< made when there is something to keep
    std::int64_t most_bytes = 0;   ///< of the arrays of one launch

    bool matches(const std::string& problem) const;
};

/// Settings from the environment: HONE_CAPTURE (the pattern), HONE_CAPTURE_DIR (by default
/// "hone-captures" in the working folder) and HONE_CAPTURE_LIMIT ("500M", "16G"; by default 4G).
/// Nothing without a pattern. Throws Error for a limit that is none.
std::optional<CaptureSettings> capture_settings();

/// Keeps the first launch of one kernel, unless the folder has its problem's already. A launch that
/// cannot be kept is told to `tell` and goes on: capturing never fails an application. Thread-safe.
class LaunchCapture {
  public:
    using Tell = std::function<void(const std::string&)>;
    LaunchCapture(CaptureSettings settings, Tell tell) : settings_(std::move(settings)), tell_(std::move(tell)) {}

    /// Called before each launch over [capture.first, capture.last), with the arrays of `source` in
    /// its order. Waits for the stream once.
    void before_launch(Backend& backend, const KernelSource& source, std::span<void* const> arrays, Stream stream,
                       const std::function<Capture()>& description);

  private:
    void keep(Backend& backend, const KernelSource& source, std::span<void* const> arrays, Stream stream, Capture capture) const;

    CaptureSettings settings_;
    Tell tell_;
    std::atomic<bool> done_{false};
};

}  // namespace hone::inline v0_1
