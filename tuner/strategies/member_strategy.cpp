#include "tuner/strategies/member_strategy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "foundation/random_words.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t fewest_starts = 6;  // known members before the first guided choice
constexpr std::size_t most_starts = 24;   // ... which waits no longer than that for the looks below
constexpr std::size_t short_list = 6;     // every value of such a list is looked at; of longer ones, neighbouring values tell
constexpr std::size_t rare = 4;           // a value with less than this part of its fair share of members is looked at more often, ...
constexpr std::size_t rare_looks = 3;     // ... because it may be a form of kernel of its own, and the best
constexpr std::size_t start_draws = 4;    // the member that gives most of the looks still due is taken
constexpr std::size_t rare_holders = 64;  // members with a value that are drawn from, where it is rare in a large space

/// Number `i` of `count` that lie evenly among `all`, each somewhere in its part: where values
/// alternate, even steps would meet one of them alone.
std::size_t spread(std::size_t i, std::size_t count, std::size_t all) {
    const std::size_t part = all / count;
    return i * part + static_cast<std::size_t>(mixed(i) % part);
}

}  // namespace

MemberStrategy::MemberStrategy(const SearchSpace& space, Members members, std::uint64_t seed)
    : geometry_(space, std::move(members)),
      safe_(geometry_.find(space.index_of(space.safe()))),
      random_(seed),
      known_(geometry_.size(), false),
      told_(geometry_.size(), false),
      left_(geometry_.size()) {
    for (std::size_t d = 0; d < geometry_.dimensions(); ++d) seen_.emplace_back(geometry_.levels(d));
    plan_looks();
}

std::optional<std::int64_t> MemberStrategy::ask() {
    if (count_open() == 0) return std::nullopt;
    std::size_t member = safe_;
    if (!open(member)) {
        const auto start = from_start();
        member = start ? *start : choose();
    }
    note(member);
    return geometry_.index(member);
}

void MemberStrategy::tell(std::int64_t index, double cost) {
    const std::size_t member = geometry_.find(index);
    if (told_[member]) return;
    told_.set(member, true);
    if (open(member)) note(member);
    told(member, std::isfinite(cost) ? std::log(std::max(cost, std::numeric_limits<double>::min())) : std::numeric_limits<double>::infinity());
}

void MemberStrategy::note(std::size_t member) {
    known_.set(member, true);
    ++known_count_;
    for (std::size_t d = 0; d < geometry_.dimensions(); ++d) ++seen_[d][geometry_.coordinate(member, d)];
    noted(member);
}

std::size_t MemberStrategy::anywhere() {
    while (true) {
        const std::size_t place = random_.index(left_.size());
        const std::size_t member = left_[place];
        if (open(member)) return member;
        left_.take(place);
    }
}

std::vector<std::vector<std::vector<std::size_t>>> MemberStrategy::holders() const {
    constexpr std::size_t most_looked_at = 4096;  // of a large space
    const std::size_t looked_at = geometry_.is_small() ? geometry_.size() : most_looked_at;
    std::vector<std::vector<std::vector<std::size_t>>> holders;
    for (std::size_t dimension = 0; dimension < geometry_.dimensions(); ++dimension) {
        auto& own = holders.emplace_back(geometry_.values(dimension));
        for (std::size_t i = 0; i < looked_at; ++i) {
            const std::size_t member = geometry_.is_small() ? i : spread(i, looked_at, geometry_.size());
            if (const std::size_t value = geometry_.coordinate(member, dimension); value < own.size()) own[value].push_back(member);
        }
    }
    return holders;
}

void MemberStrategy::plan_looks() {
    auto all_holders = holders();
    const auto counts = geometry_.counts();
    for (std::size_t dimension = 0; dimension < geometry_.dimensions(); ++dimension) {
        // Forms are looked at as values of `form`, not as the lack of some tunable.
        auto& holders = all_holders[dimension];
        for (std::size_t value = 0; value < holders.size(); ++value) {
            // Among equals a value has 1 / values of the members; in a long list of block sizes
            // none is rare for that.
            const auto count = static_cast<std::size_t>(counts[dimension][value]);
            const bool is_rare = static_cast<double>(count) * rare * static_cast<double>(holders.size()) < static_cast<double>(geometry_.size());
            if (holders.size() > short_list && !is_rare) continue;
            const std::size_t looks = std::min(is_rare ? rare_looks : 1, count);
            if (looks == 0) continue;
            if (holders[value].size() < looks) holders[value] = geometry_.some_with(dimension, value, rare_holders);
            looks_.push_back({dimension, value, looks, count, std::move(holders[value])});
        }
    }
    // What hardly fits with anything comes first: the more common values are met on the way.
    std::stable_sort(looks_.begin(), looks_.end(), [](const Look& a, const Look& b) { return a.count > b.count; });
}

bool MemberStrategy::due(const Look& look) const {
    return seen_[look.dimension][look.value] < look.times;
}

std::optional<std::size_t> MemberStrategy::from_start() {
    if (known_count_ >= most_starts) return std::nullopt;
    while (!looks_.empty() && !due(looks_.back())) looks_.pop_back();
    if (!looks_.empty()) return newest_of(looks_.back().holders);
    if (known_count_ < fewest_starts) return newest_of({});
    return std::nullopt;
}

std::size_t MemberStrategy::newest_of(const std::vector<std::size_t>& some) {
    std::size_t best = anywhere();
    double most = -1;
    for (std::size_t draw = 0; draw < start_draws; ++draw) {
        const std::size_t member = some.empty() ? anywhere() : some[random_.index(some.size())];
        if (!open(member)) continue;
        double news = 0;
        for (const Look& look : looks_)
            if (due(look) && geometry_.coordinate(member, look.dimension) == look.value) ++news;
        for (std::size_t d = 0; d < geometry_.dimensions(); ++d) news += 1.0 / static_cast<double>(1 + seen_[d][geometry_.coordinate(member, d)]);
        if (news <= most) continue;
        most = news;
        best = member;
    }
    return best;
}

}  // namespace hone::inline v0_1
