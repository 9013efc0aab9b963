#include "tuner/listed_space.hpp"

#include <memory>

namespace hone::inline v0_1 {

SearchSpace listed_space(const SearchSpace& space) {
    return SearchSpace::of_members(space.forms(), std::make_shared<const std::vector<std::int64_t>>(space.members()), space.index_of(space.safe()));
}

}  // namespace hone::inline v0_1
