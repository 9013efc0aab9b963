#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// Words of numbered items, of which every rank has some, in the order of the items' numbers: what
/// a sum over an unstructured mesh is made of whose digits do not know how many ranks there are.
///
///     OrderedGather elements(communicator, numbers_of_own_elements);
///     const double energy = ordered_sum(elements, energies_of_own_elements);
class OrderedGather {
  public:
    /// The communicator must outlive it. Called on all ranks. Throws Error on all of them unless
    /// each number from 0 to the number of all items is some rank's, and one's alone.
    OrderedGather(Communicator& communicator, std::span<const std::int64_t> own);

    std::int64_t items() const { return static_cast<std::int64_t>(order_.size()); }
    Communicator& communicator() const { return communicator_; }
    const std::vector<std::int64_t>& own() const { return own_; }  ///< numbers of the own ones

    /// `words` of each own item, in the order in which its numbers were given; result:
    /// [item][word], on every rank. Throws Error for another number of words.
    std::vector<double> all(std::span<const double> own, int words = 1) const;
    /// Gathers on rank 0 alone; nothing on others.
    std::vector<double> on_first(std::span<const double> own, int words = 1) const;
    /// The own items' words of all items'.
    std::vector<double> own_of(std::span<const double> all, int words = 1) const;

  private:
    void check(std::size_t words, std::size_t items, int words_of_item) const;
    std::vector<double> ordered(std::span<const double> by_rank, int words) const;

    Communicator& communicator_;
    std::vector<std::int64_t> own_;
    std::vector<int> counts_;          // items of each rank
    std::vector<std::int64_t> order_;  // number of each item, rank by rank
};

/// The sum of values, whose halves are summed alike: its rounding grows with the logarithm of their
/// number, not with the number (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
/// section 4.2). So energies of 10^6 elements show what a time step changes.
double sum_by_halves(std::span<const double> values);

/// The sum of a word of each item, by halves of their order.
double ordered_sum(const OrderedGather& items, std::span<const double> own);

}  // namespace hone::inline v0_1
