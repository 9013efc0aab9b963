#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace hone::test {

/// A folder like /sys/class/powercap.
class FakePowercap {
  public:
    /// Counters start again after `range` microjoules.
    explicit FakePowercap(std::int64_t range = 262'143'328'850) : range_(range) {}

    const std::filesystem::path& path() const { return folder_.path(); }

    void zone(const std::string& zone, const std::string& name, std::int64_t microjoules) const {
        std::filesystem::create_directories(path() / zone);
        std::ofstream(path() / zone / "name") << name << "\n";
        std::ofstream(path() / zone / "max_energy_range_uj") << range_ << "\n";
        set(zone, microjoules);
    }
    void set(const std::string& zone, std::int64_t microjoules) const { std::ofstream(path() / zone / "energy_uj") << microjoules << "\n"; }

  private:
    TemporaryFolder folder_;
    std::int64_t range_;
};

}  // namespace hone::test
