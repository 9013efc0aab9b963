#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hone::inline v0_1 {

/// The energy counters of this machine's processors, as Linux shows them below /sys/class/powercap
/// (kernel documentation, power/powercap): one folder per zone, with `name`, `energy_uj` and
/// `max_energy_range_uj`, after which the counter starts again at 0.
///
/// Counted are all packages, and `dram` zones, whose energy is not part of their package's. Cores
/// and the like are part of their package; `psys`, the whole board, has packages in it.
///
///     RaplCounter counter("/sys/class/powercap");
///     if (counter.missing().empty()) fmt::print("{} J\n", *counter.joules());
class RaplCounter {
  public:
    explicit RaplCounter(const std::filesystem::path& powercap);

    const std::string& missing() const { return missing_; }  ///< why nothing can be read; empty when it can
    std::string zones() const;                               ///< "package-0, package-1, dram"
    /// Since this was made; right as long as no counter goes all the way round between two calls
    /// (minutes). Nothing when a file cannot be read.
    std::optional<double> joules();

  private:
    struct Zone {
        std::string name;
        std::filesystem::path file;
        double range = 0;  ///< microjoules
        double last = 0;
    };
    std::string missing_;
    std::vector<Zone> zones_;
    double microjoules_ = 0;
};

}  // namespace hone::inline v0_1
