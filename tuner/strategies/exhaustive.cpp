#include "tuner/strategies/exhaustive.hpp"

#include <algorithm>

#include "tuner/strategies/listed.hpp"

namespace hone::inline v0_1 {

std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t /*seed*/) {
    const auto safe = std::find(members.begin(), members.end(), space.index_of(space.safe()));
    std::rotate(members.begin(), safe, safe + 1);
    return std::make_unique<ListedStrategy>(std::move(members));
}

}  // namespace hone::inline v0_1
