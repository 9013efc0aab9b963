#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// A rank alone. What it sends to itself, as periodic neighbours do, arrives.
std::unique_ptr<Communicator> self_communicator();

/// Calls work(communicator) for every rank of 1 to 1024, each on a thread of its own, and waits for
/// all. For several devices of one process, and for tests. Threads sleep while they wait for each
/// other. Each has its share of the calling thread's OpenMP threads, at least one.
///
///     run_thread_ranks(2, [&](Communicator& ranks) { solve(backends[ranks.rank()], ranks); });
///
/// When `work` throws on one rank, what the others wait for throws as well, and the first error is
/// thrown here: "rank 1 of 2: ...". Throws Error for another number of ranks. A wait of half a
/// minute is told of on standard error (long_wait.hpp), in which the ranks' numbers begin at
/// `first`.
void run_thread_ranks(int size, const std::function<void(Communicator&)>& work, int first = 0);

}  // namespace hone::inline v0_1
