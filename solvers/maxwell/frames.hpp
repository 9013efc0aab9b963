#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "solvers/maxwell/wave_part.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// Pictures of a run for ParaView: a folder with one .vtu file per moment, whose elements keep
/// their high order, and fields.pvd, which knows the times.
class WaveFrames {
  public:
    /// Makes the folder when it is absent.
    WaveFrames(const Discretisation& of, std::filesystem::path folder);
    /// Of a rank's own elements, in files of its own: several ranks' are joined by .pvtu files, to
    /// which fields.pvd points.
    WaveFrames(const WavePart& part, std::filesystem::path folder);

    /// `q` as [element][field][node].
    void add(double time, std::span<const double> q);
    std::size_t count() const { return times_.size(); }

  private:
    WaveFrames(const Discretisation& of, int elements, int rank, int ranks, std::filesystem::path folder);
    /// Values of one field at VTK's nodes.
    std::vector<double> at_lattice(std::span<const double> q, int field) const;

    const Discretisation& of_;
    int elements_, rank_, ranks_;
    std::filesystem::path folder_;
    std::vector<std::vector<double>> basis_;  ///< [node of VTK][node]
    std::vector<Point> points_;
    std::vector<std::pair<double, std::string>> times_;
};

}  // namespace hone::inline v0_1::solvers::maxwell
