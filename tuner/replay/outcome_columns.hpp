#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tuner/outcome.hpp"

namespace hone::inline v0_1 {

/// Many outcomes, column by column: a measured space has a million of them, and each has little to
/// say. One that was measured once takes 16 bytes, a failure 8 and its reason once for all that
/// share it; an Outcome takes 300. One that holds what no column does (energy, say) is kept whole.
///
///     OutcomeColumns outcomes;
///     outcomes.add(failure(Status::compile_failed, "too many registers"));
///     const Outcome first = outcomes[0];
class OutcomeColumns {
  public:
    void add(const Outcome& outcome);
    std::size_t size() const { return failure_.size(); }
    /// As it was added.
    Outcome operator[](std::size_t place) const;

  private:
    enum Duration : std::size_t { compile, verify, measure };
    Outcome from_columns(std::size_t place) const;

    std::vector<std::uint32_t> failure_;                                  ///< zero: measured; else one more than the place of its kind
    std::vector<std::pair<Status, std::string>> kinds_;                   ///< of failures
    std::map<std::pair<Status, std::string>, std::uint32_t> kind_found_;  ///< place of a kind
    std::vector<std::uint32_t> samples_end_;
    std::vector<double> samples_;                 ///< of all, one after another
    std::vector<std::array<double, 3>> seconds_;  ///< by Duration; empty while all are zero
    std::map<std::size_t, Outcome> whole_;        ///< of those that the columns do not hold
};

}  // namespace hone::inline v0_1
