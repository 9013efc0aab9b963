#include "tuner/strategies/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tuner/random.hpp"
#include "tuner/strategies/member_geometry.hpp"

namespace hone {
namespace {

// Numbers chosen by simulation on published, fully measured spaces of real kernels, with a window of 8; the optimum is flat in each.
constexpr std::size_t space_filling = 8;       // asks before the first guided one
constexpr int space_filling_draws = 16;        // the one farthest from all asked before is taken
constexpr std::size_t rare = 4;                // a value with less than this part of its fair share of members is looked at on purpose, ...
constexpr int rare_draws = 3;                  // ... in so many members: it may be a form of kernel of its own, and the best
constexpr std::size_t centres = 3;             // the best so many have their neighbours considered
constexpr std::size_t second_neighbours = 20;  // of each centre, at random
constexpr std::size_t elsewhere = 20;          // members considered wherever they lie
constexpr double wander = 0.05;                // share of asks that are random whatever is predicted
constexpr std::size_t nearest = 5;             // told members that a prediction is made of
constexpr double curiosity = 0.1;              // in logarithms of cost, per unit of distance from all asked before
constexpr double least_weight = 0.3;           // of a dimension that seems not to matter, where 1 is the mean
constexpr std::size_t most_anchors = 256;      // told members that predictions look at, so that an ask stays below a millisecond

class LocalSearch : public Strategy {
  public:
    LocalSearch(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed)
        : geometry_(space, std::move(members)), safe_(geometry_.find(space.index_of(space.safe()))), random_(seed) {
        asked_.assign(geometry_.size(), false);
        cost_.assign(geometry_.size(), 0);
        for (std::size_t member = 0; member < geometry_.size(); ++member) left_.push_back(member);
        draw_rare_values();
    }

    std::optional<std::int64_t> ask() override {
        if (order_.size() == geometry_.size()) return std::nullopt;
        const std::size_t member = choose();
        asked_[member] = true;
        order_.push_back(member);
        pending_.push_back(member);
        return geometry_.index(member);
    }

    void tell(std::int64_t index, double cost) override {
        const std::size_t member = geometry_.find(index);
        std::erase(pending_, member);
        cost_[member] = std::isfinite(cost) ? std::log(std::max(cost, std::numeric_limits<double>::min())) : std::numeric_limits<double>::infinity();
        told_.push_back(member);
        if (std::isfinite(cost)) {
            const auto faster = [this](std::size_t a, std::size_t b) { return cost_[a] < cost_[b]; };
            ranking_.insert(std::upper_bound(ranking_.begin(), ranking_.end(), member, faster), member);
            weigh_dimensions();
        }
        choose_anchors();
    }

  private:
    std::size_t choose() {
        if (order_.empty()) return safe_;
        while (!rare_members_.empty()) {
            const std::size_t member = rare_members_.back();
            rare_members_.pop_back();
            if (!asked_[member]) return member;
        }
        if (order_.size() < space_filling) return far_from_all();
        if (ranking_.empty() || random_.real() < wander) return anywhere();
        return most_promising();
    }

    /// Random members with each rare value of each dimension, which neither filling the space nor a neighbour's step would soon meet.
    void draw_rare_values() {
        for (std::size_t dimension = 0; dimension < geometry_.dimensions(); ++dimension) {
            std::vector<std::vector<std::size_t>> holders(static_cast<std::size_t>(geometry_.values(dimension)));
            for (std::size_t member = 0; member < geometry_.size(); ++member)
                holders[static_cast<std::size_t>(geometry_.coordinate(member, dimension))].push_back(member);
            // Among equals a value has 1 / values of the members; in a long list of block sizes none is rare for that.
            for (const auto& members : holders) {
                if (members.empty() || members.size() * rare * holders.size() >= geometry_.size()) continue;
                for (int draw = 0; draw < rare_draws; ++draw) rare_members_.push_back(members[random_.index(members.size())]);
            }
        }
    }

    /// A random member that was not asked.
    std::size_t anywhere() {
        while (true) {
            const std::size_t place = random_.index(left_.size());
            const std::size_t member = left_[place];
            if (!asked_[member]) return member;
            left_[place] = left_.back();
            left_.pop_back();
        }
    }

    std::size_t far_from_all() {
        std::size_t best = anywhere();
        double farthest = -1;
        for (int draw = 0; draw < space_filling_draws; ++draw) {
            const std::size_t member = anywhere();
            const double distance = distance_to_nearest(member, order_);
            if (distance > farthest) {
                farthest = distance;
                best = member;
            }
        }
        return best;
    }

    double distance_to_nearest(std::size_t member, const std::vector<std::size_t>& others) const {
        double least = std::numeric_limits<double>::infinity();
        for (const std::size_t other : others) least = std::min(least, geometry_.distance(member, other));
        return least;
    }

    std::size_t most_promising() {
        gather_pool();
        std::size_t best = pool_.front();
        double lowest = std::numeric_limits<double>::infinity();
        for (const std::size_t member : pool_) {
            const double score = predict(member);
            if (score < lowest) {
                lowest = score;
                best = member;
            }
        }
        return best;
    }

    /// Never empty: `anywhere` finds what is left when every neighbour was asked, which is how the search leaves a finished neighbourhood.
    void gather_pool() {
        pool_.clear();
        for (std::size_t rank = 0; rank < std::min(centres, ranking_.size()); ++rank) {
            geometry_.append_neighbours(ranking_[rank], pool_);
            for (std::size_t draw = 0; draw < second_neighbours; ++draw) {
                const std::size_t member = geometry_.random_second_neighbour(ranking_[rank], random_);
                if (member != geometry_.size()) pool_.push_back(member);
            }
        }
        std::erase_if(pool_, [this](std::size_t member) { return asked_[member]; });
        for (std::size_t draw = 0; draw < elsewhere; ++draw) pool_.push_back(anywhere());
    }

    /// Expected logarithm of the cost, from the nearest members told by inverse square distance, less a bonus for what is far from all that is known
    /// or pending (so that a window of asks does not crowd in one place).
    double predict(std::size_t member) {
        near_.clear();
        for (const std::size_t anchor : anchors_) near_.emplace_back(geometry_.distance(member, anchor), anchor);
        const std::size_t count = std::min(nearest, near_.size());
        std::partial_sort(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(count), near_.end());
        double sum = 0;
        double total = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto [distance, anchor] = near_[i];
            const double weight = 1 / (distance * distance + 1e-6);
            sum += weight * std::min(cost_[anchor], cost_[ranking_.back()]);  // a failure counts as the slowest
            total += weight;
        }
        return sum / total - curiosity * std::min(near_.front().first, distance_to_nearest(member, pending_));
    }

    /// A dimension counts by the variance that its values explain in the costs told.
    void weigh_dimensions() {
        constexpr std::size_t fewest = 6;
        if (ranking_.size() < fewest) return;
        double mean = 0;
        for (const std::size_t member : ranking_) mean += cost_[member] / static_cast<double>(ranking_.size());
        std::vector<double> weights;
        double total = 0;
        for (std::size_t d = 0; d < geometry_.dimensions(); ++d) {
            weights.push_back(std::sqrt(explained_variance(d, mean)));
            total += weights.back();
        }
        if (total <= 0) return;
        const double scale = (1 - least_weight) * static_cast<double>(weights.size()) / total;
        for (double& weight : weights) weight = least_weight + scale * weight;
        geometry_.weigh(weights);
    }

    double explained_variance(std::size_t dimension, double mean) const {
        const auto values = static_cast<std::size_t>(geometry_.values(dimension));
        std::vector<double> sums(values);
        std::vector<int> counts(values);
        for (const std::size_t member : ranking_) {
            const auto value = static_cast<std::size_t>(geometry_.coordinate(member, dimension));
            sums[value] += cost_[member] - mean;
            ++counts[value];
        }
        double explained = 0;
        for (std::size_t value = 0; value < values; ++value) explained += sums[value] * sums[value] / (counts[value] + 1);  // + 1: few count less
        return explained;
    }

    /// All that was told, or else the best half and the latest half.
    void choose_anchors() {
        anchors_ = told_;
        if (told_.size() <= most_anchors) return;
        constexpr auto half = static_cast<std::ptrdiff_t>(most_anchors / 2);
        anchors_.assign(told_.end() - half, told_.end());
        anchors_.insert(anchors_.end(), ranking_.begin(), ranking_.begin() + std::min(half, std::ssize(ranking_)));
    }

    MemberGeometry geometry_;
    std::size_t safe_;
    Random random_;
    std::vector<bool> asked_;
    std::vector<double> cost_;          ///< logarithms, of members told; infinite for failures
    std::vector<std::size_t> order_;    ///< asked
    std::vector<std::size_t> pending_;  ///< asked, not told
    std::vector<std::size_t> told_;
    std::vector<std::size_t> ranking_;  ///< told and measured, fastest first
    std::vector<std::size_t> anchors_;
    std::vector<std::size_t> rare_members_;  ///< to be asked after the safe one
    std::vector<std::size_t> left_;          ///< not asked; and some asked, which `anywhere` removes
    std::vector<std::size_t> pool_;
    std::vector<std::pair<double, std::size_t>> near_;
};

}  // namespace

std::unique_ptr<Strategy> make_local_search(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed) {
    return std::make_unique<LocalSearch>(space, std::move(members), seed);
}

}  // namespace hone
