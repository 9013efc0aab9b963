#include "tuner/strategies/genetic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/strategies/member_strategy.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t population = 20;
constexpr int most_children = 50;  // tried before an ask goes anywhere

class Genetic : public MemberStrategy {
  public:
    Genetic(const SearchSpace& space, Members members, std::uint64_t seed) : MemberStrategy(space, std::move(members), seed) {}

  protected:
    std::size_t choose() override {
        if (people_.size() < population) return anywhere();
        for (int tried = 0; tried < most_children; ++tried) {
            const std::size_t child = breed(parent(), parent());
            if (child != geometry().size() && open(child)) return child;
        }
        return anywhere();
    }

    void told(std::size_t member, double log_cost) override {
        if (!std::isfinite(log_cost)) return;
        const Person person{log_cost, member};
        people_.insert(std::upper_bound(people_.begin(), people_.end(), person), person);
        if (people_.size() > population) people_.pop_back();
    }

  private:
    using Person = std::pair<double, std::size_t>;  ///< logarithm of the cost, member

    /// The better of two drawn.
    std::size_t parent() { return people_[std::min(random().index(people_.size()), random().index(people_.size()))].second; }

    std::size_t breed(std::size_t mother, std::size_t father) {
        std::vector<std::size_t> child;
        for (std::size_t d = 0; d < geometry().dimensions(); ++d) {
            child.push_back(geometry().coordinate(random().below(2) == 0 ? mother : father, d));
            // One value of the child is its own, in the mean.
            if (random().index(geometry().dimensions()) == 0) child.back() = random().index(geometry().values(d));
        }
        return geometry().find(std::move(child));
    }

    std::vector<Person> people_;  ///< fastest first
};

}  // namespace

std::unique_ptr<Strategy> make_genetic(const SearchSpace& space, Members members, std::uint64_t seed) {
    return std::make_unique<Genetic>(space, std::move(members), seed);
}

}  // namespace hone::inline v0_1
