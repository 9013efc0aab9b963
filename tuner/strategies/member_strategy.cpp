#include "tuner/strategies/member_strategy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace hone {
namespace {

constexpr std::size_t fewest_starts = 6;  // known members before the first guided choice
constexpr std::size_t most_starts = 12;   // ... which may wait so long for every value of every short list to be seen
constexpr std::size_t short_list = 4;     // of longer ones, neighbouring values tell
constexpr std::size_t start_draws = 16;   // the one with the least seen values is taken
constexpr std::size_t rare = 4;           // a value with less than this part of its fair share of members is looked at on purpose, ...
constexpr int rare_draws = 3;             // ... in so many members: it may be a form of kernel of its own, and the best

}  // namespace

MemberStrategy::MemberStrategy(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed)
    : geometry_(space, std::move(members)), safe_(geometry_.find(space.index_of(space.safe()))), random_(seed) {
    known_.assign(geometry_.size(), false);
    told_.assign(geometry_.size(), false);
    left_.resize(geometry_.size());
    std::iota(left_.begin(), left_.end(), std::size_t{0});
    for (std::size_t d = 0; d < geometry_.dimensions(); ++d) seen_.emplace_back(geometry_.values(d));
    draw_rare_values();
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
    told_[member] = true;
    if (open(member)) note(member);
    told(member, std::isfinite(cost) ? std::log(std::max(cost, std::numeric_limits<double>::min())) : std::numeric_limits<double>::infinity());
}

void MemberStrategy::note(std::size_t member) {
    known_[member] = true;
    ++known_count_;
    for (std::size_t d = 0; d < geometry_.dimensions(); ++d) ++seen_[d][geometry_.coordinate(member, d)];
    noted(member);
}

std::size_t MemberStrategy::anywhere() {
    while (true) {
        const std::size_t place = random_.index(left_.size());
        const std::size_t member = left_[place];
        if (open(member)) return member;
        left_[place] = left_.back();
        left_.pop_back();
    }
}

/// Random members with each rare value of each dimension, which neither the start nor a neighbour's step would soon meet.
void MemberStrategy::draw_rare_values() {
    for (std::size_t dimension = 0; dimension < geometry_.dimensions(); ++dimension) {
        std::vector<std::vector<std::size_t>> holders(geometry_.values(dimension));
        for (std::size_t member = 0; member < geometry_.size(); ++member) holders[geometry_.coordinate(member, dimension)].push_back(member);
        // Among equals a value has 1 / values of the members; in a long list of block sizes none is rare for that.
        for (const auto& members : holders) {
            if (members.empty() || members.size() * rare * holders.size() >= geometry_.size()) continue;
            for (int draw = 0; draw < rare_draws; ++draw) rare_.push_back(members[random_.index(members.size())]);
        }
    }
}

std::optional<std::size_t> MemberStrategy::from_start() {
    while (!rare_.empty()) {
        const std::size_t member = rare_.back();
        rare_.pop_back();
        if (open(member)) return member;
    }
    if (known_count_ < fewest_starts) return newest_values();
    if (known_count_ >= most_starts) return std::nullopt;
    for (const auto& counts : seen_)
        if (counts.size() <= short_list && std::find(counts.begin(), counts.end(), 0U) != counts.end()) return newest_values();
    return std::nullopt;
}

std::size_t MemberStrategy::newest_values() {
    std::size_t best = anywhere();
    double most = 0;
    for (std::size_t draw = 0; draw < start_draws; ++draw) {
        const std::size_t member = anywhere();
        double news = 0;
        for (std::size_t d = 0; d < geometry_.dimensions(); ++d) news += 1.0 / static_cast<double>(1 + seen_[d][geometry_.coordinate(member, d)]);
        if (news > most) {
            most = news;
            best = member;
        }
    }
    return best;
}

}  // namespace hone
