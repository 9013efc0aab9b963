#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "examples/hydro/discretisation.hpp"

namespace hone::examples::hydro {

/// Pictures of a run for ParaView: a folder with one .vtu file per moment, whose zones keep their curved sides, and gas.pvd, which knows the times.
class Frames {
  public:
    /// Makes the folder when it is absent.
    Frames(const Discretisation& of, std::filesystem::path folder);

    void add(double time, const State& state);

  private:
    const Discretisation& of_;
    std::filesystem::path folder_;
    std::vector<std::pair<double, std::string>> times_;
};

}  // namespace hone::examples::hydro
