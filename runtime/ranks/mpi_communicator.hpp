#pragma once

#include <memory>
#include <string>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// The processes of MPI_COMM_WORLD. One at a time in a process; its destructor ends MPI, which
/// cannot be started again, so it is made by run_ranks.
class MpiCommunicator : public Communicator {
  public:
    /// Ends all ranks of the run at once, after a line on standard error.
    [[noreturn]] virtual void abort(const std::string& reason) = 0;
};

/// Starts MPI. Throws Error where hone was built without it.
std::unique_ptr<MpiCommunicator> start_mpi();

/// "Open MPI v4.1.4", or empty where hone was built without MPI.
std::string mpi_version();

}  // namespace hone::inline v0_1
