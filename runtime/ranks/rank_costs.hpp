#pragma once

#include <string>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// Seconds that ranks wait for each other when they do nothing else: means over a few hundred calls
/// on this rank.
struct RankCosts {
    double message = 0;     ///< an exchange of 8 bytes with the next rank and the one before, in a ring
    double megabyte = 0;    ///< the same of 1 MiB
    double all_gather = 0;  ///< of one word of each rank: a sum in the order of ranks
    double block_sums = 0;  ///< of 512 words in all: a sum that does not know the ranks, such as that of 512^3 cells in solvers/poisson
};

/// Takes milliseconds where each rank has a processor. All ranks call it.
RankCosts measure_rank_costs(Communicator& communicator);

/// "8 bytes to a neighbour in 3.1 us, 1 MiB in 140 us; a word of each rank to all in 4.0 us, 512
/// words in 5.2 us".
std::string to_string(const RankCosts& costs);

}  // namespace hone::inline v0_1
