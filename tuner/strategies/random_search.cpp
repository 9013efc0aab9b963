#include "tuner/strategies/random_search.hpp"

#include "tuner/random.hpp"
#include "tuner/strategies/listed.hpp"
#include "tuner/strategies/shuffled.hpp"

namespace hone::inline v0_1 {
namespace {

class RandomSearch : public ListedStrategy {
  public:
    RandomSearch(const SearchSpace& space, Members all, std::uint64_t seed)
        : ListedStrategy(space, std::move(all)), random_(seed), left_(members().size()) {}

  protected:
    std::optional<std::size_t> next() override {
        if (left_.size() == 0) return std::nullopt;
        return left_.take(random_.index(left_.size()));
    }

  private:
    Random random_;
    Shuffled left_;
};

}  // namespace

std::unique_ptr<Strategy> make_random_search(const SearchSpace& space, Members members, std::uint64_t seed) {
    return std::make_unique<RandomSearch>(space, std::move(members), seed);
}

}  // namespace hone::inline v0_1
