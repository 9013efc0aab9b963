#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// When what lies at the cuts is computed: on an exchange's own stream beside the interior, or before it, or together with it, in one launch, before
/// anything travels. Which is fastest depends on kernels, sizes and links; digits do not.
enum class EdgePlace { beside, before, together };

/// What the environment variable HONE_EDGES asks for, by these names; nothing where it is not set, or "best". Throws Error for another word.
std::optional<EdgePlace> asked_edge_place();

/// Finds out which way is fastest while the work goes on: a few steps each, of which the slowest rank's time counts.
///
///     EdgeChoice choice(communicator, backend, {EdgePlace::beside, EdgePlace::together});
///     while (running) {
///         step(choice.place());
///         choice.step_is_queued();
///     }
///
/// All ranks call it alike. It waits for the device after each way's steps, and not any more once it has chosen.
class EdgeChoice {
  public:
    /// The first way that is not slower than another one by more than a thousandth. What HONE_EDGES asks for, if that is among them, without trying;
    /// `seconds` says the time, for tests. Communicator and backend must outlive it. Throws Error for no way at all.
    EdgeChoice(Communicator& communicator, Backend& backend, std::vector<EdgePlace> ways, std::function<double()> seconds = {});

    EdgePlace place() const { return ways_[tried_]; }
    bool has_chosen() const { return chosen_; }
    void step_is_queued();

  private:
    void choose();

    Communicator& communicator_;
    Backend& backend_;
    std::vector<EdgePlace> ways_;
    std::vector<double> times_;  // of each
    std::function<double()> seconds_;
    std::size_t tried_ = 0;
    int steps_ = 0;  // of the way that is being tried
    double start_ = 0;
    bool chosen_ = false;
};

}  // namespace hone::inline v0_1
