#include "tuner/strategies/local_search.hpp"

#include <limits>
#include <utility>

#include "tuner/strategies/member_strategy.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int kick = 2;         // values altered
constexpr int most_kicks = 20;  // before the search goes anywhere

class LocalSearch : public MemberStrategy {
  public:
    using MemberStrategy::MemberStrategy;

  protected:
    std::size_t choose() override {
        for (int kicks = 0; kicks < most_kicks; ++kicks) {
            while (!neighbours_.empty()) {
                const std::size_t member = neighbours_.back();
                neighbours_.pop_back();
                if (open(member)) return member;
            }
            const std::size_t landed = best_cost_ < std::numeric_limits<double>::infinity() ? geometry().altered(best_, kick, random()) : anywhere();
            if (landed == geometry().size() || !open(landed)) continue;
            current_ = landed;
            current_cost_ = std::numeric_limits<double>::infinity();  // whatever it costs: the descent is from here
            return landed;
        }
        return anywhere();
    }

    void told(std::size_t member, double log_cost) override {
        if (log_cost < best_cost_) {
            best_ = member;
            best_cost_ = log_cost;
        }
        if (log_cost >= current_cost_) return;
        current_ = member;
        current_cost_ = log_cost;
        neighbours_ = geometry().neighbours(member);
        random().shuffle(neighbours_);
    }

  private:
    std::size_t best_ = 0;
    std::size_t current_ = 0;
    double best_cost_ = std::numeric_limits<double>::infinity();
    double current_cost_ = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> neighbours_;  ///< of the current member, not yet looked at
};

}  // namespace

std::unique_ptr<Strategy> make_local_search(const SearchSpace& space, Members members, std::uint64_t seed) {
    return std::make_unique<LocalSearch>(space, std::move(members), seed);
}

}  // namespace hone::inline v0_1
