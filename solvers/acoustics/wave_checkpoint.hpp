#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "solvers/acoustics/wave_solver.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// What makes two runs the same waves, as far as they both go: names and values of one line.
using WaveIdentity = std::vector<std::pair<std::string, std::string>>;
WaveIdentity identity_of(const Model& model, const WaveSettings& settings, const Survey& survey);

/// A run of acoustics between two time steps.
struct WaveCheckpoint {
    WaveIdentity identity;
    std::vector<double> energies;                        ///< that were measured so far
    std::vector<std::pair<double, std::string>> series;  ///< times and files of the snapshots for ParaView
    WaveState state;
};

void write_wave_checkpoint(const std::filesystem::path& file, const WaveCheckpoint& checkpoint);

/// Throws Error for a file that is none, is damaged, or is of other waves than `identity`; it names
/// what differs.
WaveCheckpoint read_wave_checkpoint(const std::filesystem::path& file, const WaveIdentity& identity, std::size_t receivers);

}  // namespace hone::inline v0_1::solvers::seismic
