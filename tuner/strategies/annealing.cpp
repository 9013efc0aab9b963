#include "tuner/strategies/annealing.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "tuner/strategies/member_strategy.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double first_temperature = 0.7;  // the logarithm of two
constexpr double cooling = 0.97;           // per evaluation: a hundredth is left after 150
constexpr double least_temperature = 0.01;
constexpr int most_steps = 100;  // over members already told, before the walk goes on from anywhere

class Annealing : public MemberStrategy {
  public:
    Annealing(const SearchSpace& space, Members members, std::uint64_t seed)
        : MemberStrategy(space, std::move(members), seed), cost_(geometry().size(), unknown) {}

  protected:
    std::size_t choose() override {
        for (int step = 0; step < most_steps && current_ != nowhere; ++step) {
            const std::size_t member = geometry().altered(current_, 1, random());
            if (member == geometry().size()) continue;
            if (open(member)) return member;
            consider(member);
        }
        current_ = nowhere;
        return anywhere();
    }

    void told(std::size_t member, double log_cost) override {
        cost_.set(member, log_cost);
        temperature_ = std::max(least_temperature, temperature_ * cooling);
        if (std::isfinite(log_cost)) consider(member);
    }

  private:
    /// One step of the walk, perhaps. What is pending or failed is not stepped on.
    void consider(std::size_t member) {
        if (!std::isfinite(cost_[member])) return;
        if (current_ != nowhere && random().real() >= std::exp((cost_[current_] - cost_[member]) / temperature_)) return;
        current_ = member;
    }

    static constexpr double unknown = std::numeric_limits<double>::infinity();
    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
    PerMember<double> cost_;  ///< logarithms
    std::size_t current_ = nowhere;
    double temperature_ = first_temperature;
};

}  // namespace

std::unique_ptr<Strategy> make_annealing(const SearchSpace& space, Members members, std::uint64_t seed) {
    return std::make_unique<Annealing>(space, std::move(members), seed);
}

}  // namespace hone::inline v0_1
