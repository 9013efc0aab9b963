#pragma once

#include <string>
#include <vector>

namespace hone::inline v0_1 {

/// The command that starts a worker (tuner/worker/worker.hpp) for a program that is none itself:
/// HONE_WORKER names the `hone` program; else the one beside the running program or in ../bin from
/// there; else the one of the package or the build that the program was linked with
/// (tuning_db/package.hpp); else the first on PATH. Empty when there is none.
std::vector<std::string> find_worker_command();

}  // namespace hone::inline v0_1
