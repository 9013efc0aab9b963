#include "tuner/strategies/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "tuner/strategies/gaussian_process.hpp"
#include "tuner/strategies/member_kernel.hpp"
#include "tuner/strategies/member_strategy.hpp"
#include "tuner/strategies/remaining_gain.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t fewest_costs = 6;        // before a model is made of them
constexpr std::size_t blind_draws = 60;        // before that, the least known of so many members is asked, ...
constexpr std::size_t most_blind = 100;        // ... as long as no more than these are known, whose third power each of these asks takes
constexpr std::size_t most_candidates = 2000;  // in the pool, which an ask looks at one by one
constexpr std::size_t centres = 10;            // the best so many have all their neighbours in the pool
constexpr int further_neighbours = 30;         // draws with two values altered, when a new best is found
constexpr std::size_t most_rows = 400;         // members that the model holds, at most ...
constexpr std::size_t kept_rows = 300;         // ... and after it was made anew from the best and some others
constexpr std::size_t most_fitted = 80;        // the same, for learning the covariance, which takes their third power
constexpr double ambition = 0.3;               // by how many deviations of a process without misfit an ask is to be below the best, in the mean
constexpr double least_chance = 0.02;          // not to fail, whatever the model says
constexpr double refit_growth = 1.3;           // costs told until the covariance is learnt again
constexpr std::size_t refit_least = 2;         // ... and so many more

/// How far a normal variable comes below `best`, in the mean; zero where it does not.
double expected_improvement(double best, const Expectation& expectation) {
    const double steps = (best - expectation.mean) / expectation.deviation;
    constexpr double root_of_half = 0.70710678118654752;
    constexpr double normal_density = 0.39894228040143268;
    // Far above the best the true value falls below all numbers; the order must stay.
    if (steps < -8) return expectation.deviation * std::exp(steps - 40);
    return expectation.deviation * (steps * 0.5 * std::erfc(-steps * root_of_half) + normal_density * std::exp(-0.5 * steps * steps));
}

class Surrogate : public MemberStrategy {
  public:
    Surrogate(const SearchSpace& space, Members members, std::uint64_t seed)
        : MemberStrategy(space, std::move(members), seed),
          kernel_(space, geometry()),
          cost_(geometry().size(), std::numeric_limits<double>::quiet_NaN()),
          row_(geometry().size(), 0),
          place_(geometry().size(), 0) {}

    /// From the pool. That of a large space has all that lies near the best, and a random part of
    /// the rest, which stands for all of it.
    std::optional<Outlook> outlook(double part) const override {
        if (!model_ || ranking_.empty()) return std::nullopt;
        std::vector<OpenMember> members;
        std::vector<std::size_t> drawn;
        for (std::size_t place = 0; place < model_->pool().size(); ++place) {
            if (!open(model_->pool()[place])) continue;
            if (place >= drawn_from_ && place < drawn_to_) drawn.push_back(members.size());
            members.push_back({model_->expect(place), 1});
        }
        const std::size_t others = count_open() - (members.size() - drawn.size());
        for (const std::size_t one : drawn) members[one].weight = static_cast<double>(others) / static_cast<double>(drawn.size());
        return remaining_gain(members, cost_[ranking_.front()], part);
    }

  protected:
    std::size_t choose() override {
        if (ranking_.size() < fewest_costs) return least_known();
        if (!model_ || model_->rows() >= most_rows || told_count_ >= next_fit_) make_model();
        if (std::exchange(new_best_, false)) extend_pool();
        const double target = draw_target();
        if (const auto candidate = best_candidate(target)) return *candidate;
        make_model();  // the pool is used up
        return *best_candidate(target);
    }

    void noted(std::size_t member) override {
        known_.push_back(member);
        // It is made anew before the next choice; what is told without being asked waits for that.
        if (model_ && model_->rows() < most_rows) add_row(member);
    }

    void told(std::size_t member, double log_cost) override {
        cost_.set(member, log_cost);
        ++told_count_;
        if (model_ && row_[member] != 0) model_->tell(row_[member] - 1, log_cost);
        if (!std::isfinite(log_cost)) return;
        const auto faster = [this](std::size_t a, std::size_t b) { return cost_[a] < cost_[b]; };
        ranking_.insert(std::upper_bound(ranking_.begin(), ranking_.end(), member, faster), member);
        new_best_ |= ranking_.front() == member;
    }

  private:
    /// Of some open members, the one that those asked say least about. Where no costs are known
    /// yet, it is what teaches most.
    std::size_t least_known() {
        if (known_.size() > most_blind) return anywhere();
        std::vector<std::size_t> drawn(blind_draws);
        for (std::size_t& member : drawn) member = anywhere();
        GaussianProcess process(kernel_, drawn);
        for (const std::size_t member : known_) process.add(member);
        std::size_t least = 0;
        for (std::size_t place = 1; place < drawn.size(); ++place)
            if (process.unexplained(place) > process.unexplained(least)) least = place;
        return drawn[least];
    }

    void add_row(std::size_t member) {
        model_->add(member);
        row_.set(member, model_->rows());
    }

    void make_model() {
        if (told_count_ >= next_fit_) learn_kernel();
        model_.emplace(kernel_, make_pool());
        row_.clear();
        for (const std::size_t member : chosen_rows()) {
            add_row(member);
            if (!std::isnan(cost_[member])) model_->tell(row_[member] - 1, cost_[member]);
        }
        model_->calibrate();
        new_best_ = false;
    }

    /// From the best half and random others.
    void learn_kernel() {
        next_fit_ = static_cast<std::size_t>(refit_growth * static_cast<double>(told_count_)) + refit_least;
        const std::vector<std::size_t> sample = best_and_others(ranking_, most_fitted);
        std::vector<double> costs;
        costs.reserve(sample.size());
        for (const std::size_t member : sample) costs.push_back(cost_[member]);
        fit(kernel_, sample, costs);
    }

    /// The first half of `count`, and the others at random.
    std::vector<std::size_t> best_and_others(std::vector<std::size_t> members, std::size_t count) {
        for (std::size_t i = count / 2; i < count && i < members.size(); ++i) std::swap(members[i], members[i + random().index(members.size() - i)]);
        members.resize(std::min(count, members.size()));
        return members;
    }

    /// All that is known as long as it is not too much; then the pending, the best and some others.
    /// In the order in which they became known.
    std::vector<std::size_t> chosen_rows() {
        if (known_.size() <= kept_rows) return known_;
        std::vector<std::size_t> by_cost;
        for (const std::size_t member : known_)
            if (std::isnan(cost_[member])) by_cost.push_back(member);
        by_cost.insert(by_cost.end(), ranking_.begin(), ranking_.end());
        for (const std::size_t member : known_)
            if (std::isinf(cost_[member])) by_cost.push_back(member);
        const std::vector<std::size_t> best = best_and_others(std::move(by_cost), kept_rows);
        const std::unordered_set<std::size_t> chosen(best.begin(), best.end());
        std::vector<std::size_t> rows;
        std::copy_if(known_.begin(), known_.end(), std::back_inserter(rows), [&](std::size_t member) { return chosen.count(member) != 0; });
        return rows;
    }

    std::vector<std::size_t> make_pool() {
        std::vector<std::size_t> pool;
        place_.clear();
        const auto put = [&](std::size_t member) {
            if (!open(member) || place_[member] != 0) return;
            pool.push_back(member);
            place_.set(member, pool.size());
        };
        if (count_open() <= most_candidates) {
            for (std::size_t member = 0; member < geometry().size(); ++member) put(member);
            drawn_from_ = drawn_to_ = pool.size();
            return pool;
        }
        for (std::size_t rank = 0; rank < std::min(centres, ranking_.size()); ++rank)
            for (const std::size_t neighbour : geometry().neighbours(ranking_[rank])) put(neighbour);
        drawn_from_ = pool.size();
        while (pool.size() < most_candidates) put(anywhere());
        drawn_to_ = pool.size();
        return pool;
    }

    void extend_pool() {
        std::vector<std::size_t> near = geometry().neighbours(ranking_.front());
        for (int draw = 0; draw < further_neighbours; ++draw) near.push_back(geometry().altered(ranking_.front(), 2, random()));
        for (const std::size_t member : near) {
            if (member == geometry().size() || !open(member) || place_[member] != 0) continue;
            model_->extend(member);
            place_.set(member, model_->pool().size());
        }
    }

    /// The best cost told, or what is expected of a pending member if that is less: improvement on
    /// it is what an ask can still bring.
    double best_believed() const {
        double best = cost_[ranking_.front()];
        for (const std::size_t member : known_)
            if (std::isnan(cost_[member]) && place_[member] != 0) best = std::min(best, model_->expect(place_[member] - 1).mean);
        return best;
    }

    /// What an ask is to improve on, drawn anew each time: the best, or less by an exponentially
    /// distributed part of the process's deviation, times the root of its misfit. The lower it is,
    /// the further from what is known lies the member with the greatest expected improvement. Where
    /// the model is better than it thinks, on smooth costs, near is where to look.
    double draw_target() { return best_believed() + ambition * std::log(1 - random().real()) * std::sqrt(model_->variance() * model_->misfit()); }

    /// The open one in the pool with the greatest expected improvement on `target`.
    std::optional<std::size_t> best_candidate(double target) const {
        std::optional<std::size_t> best;
        Expectation expected;  // of the best
        double most = -1;
        for (std::size_t place = 0; place < model_->pool().size(); ++place) {
            const std::size_t member = model_->pool()[place];
            if (!open(member)) continue;
            Expectation expectation = model_->expect(place);
            expectation.failure = std::clamp(expectation.failure, 0.0, 1 - least_chance);
            // Most are no better in anything; that is seen sooner than the expected improvement.
            if (best && expectation.mean >= expected.mean && expectation.deviation <= expected.deviation && expectation.failure >= expected.failure)
                continue;
            const double promise = (1 - expectation.failure) * expected_improvement(target, expectation);
            if (promise <= most) continue;
            most = promise;
            expected = expectation;
            best = member;
        }
        return best;
    }

    MemberKernel kernel_;
    std::optional<GaussianProcess> model_;
    std::vector<std::size_t> known_;    ///< asked or told, in that order
    std::vector<std::size_t> ranking_;  ///< told and measured, fastest first
    PerMember<double> cost_;            ///< logarithms; infinite for failures, not a number for what is not told
    PerMember<std::size_t> row_;        ///< one more than the member's row in the model, or zero
    PerMember<std::size_t> place_;      ///< one more than the member's place in the model's pool, or zero
    std::size_t drawn_from_ = 0;        ///< places of the pool that hold members drawn at random: from here ...
    std::size_t drawn_to_ = 0;          ///< ... to here
    std::size_t told_count_ = 0;        ///< costs and failures
    std::size_t next_fit_ = 0;          ///< `told_count_` when the covariance is learnt again
    bool new_best_ = false;
};

}  // namespace

std::unique_ptr<Strategy> make_surrogate(const SearchSpace& space, Members members, std::uint64_t seed) {
    return std::make_unique<Surrogate>(space, std::move(members), seed);
}

}  // namespace hone::inline v0_1
