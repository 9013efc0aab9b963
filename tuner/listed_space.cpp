#include "tuner/listed_space.hpp"

#include <atomic>
#include <thread>
#include <utility>

namespace hone::inline v0_1 {

SearchSpace listed_space(const SearchSpace& space, const std::function<bool()>& stop) {
    std::atomic<bool> stopped = false;
    const auto noted = [&, own = std::this_thread::get_id()] {
        if (std::this_thread::get_id() == own && !stopped && stop()) stopped = true;
        return stopped.load();
    };
    Members members = space.members(stop ? std::function<bool()>(noted) : stop);
    if (stopped) throw ListingStopped();
    return SearchSpace::of_members(space.forms(), std::move(members), space.index_of(space.safe()));
}

}  // namespace hone::inline v0_1
