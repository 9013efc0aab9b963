#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// The system's counters of the use of its processors until now. A counter that the system does not
/// have is absent.
struct LoadReading {
    std::chrono::steady_clock::time_point at;
    std::optional<double> load;               ///< mean number of running and waiting threads of the last minute (/proc/loadavg)
    std::optional<double> processor_ticks;    ///< of all processors since the start, whatever they did (/proc/stat)
    std::optional<double> idle_ticks;         ///< of these, those in which they did nothing
    std::optional<double> stolen_ticks;       ///< of these, those that a host gave to other machines
    int processors = 0;                       ///< of the machine, whoever may use them (/proc/stat)
    std::optional<double> waiting_seconds;    ///< in which something had to wait for a processor (/proc/pressure/cpu)
    std::optional<double> throttled_seconds;  ///< that this process's control group was held back (cpu.stat)
};

/// Reads the load of this machine. `root`: of the file system, another in tests.
///
///     const SystemLoad system;
///     const LoadReading before = system.read();
///     measure();
///     const std::string busy = SystemLoad::busy_beside(device, before, system.read());
class SystemLoad {
  public:
    explicit SystemLoad(std::filesystem::path root = "/") : root_(std::move(root)) {}

    LoadReading read() const;

    /// Describes the load between two readings that a measurement on `processors` processors does
    /// not make itself ("12.0 % of the processors' time was stolen"). An empty string: there was
    /// none. The load of the last minute, which is that of what ran before, too, does not count
    /// where the processors beside these were idle between the readings.
    static std::string busy(const LoadReading& before, const LoadReading& after, int processors);
    /// The same for what was timed on `device`. A GPU's steps are timed on the GPU, and making the
    /// next problems' data keeps the processors busy: there the interval alone judges, and the
    /// string is empty.
    static std::string busy_beside(const Device& device, const LoadReading& before, const LoadReading& after);

  private:
    std::filesystem::path root_;
};

}  // namespace hone::inline v0_1
