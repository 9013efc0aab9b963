#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <string>

namespace hone::examples {

/// How a mesh is shared among ranks.
struct SharingOptions {
    std::string speeds = "best", cutter = "best";
};
void add_sharing(CLI::App& app, SharingOptions& options);

/// The own speed, by which this rank gets its part of a mesh; `device` is what this rank computes
/// on, `measure` says how fast, in any unit. Called on all ranks. Throws Error for words that are
/// neither a way nor positive numbers.
double speed_of_rank(const SharingOptions& options, Communicator& ranks, const std::string& device, const std::function<double()>& measure);

}  // namespace hone::examples
