#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/cuda/shared_library.hpp"

namespace hone::inline v0_1 {

/// A meter that a device's power can be read from.
struct PowerSource {
    enum class Kind {
        joules,  ///< counts energy since some beginning: power is the difference of two readings, whatever happened between them
        watts    ///< says the power of the moment
    };
    std::string name;    ///< a plain word, for records: "nvml", "rapl"
    std::string detail;  ///< for people: "total energy counter of cuda:0"
    Kind kind = Kind::joules;
    double lag = 0;                               ///< seconds for which a reading still remembers what was before
    double resolution = 0;                        ///< least difference between two values, in joules or watts
    std::function<std::optional<double>()> read;  ///< by one thread at a time; nothing when it failed
};

/// Where meters are looked for.
struct PowerPlaces {
    cuda::LibraryCandidates libraries = cuda::library_candidates();
    std::filesystem::path powercap = "/sys/class/powercap";
};

/// The best meter of a device. For a GPU, NVML: its energy counter, else its power at the moment,
/// else its mean power of the last second. For the processor, RAPL through the kernel's powercap
/// files: all packages and, where they are counted apart, their memory.
///
/// Nothing, with the plain reason in `missing`, where there is none or it may not be read.
std::optional<PowerSource> find_power_source(const Device& device, std::string& missing, const PowerPlaces& places = {});

/// A reading of a meter.
struct PowerReading {
    double seconds = 0;  ///< when
    double value = 0;    ///< joules or watts
};

/// Mean power over a period.
struct PowerSummary {
    double watts = 0;
    std::vector<double> windows;    ///< watts of up to eight consecutive parts of the period, for its spread
    double seconds = 0;             ///< of the period
    double samples_per_second = 0;  ///< readings
    double resolution_seconds = 0;  ///< mean time between two different values of the meter
    double resolution_watts = 0;    ///< least difference that the period can show
};

/// The mean power by readings at equal intervals, in order of time. The first `lag` seconds are
/// left out. A counter's period begins and ends where its value is seen to change, because only
/// there is it known when that value was taken: so the error is one reading interval, however slow
/// the counter. Nothing when there are too few readings, or the counter changed less than twice.
std::optional<PowerSummary> mean_power(const PowerSource& source, std::span<const PowerReading> readings);

/// Reads a meter in the background, until it is stopped.
///
///     PowerMeter meter(*source);
///     do steps(); while (meter.seconds() < 0.5);
///     const auto power = meter.stop();  // nothing when the meter said too little
class PowerMeter {
  public:
    /// Begins to read every `interval` seconds.
    explicit PowerMeter(PowerSource source, double interval = default_interval);
    ~PowerMeter();
    PowerMeter(const PowerMeter&) = delete;
    PowerMeter& operator=(const PowerMeter&) = delete;

    /// Length of the period that can be told so far.
    double seconds() const;
    std::optional<PowerSummary> stop();

    /// 200 readings a second: cheap beside a kernel, and half a second is then known to 1 %.
    static constexpr double default_interval = 0.005;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
