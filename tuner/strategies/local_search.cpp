#include "tuner/strategies/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tuner/random.hpp"

namespace hone {
namespace {

double envd(const char* name, double fallback) {
    const char* text = std::getenv(name);
    return text ? std::atof(text) : fallback;
}
const std::size_t initial = (std::size_t)envd("LS_INIT", 8);
const std::size_t elites = (std::size_t)envd("LS_ELITES", 3);
const std::size_t nearest = (std::size_t)envd("LS_K", 5);
const double bonus = envd("LS_BONUS", 0.1);
const double random_share = envd("LS_RANDOM", 0.05);
const std::size_t random_pool = (std::size_t)envd("LS_RPOOL", 20);
const std::size_t second_pool = (std::size_t)envd("LS_H2", 20);
const double mismatch = envd("LS_MIS", 0.5);
const double power = envd("LS_POW", 2);

class LocalSearch : public Strategy {
  public:
    LocalSearch(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed) : members_(std::move(members)), random_(seed) {
        std::int64_t stride = space.product();
        for (const auto& tunable : space.tunables()) {
            sizes_.push_back((int)tunable.values.size());
            stride /= sizes_.back();
            strides_.push_back(stride);
        }
        weights_.assign(sizes_.size(), 1.0);
        asked_.assign(members_.size(), false);
        cost_.assign(members_.size(), std::numeric_limits<double>::quiet_NaN());
        safe_ = find(space.index_of(space.safe()));
        left_.resize(members_.size());
        for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = i;
    }
    std::optional<std::int64_t> ask() override {
        if (order_.size() == members_.size()) return std::nullopt;
        std::size_t pick = 0;
        if (order_.empty())
            pick = safe_;
        else if (order_.size() < initial)
            pick = far();
        else if (told_.empty() || random_.real() < random_share)
            pick = any();
        else
            pick = guided();
        asked_[pick] = true;
        order_.push_back(pick);
        return members_[pick];
    }
    void tell(std::int64_t index, double cost) override {
        const std::size_t m = find(index);
        cost_[m] = std::isfinite(cost) ? std::log(cost) : std::numeric_limits<double>::infinity();
        told_.push_back(m);
        if (std::isfinite(cost)) {
            worst_ = finite_.empty() ? cost_[m] : std::max(worst_, cost_[m]);
            finite_.insert(std::upper_bound(finite_.begin(), finite_.end(), m, [&](std::size_t a, std::size_t b) { return cost_[a] < cost_[b]; }), m);
        }
        learn();
    }

  private:
    std::size_t find(std::int64_t index) const {
        const auto it = std::lower_bound(members_.begin(), members_.end(), index);
        return it != members_.end() && *it == index ? (std::size_t)(it - members_.begin()) : members_.size();
    }
    int coordinate(std::size_t m, std::size_t d) const { return (int)(members_[m] / strides_[d] % sizes_[d]); }
    double distance(std::size_t a, std::size_t b) const {
        double sum = 0;
        for (std::size_t d = 0; d < sizes_.size(); ++d) {
            const int gap = std::abs(coordinate(a, d) - coordinate(b, d));
            if (gap) sum += weights_[d] * (mismatch + (1 - mismatch) * gap / (sizes_[d] - 1.0));
        }
        return sum;
    }
    std::size_t any() {
        // left_ is cleaned lazily
        while (true) {
            const std::size_t i = random_.index(left_.size());
            const std::size_t m = left_[i];
            if (!asked_[m]) return m;
            left_[i] = left_.back();
            left_.pop_back();
        }
    }
    std::size_t far() {
        std::size_t best = 0;
        double most = -1;
        for (int t = 0; t < 16; ++t) {
            const std::size_t m = any();
            double d = 1e9;
            for (auto o : order_) d = std::min(d, distance(m, o));
            if (d > most) most = d, best = m;
        }
        return best;
    }
    void learn() {
        // share of the variance that each tunable's values explain
        if (finite_.size() < 6) return;
        double mean = 0;
        for (auto m : finite_) mean += cost_[m];
        mean /= (double)finite_.size();
        double total = 0;
        for (std::size_t d = 0; d < sizes_.size(); ++d) {
            std::vector<double> sum((std::size_t)sizes_[d]), n((std::size_t)sizes_[d]);
            for (auto m : finite_) sum[(std::size_t)coordinate(m, d)] += cost_[m] - mean, n[(std::size_t)coordinate(m, d)] += 1;
            double explained = 0;
            for (std::size_t v = 0; v < sum.size(); ++v) explained += sum[v] * sum[v] / (n[v] + 1);
            weights_[d] = std::sqrt(explained);
            total += weights_[d];
        }
        const double floor = envd("LS_FLOOR", 0.3);
        for (auto& w : weights_) w = total > 0 ? floor + (1 - floor) * w / total * (double)sizes_.size() : 1;
    }
    double score(std::size_t m) const {
        near_.clear();
        for (auto t : told_) near_.push_back({distance(m, t), t});
        const std::size_t k = std::min(nearest, near_.size());
        std::partial_sort(near_.begin(), near_.begin() + (long)k, near_.end());
        double sum = 0, weight = 0;
        for (std::size_t i = 0; i < k; ++i) {
            const double w = 1 / std::pow(near_[i].first + 1e-3, power);
            const double c = std::isfinite(cost_[near_[i].second]) ? cost_[near_[i].second] : worst_;
            sum += w * c, weight += w;
        }
        double alone = near_[0].first;
        for (std::size_t i = told_.size(); i < order_.size(); ++i) alone = std::min(alone, distance(m, order_[i]));
        return sum / weight - bonus * alone;
    }
    void neighbours(std::size_t m, std::vector<std::size_t>& out) const {
        for (std::size_t d = 0; d < sizes_.size(); ++d)
            for (int v = 0; v < sizes_[d]; ++v) {
                const int c = coordinate(m, d);
                if (v == c) continue;
                const std::size_t n = find(members_[m] + (v - c) * strides_[d]);
                if (n != members_.size() && !asked_[n]) out.push_back(n);
            }
    }
    std::size_t two_step(std::size_t m) {
        std::int64_t index = members_[m];
        for (int s = 0; s < 2; ++s) {
            const std::size_t d = random_.index(sizes_.size());
            const int c = (int)(index / strides_[d] % sizes_[d]);
            index += ((int)random_.below((std::uint64_t)sizes_[d]) - c) * strides_[d];
        }
        return find(index);
    }
    std::size_t guided() {
        pool_.clear();
        for (std::size_t e = 0; e < std::min(elites, finite_.size()); ++e) {
            neighbours(finite_[e], pool_);
            for (std::size_t i = 0; i < second_pool; ++i) {
                const std::size_t n = two_step(finite_[e]);
                if (n != members_.size() && !asked_[n]) pool_.push_back(n);
            }
        }
        for (std::size_t i = 0; i < random_pool; ++i) pool_.push_back(any());
        std::size_t best = pool_[0];
        double lowest = 1e300;
        for (auto m : pool_) {
            const double s = score(m);
            if (s < lowest) lowest = s, best = m;
        }
        return best;
    }

    std::vector<std::int64_t> members_;
    std::vector<int> sizes_;
    std::vector<std::int64_t> strides_;
    std::vector<double> weights_;
    std::vector<bool> asked_;
    std::vector<double> cost_;
    std::vector<std::size_t> order_, told_, finite_, left_, pool_;
    mutable std::vector<std::pair<double, std::size_t>> near_;
    double worst_ = 0;
    std::size_t safe_ = 0;
    Random random_;
};

}  // namespace

std::unique_ptr<Strategy> make_local_search(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed) {
    return std::make_unique<LocalSearch>(space, std::move(members), seed);
}

}  // namespace hone
