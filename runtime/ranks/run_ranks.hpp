#pragma once

#include <functional>
#include <string>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// The main part of a program on as many ranks as it was started with. Under a launcher these are
/// processes, connected by MPI; else it is one rank, and MPI is not touched. Returns the exit code
/// of `work`.
///
///     int main(int argc, char** argv) {
///         return hone::run_ranks("poisson", [&](hone::Communicator& ranks) { return run(parse(argc, argv), ranks); });
///     }
///
/// An exception on any rank ends all of them with exit code 2, within seconds, and "poisson: rank 2
/// of 4: ..." on standard error; of a rank that is killed the launcher tells. Started with several
/// ranks by a launcher while hone was built without MPI, the program ends with exit code 2 and says
/// what to install. While they wait for each other ranks poll, or sleep in between where a host has
/// more ranks than processors; each has its share of the host's OpenMP threads where the launcher
/// binds nothing and OMP_NUM_THREADS is not set.
int run_ranks(const std::string& program, const std::function<int(Communicator&)>& work);

}  // namespace hone::inline v0_1
