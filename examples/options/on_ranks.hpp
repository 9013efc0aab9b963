#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/mesh_partition.hpp"

namespace hone::examples {

/// The main part of a program that runs on the ranks it was started with, or, where `devices` answers with several names by commas and no launcher
/// started it, on as many threads of this process: reads the command line into what `app` was declared with, which must be the same on all ranks, and
/// calls `run` on each, which must not change what it shares with other threads. Help and what is wrong with options come from rank 0. Result: the
/// exit code, of threads that of rank 0.
///
///     return run_on_ranks("maxwell", app, argc, argv, [&] { return options.device; }, [&](Communicator& ranks) { return run(options, ranks); });
int run_on_ranks(const std::string& program, CLI::App& app, int argc, char** argv, const std::function<std::string()>& devices,
                 const std::function<int(Communicator&)>& run);

/// How a mesh is shared among ranks.
struct SharingOptions {
    std::string speeds = "best", cutter = "best";
};
void add_sharing(CLI::App& app, SharingOptions& options);

/// The own speed, by which this rank gets its part of a mesh; `device` is what this rank computes on, `measure` says how fast, in any unit. Called on
/// all ranks. Throws Error for words that are neither a way nor positive numbers.
double speed_of_rank(const SharingOptions& options, Communicator& ranks, const std::string& device, const std::function<double()>& measure);

}  // namespace hone::examples
