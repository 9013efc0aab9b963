#pragma once

#include <string>
#include <vector>

#include "solvers/acoustics/wave_solver.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// Rows [first, last) of a grid.
struct Rows {
    int first = 0, last = 0;

    bool operator==(const Rows&) const = default;
};

/// Several time steps in one pass cannot stop for the source or the receivers. What these need of
/// the steps in between is computed beside, a step at a time: element j are the rows that step j +
/// 1 of a pass has to compute. The last ones are those that the source reached; the others grow by
/// `reach`, by which a step reads further than it writes, from one to the one before, and have the
/// receivers.
///
/// `source` and `receivers` are rows of a grid of `rows`.
std::vector<Rows> rows_beside(int levels, int reach, int rows, int source, const std::vector<int>& receivers);

/// The most time steps that one pass may have: 1 for sweeps, and for grids and orders that do not
/// allow more.
int most_levels(const Model& model, const WaveSettings& settings);

/// Whether there are kernels of a problem for a device: not of every pass in 3D for GPUs.
bool can_run(const Backend& backend, const Problem& problem);

/// How many time steps of one pass are the fastest by what a database knows of this device, with
/// the rows computed beside; 1 where it does not know both.
int fastest_levels(const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings, const Survey& survey);
/// The same on all ranks: by the first one's records, and no more than ranks have layers for. One
/// where several steps pass between exchanges. All ranks call it alike.
int fastest_levels(Communicator& ranks, const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings,
                   const Survey& survey);

/// `sweeps` where a database knows that on this device a sweep for velocities and one for pressure
/// take less time than a step in one pass, as may be at order 16 in 3D; else `step`.
std::string fastest_kernels(const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings);
/// The same on all ranks, by the first one's records. All ranks call it alike.
std::string fastest_kernels(Communicator& ranks, const Database& database, const Backend& backend, const Model& model, const WaveSettings& settings);

/// What to tune so that these functions can choose: the problems of `settings`; with `any_kernels`
/// those of `sweeps` and `step`; with `any_levels` also every pass that the device can run.
std::vector<Problem> problems_to_choose_from(const Backend& backend, const Model& model, const WaveSettings& settings, bool any_kernels,
                                             bool any_levels);

}  // namespace hone::inline v0_1::solvers::seismic
