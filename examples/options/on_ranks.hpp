#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <string>

namespace hone::examples {

/// The main part of a program that runs on the ranks it was started with, or, where `device` names
/// more devices by commas than processes of this host were started, on threads of these processes,
/// one for each device: reads
/// the command line into what `app` was declared with, which must be the same on all ranks, and
/// calls `run` on each, which must not change what it shares with other threads. Help and what is
/// wrong with options come from rank 0. A folder --db is made where --tune or --tune-exchange is to
/// write to it. Result: the exit code, of threads that of rank 0.
///
///     return run_on_ranks("maxwell", app, argc, argv, options.device, [&](Communicator& ranks) { return run(options, ranks); });
int run_on_ranks(const std::string& program, CLI::App& app, int argc, char** argv, const std::string& device,
                 const std::function<int(Communicator&)>& run);

/// Of a rank's session, with these tuned results: what there is to warn of the first rank tells.
SessionSettings session_settings(const std::filesystem::path& records, const Communicator& ranks);

/// Bytes per second that a copy moves on all ranks at the same time, to compare a run of so many
/// seconds with. 0 for a short run on processors, where measuring would take longer than the run.
/// All ranks call it.
double copy_rate(Backend& backend, Communicator& ranks, double run_seconds);
/// ", 90 % of what a copy moves here (4.1 GB/s)", of a run that moves so many bytes per second;
/// nothing where the copy is not known.
std::string beside_copy(double bytes_per_second, double copy);

}  // namespace hone::examples
