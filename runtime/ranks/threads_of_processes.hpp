#pragma once

#include <functional>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// Calls work(communicator) for every rank of several processes with several threads each, as a
/// process with several GPUs has them. This process has `threads` of them, which need not be as
/// many as others have; ranks are counted process by process. All processes call it.
///
///     run_ranks("waves", [&](Communicator& processes) {
///         run_threads_of_processes(processes, 2, [&](Communicator& ranks) { solve(backends[ranks.local_rank()], ranks); });
///         return 0;
///     });
///
/// Messages between threads of a process stay there; others go by `processes`, and collective calls
/// by one thread of each process. Messages are of the hosts' memory, also where processes alone
/// reach devices. When `work` throws on one rank of several processes, all of them are ended at
/// once, after a line that names it; else as run_thread_ranks, which serves where there is one
/// process. Throws Error where the processes' MPI lets no threads send messages.
void run_threads_of_processes(Communicator& processes, int threads, const std::function<void(Communicator&)>& work);

}  // namespace hone::inline v0_1
