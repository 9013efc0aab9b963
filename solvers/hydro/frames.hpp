#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "solvers/hydro/zone_part.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// Pictures of a run for ParaView: a folder with one .vtu file per moment, whose zones keep their
/// curved sides, and gas.pvd, which knows the times.
class Frames {
  public:
    /// Makes the folder when it is absent.
    Frames(const Discretisation& of, std::filesystem::path folder);
    /// Of a rank's own zones, in files of its own: several ranks' are joined by .pvtu files, to
    /// which gas.pvd points.
    Frames(const ZonePart& part, std::filesystem::path folder);

    void add(double time, const State& state);

  private:
    Frames(const Discretisation& of, std::vector<int> zones, int rank, int ranks, std::filesystem::path folder);

    const Discretisation& of_;
    std::vector<int> zones_;
    int rank_, ranks_;
    std::filesystem::path folder_;
    std::vector<std::pair<double, std::string>> times_;
};

}  // namespace hone::inline v0_1::solvers::hydro
