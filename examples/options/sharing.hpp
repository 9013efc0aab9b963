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

/// The first rank prints how many items each rank has, and of these so many others: "2 ranks, by
/// threads; elements of each (those at others): 96 (16) 96 (16)". Nothing on one rank; all call it.
void print_parts(Communicator& ranks, const std::string& what, double own, double others);

}  // namespace hone::examples
