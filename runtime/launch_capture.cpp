#include "runtime/launch_capture.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>
#include <system_error>

#include "foundation/environment.hpp"
#include "foundation/error.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t giga = std::int64_t{1} << 30;

// "500M": powers of 1024.
std::int64_t bytes_of(const std::string& text) {
    constexpr std::string_view units = "KMGT";
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const std::size_t unit = rest == end ? std::string_view::npos : units.find(*rest);
    const int shift = unit == std::string_view::npos ? 0 : 10 * static_cast<int>(unit + 1);
    const bool whole = rest == end || (unit != std::string_view::npos && rest + 1 == end);
    if (error != std::errc() || !whole || number <= 0 || number > (std::int64_t{1} << 50 >> shift))
        throw Error("HONE_CAPTURE_LIMIT", "\"" + text + "\" is not a number of bytes", "write 500M or 16G");
    return number << shift;
}

std::string megabytes(std::int64_t bytes) {
    return fmt::format("{:.4g} MB", static_cast<double>(bytes) * 1e-6);
}

}  // namespace

bool CaptureSettings::matches(const std::string& problem) const {
    const std::string family = problem.substr(0, problem.find(' '));
    return pattern == family || pattern == family.substr(0, family.find(':')) || ::fnmatch(pattern.c_str(), problem.c_str(), 0) == 0;
}

std::optional<CaptureSettings> capture_settings() {
    CaptureSettings settings;
    settings.pattern = environment_variable("HONE_CAPTURE");
    if (settings.pattern.empty()) return std::nullopt;
    const std::string folder = environment_variable("HONE_CAPTURE_DIR");
    const std::string limit = environment_variable("HONE_CAPTURE_LIMIT");
    // Whole: the application may change its working folder.
    settings.folder = fs::absolute(folder.empty() ? "hone-captures" : folder);
    settings.most_bytes = limit.empty() ? 4 * giga : bytes_of(limit);
    return settings;
}

void LaunchCapture::before_launch(Backend& backend, const KernelSource& source, std::span<void* const> arrays, Stream stream,
                                  const std::function<Capture()>& description) {
    if (done_.load(std::memory_order_relaxed) || done_.exchange(true)) return;
    try {
        keep(backend, source, arrays, stream, description());
    } catch (const std::exception& error) {
        tell_(fmt::format("a launch was not captured: {}", error.what()));
    }
}

void LaunchCapture::keep(Backend& backend, const KernelSource& source, std::span<void* const> arrays, Stream stream, Capture capture) const {
    const fs::path file = capture_file(settings_.folder, capture.problem);
    if (fs::exists(file)) return;
    std::int64_t all = 0;
    for (const ArraySpec& spec : source.arrays)
        if (spec.access != Access::out) all += bytes_of(spec, source.precision);
    if (all > settings_.most_bytes)
        throw Error(capture.problem, fmt::format("its arrays have {}, and {} are allowed", megabytes(all), megabytes(settings_.most_bytes)),
                    "set HONE_CAPTURE_LIMIT, for example to 16G");
    for (std::size_t i = 0; i < source.arrays.size(); ++i) {
        const ArraySpec& spec = source.arrays[i];
        CapturedArray& kept = capture.arrays.emplace_back();
        kept.name = spec.name;
        kept.access = spec.access;
        kept.bytes = bytes_of(spec, source.precision);
        if (spec.access == Access::out) continue;
        if (spec.words > 0 && arrays[i] == nullptr) throw Error(capture.problem, "array " + spec.name + " is null", "give it an address");
        HostArray copy(source.precision, spec.words);
        if (spec.words > 0) backend.copy(copy.data(), arrays[i], kept.bytes, stream);
        backend.synchronise(stream);
        kept.sha256 = keep_data(settings_.folder, {static_cast<const char*>(copy.data()), static_cast<std::size_t>(kept.bytes)});
    }
    write_capture(settings_.folder, capture);
    tell_(fmt::format("captured a launch of {} ({}): {}; 'hone replay' tunes it with these data", capture.problem, megabytes(all), file.string()));
}

}  // namespace hone::inline v0_1
