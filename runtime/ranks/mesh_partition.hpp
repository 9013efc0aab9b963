#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// Items of a mesh to be shared among ranks: elements of a mesh, or chunks of its nodes.
struct MeshItems {
    std::vector<std::array<double, 3>> places;  ///< of their middles
    std::vector<double> work;                   ///< of each, in any unit; empty: all alike
    std::vector<std::int32_t> starts;           ///< where each one's neighbours begin, and the end; may be empty, then METIS is not asked
    std::vector<std::int32_t> neighbours;       ///< of each, both ways
    std::vector<std::int32_t> words;            ///< that go from one to a neighbour where ranks differ; empty: all alike

    std::size_t size() const { return places.size(); }
};

/// How items are shared.
enum class Cutter {
    best,       ///< METIS where hone was built with it and neighbours are known, else bisection
    bisection,  ///< recursive coordinate bisection (M. J. Berger, S. H. Bokhari, IEEE Transactions on Computers 1987)
    metis       ///< multilevel partitioning of the graph (G. Karypis, V. Kumar, SIAM J. Sci. Comput. 1998)
};
/// "best", "bisection" or "metis"; throws Error for anything else.
Cutter parse_cutter(const std::string& word);
bool has_metis();

/// The rank of each item. Ranks get work in proportion to their speeds, and at least one item each;
/// items of a rank lie near each other. The same for the same arguments. Throws Error for more
/// ranks than items (saying how many there may be), a speed or work that is not positive, lists
/// that do not fit together, or METIS where hone was built without it.
std::vector<int> partition_items(const MeshItems& items, std::span<const double> speeds, Cutter cutter = Cutter::best);

/// Partitions for the ranks of a communicator, each of which knows its own speed. Rank 0 decides,
/// so that all have the same answer.
std::vector<int> partition_items(Communicator& communicator, const MeshItems& items, double own_speed, Cutter cutter = Cutter::best);

/// Words that cross between ranks, both ways: what a partition costs.
std::int64_t words_cut(const MeshItems& items, std::span<const int> ranks);

}  // namespace hone::inline v0_1
