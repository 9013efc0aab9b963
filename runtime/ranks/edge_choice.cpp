#include "runtime/ranks/edge_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "generator/error.hpp"
#include "tuning_db/environment.hpp"

namespace hone::inline v0_1 {
namespace {

// Of each way: the first ones load code and find the ways to other ranks, and what was queued before ends in them.
constexpr int steps_before = 4, timed_steps = 12;
constexpr double hardly = 1e-3;

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<EdgePlace> asked_edge_place() {
    const std::string word = environment_variable("HONE_EDGES");
    if (word.empty() || word == "best") return std::nullopt;
    if (word == "beside") return EdgePlace::beside;
    if (word == "before") return EdgePlace::before;
    if (word == "together") return EdgePlace::together;
    throw Error("HONE_EDGES", fmt::format("\"{}\" is no place for edges", word), "use best, beside, before or together");
}

EdgeChoice::EdgeChoice(Communicator& communicator, Backend& backend, std::vector<EdgePlace> ways, std::function<double()> seconds)
    : communicator_(communicator),
      backend_(backend),
      ways_(std::move(ways)),
      times_(ways_.size()),
      seconds_(seconds ? std::move(seconds) : std::function<double()>(steady_seconds)) {
    if (ways_.empty()) throw Error("places of edges", "there is none", "give one at least");
    if (const auto asked = asked_edge_place(); asked && std::count(ways_.begin(), ways_.end(), *asked) > 0) ways_ = {*asked};
    chosen_ = ways_.size() == 1;
}

void EdgeChoice::step_is_queued() {
    if (chosen_) return;
    ++steps_;
    if (steps_ != steps_before && steps_ != steps_before + timed_steps) return;
    backend_.synchronise();
    communicator_.barrier();
    if (steps_ == steps_before) {
        start_ = seconds_();
        return;
    }
    times_[tried_] = all_reduce(communicator_, Reduction::largest, seconds_() - start_);
    steps_ = 0;
    if (++tried_ == ways_.size()) choose();
}

void EdgeChoice::choose() {
    const double fastest = *std::min_element(times_.begin(), times_.end());
    const auto good = std::find_if(times_.begin(), times_.end(), [&](double time) { return time <= fastest * (1 + hardly); });
    tried_ = static_cast<std::size_t>(good - times_.begin());
    chosen_ = true;
}

}  // namespace hone::inline v0_1
