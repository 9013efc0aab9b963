#include "generator/member_tree.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace hone::inline v0_1 {
namespace {

using Verdict = EarlyAnswer::Verdict;

constexpr std::uint32_t settled = 0;  // a rule that holds, or of whose tunables none has a value yet

std::vector<std::int64_t> products_after(std::span<const std::size_t> sizes) {
    std::vector<std::int64_t> after(sizes.size() + 1, 1);
    for (std::size_t i = sizes.size(); i-- > 0;) after[i] = after[i + 1] * static_cast<std::int64_t>(sizes[i]);
    return after;
}

/// [tunable]: the rules that look at it.
std::vector<std::vector<std::size_t>> rules_of(std::size_t tunables, std::span<const std::unique_ptr<EarlyRule>> rules) {
    std::vector<std::vector<std::size_t>> asked(std::max<std::size_t>(1, tunables));
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
        for (const std::size_t tunable : rules[rule]->reads()) asked[tunable].push_back(rule);
        if (rules[rule]->reads().empty()) asked.front().push_back(rule);  // always true, or never
    }
    return asked;
}

std::string_view bytes_of(std::span<const std::uint32_t> words) {
    return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

/// Asks `stop` now and then.
class Patience {
  public:
    explicit Patience(const std::function<bool()>& stop) : stop_(stop) {}
    bool over() {
        if (stop_ && ++asked_ % MemberTree::asks_per_stop == 0) over_ = over_ || stop_();
        return over_;
    }

  private:
    const std::function<bool()>& stop_;
    std::size_t asked_ = 0;
    bool over_ = false;
};

}  // namespace

/// The tree while it grows, level by level. Of each node there is one beginning that stands for
/// all, and what its rules leave open.
struct MemberTree::Growth {
    std::span<const std::size_t> sizes;
    std::span<const std::unique_ptr<EarlyRule>> rules;
    const Options& options;
    std::vector<std::vector<std::size_t>> asked = rules_of(sizes.size(), rules);
    std::vector<std::int64_t> after = products_after(sizes);
    std::vector<std::unordered_map<std::string, std::uint32_t>> texts = std::vector<std::unordered_map<std::string, std::uint32_t>>(rules.size());
    std::vector<Cut> cuts = {};
    Patience patience{options.stop};
    std::size_t edges = 0;

    struct Row {
        std::vector<std::uint16_t> beginnings;  ///< [node][tunable]
        std::vector<std::uint32_t> open;        ///< [node][rule]: number of the text of what is left, or `settled`
        std::vector<std::int64_t> paths;        ///< [node]: beginnings that it stands for
    };

    std::optional<MemberTree> grow() {
        MemberTree tree;
        Row row{{}, std::vector<std::uint32_t>(rules.size(), settled), {1}};
        for (std::size_t tunable = 0; tunable < sizes.size(); ++tunable) {
            auto next = grow_level(tree, tunable, row);
            if (!next) return std::nullopt;
            row = std::move(*next);
        }
        if (sizes.empty()) tree.size_ = 1;
        tree.reduce();
        if (options.cuts != nullptr) *options.cuts = std::move(cuts);
        return tree;
    }

    std::optional<Row> grow_level(MemberTree& tree, std::size_t tunable, const Row& row) {
        Level& level = tree.levels_.emplace_back();
        level.values = sizes[tunable];
        Row next;
        std::unordered_map<std::string, std::uint32_t> nodes;
        std::vector<std::uint16_t> beginning(tunable + 1);
        std::vector<std::uint32_t> open(rules.size());
        for (std::size_t node = 0; node < row.paths.size(); ++node) {
            edges += level.values;
            if (edges > options.most_edges) return std::nullopt;
            std::copy_n(row.beginnings.begin() + static_cast<std::ptrdiff_t>(node * tunable), tunable, beginning.begin());
            for (std::size_t value = 0; value < level.values; ++value) {
                if (patience.over()) return std::nullopt;
                beginning.back() = static_cast<std::uint16_t>(value);
                std::copy_n(row.open.begin() + static_cast<std::ptrdiff_t>(node * rules.size()), rules.size(), open.begin());
                if (!keeps(tunable, beginning, open, row.paths[node])) {
                    level.next.push_back(none);
                    continue;
                }
                const auto [found, is_new] = nodes.emplace(bytes_of(open), static_cast<std::uint32_t>(next.paths.size()));
                if (is_new) {
                    next.beginnings.insert(next.beginnings.end(), beginning.begin(), beginning.end());
                    next.open.insert(next.open.end(), open.begin(), open.end());
                    next.paths.push_back(0);
                }
                next.paths[found->second] += row.paths[node];
                level.next.push_back(found->second);
            }
        }
        return next;
    }

    bool keeps(std::size_t tunable, std::span<const std::uint16_t> beginning, std::vector<std::uint32_t>& open, std::int64_t paths) {
        for (const std::size_t rule : asked[tunable]) {
            const auto& reads = rules[rule]->reads();
            const bool begun = !reads.empty() && reads.front() < tunable;
            if (begun && open[rule] == settled) continue;  // it holds
            const EarlyAnswer answer = rules[rule]->ask(beginning);
            if (answer.verdict == Verdict::broken) {
                cut(rule, beginning, paths * after[tunable + 1]);
                return false;
            }
            open[rule] = settled;
            if (answer.verdict == Verdict::open)
                open[rule] = texts[rule].emplace(answer.rest, static_cast<std::uint32_t>(texts[rule].size() + 1)).first->second;
        }
        return true;
    }

    void cut(std::size_t rule, std::span<const std::uint16_t> beginning, std::int64_t count) {
        auto found = std::find_if(cuts.begin(), cuts.end(), [&](const Cut& one) { return one.rule == rule; });
        if (found == cuts.end()) found = cuts.insert(found, {rule, 0, {beginning.begin(), beginning.end()}});
        found->count += count;
    }
};

std::optional<MemberTree> MemberTree::build(std::span<const std::size_t> sizes, std::span<const std::unique_ptr<EarlyRule>> rules,
                                            const Options& options) {
    return Growth{sizes, rules, options}.grow();
}

void MemberTree::reduce() {
    std::vector<std::uint32_t> numbers{0};  // of the level below: of each old node its new one, or `none`
    std::vector<std::int64_t> counts{1};    // ... of each new one
    for (std::size_t depth = levels_.size(); depth-- > 0;) {
        const Level old = std::move(levels_[depth]);
        Level& level = levels_[depth] = {old.values, {}, {}};
        std::unordered_map<std::string, std::uint32_t> nodes;
        std::vector<std::uint32_t> own;
        std::vector<std::uint32_t> next(old.values);
        for (std::size_t begin = 0; begin < old.next.size(); begin += old.values) {
            std::int64_t count = 0;
            for (std::size_t value = 0; value < old.values; ++value) {
                const std::uint32_t to = old.next[begin + value];
                next[value] = to == none ? none : numbers[to];
                if (next[value] != none) count += counts[next[value]];
            }
            if (count == 0) {
                own.push_back(none);
                continue;
            }
            const auto [found, is_new] = nodes.emplace(bytes_of(next), static_cast<std::uint32_t>(level.counts.size()));
            if (is_new) {
                level.next.insert(level.next.end(), next.begin(), next.end());
                level.counts.push_back(count);
            }
            own.push_back(found->second);
        }
        level.next.shrink_to_fit();
        level.counts.shrink_to_fit();
        numbers = std::move(own);
        counts = level.counts;
    }
    if (!levels_.empty()) size_ = levels_.front().counts.empty() ? 0 : levels_.front().counts.front();
}

std::int64_t MemberTree::size() const {
    return size_;
}

std::int64_t MemberTree::at(std::int64_t member) const {
    std::int64_t assignment = 0;
    std::uint32_t node = 0;
    for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
        const Level& level = levels_[depth];
        std::size_t value = 0;
        for (; value < level.values; ++value) {
            const std::uint32_t to = level.next[node * level.values + value];
            if (to == none) continue;
            const std::int64_t below = depth + 1 == levels_.size() ? 1 : levels_[depth + 1].counts[to];
            if (member < below) {
                node = to;
                break;
            }
            member -= below;
        }
        assignment = assignment * static_cast<std::int64_t>(level.values) + static_cast<std::int64_t>(value);
    }
    return assignment;
}

std::optional<std::int64_t> MemberTree::find(std::int64_t assignment) const {
    if (size_ == 0) return std::nullopt;
    std::vector<std::size_t> places(levels_.size());
    for (std::size_t depth = levels_.size(); depth-- > 0;) {
        const auto values = static_cast<std::int64_t>(levels_[depth].values);
        places[depth] = static_cast<std::size_t>(assignment % values);
        assignment /= values;
    }
    if (assignment != 0) return std::nullopt;
    std::int64_t member = 0;
    std::uint32_t node = 0;
    for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
        const Level& level = levels_[depth];
        const std::uint32_t* const next = &level.next[node * level.values];
        for (std::size_t value = 0; value < places[depth]; ++value)
            if (next[value] != none) member += depth + 1 == levels_.size() ? 1 : levels_[depth + 1].counts[next[value]];
        node = next[places[depth]];
        if (node == none) return std::nullopt;
    }
    return member;
}

std::vector<std::vector<std::int64_t>> MemberTree::holders() const {
    std::vector<std::vector<std::int64_t>> holders;
    std::vector<std::int64_t> paths{1};
    for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
        const Level& level = levels_[depth];
        const bool last = depth + 1 == levels_.size();
        std::vector<std::int64_t>& own = holders.emplace_back(level.values);
        std::vector<std::int64_t> next(last ? 1 : levels_[depth + 1].counts.size());
        for (std::size_t node = 0; node < level.counts.size(); ++node)
            for (std::size_t value = 0; value < level.values; ++value) {
                const std::uint32_t to = level.next[node * level.values + value];
                if (to == none) continue;
                own[value] += paths[node] * (last ? 1 : levels_[depth + 1].counts[to]);
                next[to] += paths[node];
            }
        paths = std::move(next);
    }
    return holders;
}

MemberTree MemberTree::limited(const std::vector<std::vector<bool>>& allowed) const {
    MemberTree tree = *this;
    for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
        Level& level = tree.levels_[depth];
        for (std::size_t edge = 0; edge < level.next.size(); ++edge)
            if (!allowed[depth][edge % level.values]) level.next[edge] = none;
    }
    tree.reduce();
    return tree;
}

void MemberTree::describe(std::string& text) const {
    for (const Level& level : levels_) {
        text += std::to_string(level.counts.size()) + ":";
        for (const std::uint32_t to : level.next) text += to == none ? "-," : std::to_string(to) + ",";
    }
}

void walk_allowed(std::span<const std::size_t> sizes, std::span<const std::unique_ptr<EarlyRule>> rules,
                  const std::function<bool(std::int64_t)>& visit, const std::function<bool()>& stop) {
    const std::vector<std::vector<std::size_t>> asked = rules_of(sizes.size(), rules);
    Patience patience(stop);
    std::vector<std::vector<bool>> holds(sizes.size() + 1, std::vector<bool>(rules.size()));  // [known values][rule]
    std::vector<std::uint16_t> beginning;
    beginning.reserve(sizes.size());
    const auto keeps = [&] {
        const std::size_t known = beginning.size();
        holds[known] = holds[known - 1];
        for (const std::size_t rule : asked[known - 1]) {
            if (holds[known][rule]) continue;
            const Verdict verdict = rules[rule]->ask(beginning).verdict;
            if (verdict == Verdict::broken) return false;
            holds[known][rule] = verdict == Verdict::holds;
        }
        return true;
    };
    std::vector<std::size_t> next{0};  // [known values]: the value to try there
    while (!next.empty()) {
        const std::size_t known = next.size() - 1;
        if (known == sizes.size()) {
            std::int64_t assignment = 0;
            for (std::size_t i = 0; i < sizes.size(); ++i) assignment = assignment * static_cast<std::int64_t>(sizes[i]) + beginning[i];
            if (!visit(assignment)) return;
        } else if (next.back() < sizes[known]) {
            if (patience.over()) return;
            beginning.push_back(static_cast<std::uint16_t>(next.back()++));
            if (keeps()) {
                next.push_back(0);
                continue;
            }
            beginning.pop_back();
            continue;
        }
        next.pop_back();
        if (!beginning.empty()) beginning.pop_back();
    }
}

}  // namespace hone::inline v0_1
