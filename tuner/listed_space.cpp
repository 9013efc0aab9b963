#include "tuner/listed_space.hpp"

#include <memory>

namespace hone {

SearchSpace listed_space(const SearchSpace& space) {
    return SearchSpace::of_members(space.forms(), std::make_shared<const std::vector<std::int64_t>>(space.members()), space.index_of(space.safe()));
}

}  // namespace hone
