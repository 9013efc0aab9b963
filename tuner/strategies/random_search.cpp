#include "tuner/strategies/random_search.hpp"

#include <algorithm>

#include "tuner/random.hpp"
#include "tuner/strategies/listed.hpp"

namespace hone::inline v0_1 {

std::unique_ptr<Strategy> make_random_search(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed) {
    Random random(seed);
    random.shuffle(members);
    const auto safe = std::find(members.begin(), members.end(), space.index_of(space.safe()));
    std::rotate(members.begin(), safe, safe + 1);
    return std::make_unique<ListedStrategy>(std::move(members));
}

}  // namespace hone::inline v0_1
