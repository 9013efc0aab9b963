#include "runtime/power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/cuda/nvml.hpp"
#include "runtime/rapl.hpp"

namespace hone::inline v0_1 {
namespace {

using Clock = std::chrono::steady_clock;

/// One way to read a GPU's power through NVML; the first that answers is taken.
struct NvmlMeter {
    const char* detail;
    PowerSource::Kind kind;
    double lag;
    std::optional<double> (*read)(const DeviceMonitor&);
};

// The counter is renewed about ten times a second. The mean is one of the last second on everything
// since Ampere but the A100 (NVML reference, nvmlDeviceGetPowerUsage). All are told in thousandths.
constexpr double nvml_resolution = 1e-3;
constexpr std::array nvml_meters{
    NvmlMeter{"total energy counter", PowerSource::Kind::joules, 0.1, [](const DeviceMonitor& monitor) { return monitor.total_joules(); }},
    NvmlMeter{"power at the moment", PowerSource::Kind::watts, 0.1, [](const DeviceMonitor& monitor) { return monitor.instant_watts(); }},
    NvmlMeter{"mean power of the last second", PowerSource::Kind::watts, 1.0,
              [](const DeviceMonitor& monitor) { return monitor.read().power_watts; }},
};

std::optional<PowerSource> nvml_source(int index, std::string& missing, const PowerPlaces& places) {
    const auto monitor = std::make_shared<const DeviceMonitor>(index, places.libraries);
    missing = monitor->missing();
    if (!missing.empty()) return std::nullopt;
    for (const NvmlMeter& meter : nvml_meters)
        if (meter.read(*monitor))
            return PowerSource{"nvml",          fmt::format("NVML, {} of cuda:{}", meter.detail, index), meter.kind, meter.lag,
                               nvml_resolution, [monitor, read = meter.read] { return read(*monitor); }};
    missing = fmt::format("NVML tells neither energy nor power of cuda:{}", index);
    return std::nullopt;
}

std::optional<PowerSource> rapl_source(std::string& missing, const PowerPlaces& places) {
    // The counters are renewed every millisecond and count in 2^-14 J by default (Intel's manual,
    // volume 3B, 15.10.1).
    constexpr double lag = 0.01;
    constexpr double resolution = 6.1e-5;
    const auto counter = std::make_shared<RaplCounter>(places.powercap);
    missing = counter->missing();
    if (!missing.empty()) return std::nullopt;
    return PowerSource{"rapl",     fmt::format("RAPL, {}", counter->zones()), PowerSource::Kind::joules, lag,
                       resolution, [counter] {
                           return counter->joules(); }};
}

/// The readings after the lag; of a counter those at which its value is new.
std::vector<PowerReading> telling(const PowerSource& source, std::span<const PowerReading> readings) {
    std::vector<PowerReading> kept;
    for (std::size_t i = 0; i < readings.size(); ++i) {
        if (readings[i].seconds < readings.front().seconds + source.lag) continue;
        const bool is_new = i > 0 && readings[i].value != readings[i - 1].value;
        if (source.kind == PowerSource::Kind::watts || is_new) kept.push_back(readings[i]);
    }
    return kept;
}

double joules_between(const PowerSource& source, std::span<const PowerReading> readings) {
    if (source.kind == PowerSource::Kind::joules) return readings.back().value - readings.front().value;
    double joules = 0;
    for (std::size_t i = 1; i < readings.size(); ++i)
        joules += 0.5 * (readings[i].value + readings[i - 1].value) * (readings[i].seconds - readings[i - 1].seconds);
    return joules;
}

double watts_between(const PowerSource& source, std::span<const PowerReading> readings) {
    return joules_between(source, readings) / (readings.back().seconds - readings.front().seconds);
}

/// Watts of consecutive parts of about equal length.
std::vector<double> windows_of(const PowerSource& source, std::span<const PowerReading> readings) {
    constexpr std::size_t most = 8;
    std::vector<double> windows;
    const std::size_t intervals = readings.size() - 1;
    const std::size_t count = std::min(most, intervals);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = i * intervals / count;
        const std::size_t end = (i + 1) * intervals / count;
        windows.push_back(watts_between(source, readings.subspan(begin, end - begin + 1)));
    }
    return windows;
}

}  // namespace

std::optional<PowerSource> find_power_source(const Device& device, std::string& missing, const PowerPlaces& places) {
    return traits_of(device.limits.target).has_monitor ? nvml_source(device.index, missing, places) : rapl_source(missing, places);
}

std::optional<PowerSummary> mean_power(const PowerSource& source, std::span<const PowerReading> readings) {
    const std::vector<PowerReading> kept = telling(source, readings);
    if (kept.size() < 2 || kept.back().seconds <= kept.front().seconds) return std::nullopt;
    PowerSummary summary;
    summary.seconds = kept.back().seconds - kept.front().seconds;
    summary.watts = watts_between(source, kept);
    summary.windows = windows_of(source, kept);
    const double period = readings.back().seconds - readings.front().seconds;
    summary.samples_per_second = static_cast<double>(readings.size() - 1) / period;
    std::size_t changes = 0;
    for (std::size_t i = 1; i < kept.size(); ++i) changes += kept[i].value != kept[i - 1].value ? 1 : 0;
    if (changes > 0) summary.resolution_seconds = summary.seconds / static_cast<double>(changes);
    summary.resolution_watts = source.kind == PowerSource::Kind::joules ? source.resolution / summary.seconds : source.resolution;
    return summary;
}

struct PowerMeter::State {
    PowerSource source;
    Clock::time_point began = Clock::now();
    mutable std::mutex mutex;  ///< of `readings` and `stopped`
    std::condition_variable stop;
    std::vector<PowerReading> readings;
    bool stopped = false;
    std::thread thread;

    void take() try {
        const auto before = Clock::now();
        const auto value = source.read();
        const auto after = Clock::now();
        if (!value) return;
        const std::chrono::duration<double> when = before + (after - before) / 2 - began;
        const std::lock_guard lock(mutex);
        readings.push_back({when.count(), *value});
    } catch (const std::exception&) {  // a reading less, and nothing leaves the thread
    }

    void run(Clock::duration interval) {
        for (auto next = Clock::now();; next = std::max(next + interval, Clock::now())) {
            {
                std::unique_lock lock(mutex);
                if (stop.wait_until(lock, next, [&] { return stopped; })) return;
            }
            take();
        }
    }

    void join() {
        {
            const std::lock_guard lock(mutex);
            stopped = true;
        }
        stop.notify_all();
        if (thread.joinable()) thread.join();
    }
};

PowerMeter::PowerMeter(PowerSource source, double interval) : state_(std::make_unique<State>()) {
    state_->source = std::move(source);
    const auto pause = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(interval));
    state_->thread = std::thread([state = state_.get(), pause] { state->run(pause); });
}

PowerMeter::~PowerMeter() {
    state_->join();
}

double PowerMeter::seconds() const {
    const std::lock_guard lock(state_->mutex);
    const std::vector<PowerReading> kept = telling(state_->source, state_->readings);
    return kept.empty() ? 0 : kept.back().seconds - kept.front().seconds;
}

std::optional<PowerSummary> PowerMeter::stop() {
    state_->join();
    return mean_power(state_->source, state_->readings);
}

}  // namespace hone::inline v0_1
