#pragma once

#include <memory>
#include <string>

#include "runtime/ranks/processes.hpp"

namespace hone::inline v0_1 {

/// The processes of MPI_COMM_WORLD. One at a time in a process; its destructor ends MPI, which
/// cannot be started again, so it is made by run_ranks.
class MpiCommunicator : public Communicator, public Processes {
  public:
    Processes* processes() override { return this; }
};

/// Starts MPI for a program of this name, which stands before what `abort` says. Throws Error where
/// hone was built without it.
std::unique_ptr<MpiCommunicator> start_mpi(const std::string& program);

/// "Open MPI v4.1.4", or empty where hone was built without MPI.
std::string mpi_version();

}  // namespace hone::inline v0_1
