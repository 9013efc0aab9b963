#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "runtime/ranks/communicator.hpp"

namespace hone::examples {

/// The main part of a program that runs on the ranks it was started with, or, where `device` names several devices by commas and no launcher started
/// it, on as many threads of this process: reads the command line into what `app` was declared with, which must be the same on all ranks, and
/// calls `run` on each, which must not change what it shares with other threads. Help and what is wrong with options come from rank 0. Result: the
/// exit code, of threads that of rank 0.
///
///     return run_on_ranks("maxwell", app, argc, argv, options.device, [&](Communicator& ranks) { return run(options, ranks); });
int run_on_ranks(const std::string& program, CLI::App& app, int argc, char** argv, const std::string& device,
                 const std::function<int(Communicator&)>& run);

}  // namespace hone::examples
