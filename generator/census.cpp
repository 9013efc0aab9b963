#include "generator/census.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "foundation/error.hpp"
#include "generator/member_tree.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::int64_t most_walked = std::int64_t{1} << 20;  // assignments that are looked at one by one: a second at most
constexpr std::int64_t most_walked_by_reads = std::int64_t{1} << 27;
constexpr std::size_t most_flattened = std::size_t{1} << 20;  // members of trees that become a list: 8 MiB
constexpr std::size_t most_listed = std::size_t{1} << 27;     // ... of what makes no tree: 1 GiB

std::vector<std::size_t> sizes_of(const FormSpace& form) {
    std::vector<std::size_t> sizes;
    for (const Tunable& tunable : form.tunables) sizes.push_back(tunable.values.size());
    return sizes;
}

/// A configuration that begins so, and goes on with the first values.
Config config_of(const FormSpace& form, std::span<const std::uint16_t> beginning) {
    std::vector<Assignment> assignments;
    if (!form.name.empty()) assignments.push_back({std::string(form_tunable), form.name});
    for (std::size_t i = 0; i < form.tunables.size(); ++i)
        assignments.push_back({form.tunables[i].name, form.tunables[i].values[i < beginning.size() ? beginning[i] : 0]});
    return Config(std::move(assignments));
}

/// A constraint that is asked once all that it reads is known.
class LateRule : public EarlyRule {
  public:
    LateRule(const FormSpace& form, const Constraint& constraint) : form_(form), constraint_(constraint) {
        for (std::size_t i = 0; i < form.tunables.size(); ++i) {
            const auto& names = constraint.reads;
            if (std::find(names.begin(), names.end(), form.tunables[i].name) != names.end()) reads_.push_back(i);
        }
    }
    const std::vector<std::size_t>& reads() const override { return reads_; }

    EarlyAnswer ask(std::span<const std::uint16_t> levels) override {
        if (reads_.empty() || reads_.back() < levels.size())
            return {constraint_.violation(config_of(form_, levels)) ? EarlyAnswer::Verdict::broken : EarlyAnswer::Verdict::holds};
        EarlyAnswer answer;
        for (const std::size_t tunable : reads_)
            if (tunable < levels.size()) answer.rest += fmt::format("{},", levels[tunable]);
        return answer;
    }

  private:
    const FormSpace& form_;
    const Constraint& constraint_;
    std::vector<std::size_t> reads_;
};

std::vector<std::unique_ptr<EarlyRule>> rules_of(const FormSpace& form) {
    std::vector<std::unique_ptr<EarlyRule>> rules;
    for (const Constraint& constraint : form.constraints)
        rules.push_back(constraint.early ? constraint.early() : std::make_unique<LateRule>(form, constraint));
    return rules;
}

std::int64_t product_of(const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1},
                           [](std::int64_t a, std::size_t b) { return a * static_cast<std::int64_t>(b); });
}

/// Why all that begins so is rejected.
std::string reason_of(const Constraint& constraint, const Config& example) {
    try {
        if (auto reason = constraint.violation(example)) return *std::move(reason);
    } catch (const Error& error) {
        return error.what();
    }
    return "it is broken whatever the other values are";
}

void add(Census& census, const FormSpace& form, const std::vector<Cut>& cuts) {
    for (const Cut& cut : cuts) {
        const Constraint& constraint = form.constraints[cut.rule];
        auto row = std::find_if(census.rejected.begin(), census.rejected.end(),
                                [&](const Census::Rejected& one) { return one.constraint == constraint.name; });
        if (row == census.rejected.end()) {
            Config example = config_of(form, cut.beginning);
            std::string reason = reason_of(constraint, example);
            row = census.rejected.insert(row, {constraint.name, 0, std::move(example), std::move(reason)});
        }
        row->count += cut.count;
    }
}

/// The members of rules that make no tree, one by one.
std::vector<std::int64_t> listed(const SearchSpace& space, const std::function<bool()>& stop) {
    std::vector<std::int64_t> list;
    std::int64_t first = 0;
    for (const FormSpace& form : space.forms()) {
        const auto visit = [&](std::int64_t assignment) {
            if (list.size() == most_listed)
                throw Error(
                    "search space",
                    fmt::format("its constraints leave over {} configurations, which depend on too many values at once to be counted", most_listed),
                    "leave some values out, or add constraints");
            list.push_back(first + assignment);
            return true;
        };
        walk_allowed(sizes_of(form), rules_of(form), visit, stop);
        first += product_of(sizes_of(form));
    }
    return list;
}

}  // namespace

bool cut_early(const SearchSpace& space) {
    bool any_early = false, any = false, all_tell = true;
    for (const FormSpace& form : space.forms())
        for (const Constraint& constraint : form.constraints) {
            any = true;
            any_early = any_early || constraint.early;
            all_tell = all_tell && (constraint.early || !constraint.reads.empty());
        }
    // A walk by what rules read passes over much, on all processors.
    return all_tell && space.product() > (any_early || !any ? most_walked : most_walked_by_reads);
}

Census early_census(const SearchSpace& space, const std::function<bool()>& stop, bool with_rejected) {
    Census census;
    std::vector<Members::Form> forms;
    std::int64_t first = 0;
    for (const FormSpace& form : space.forms()) {
        const std::vector<std::size_t> sizes = sizes_of(form);
        std::vector<Cut> cuts;
        bool stopped = false;
        const auto noted = [&] { return stopped = stopped || (stop && stop()); };
        auto tree = MemberTree::build(sizes, rules_of(form), {.stop = noted, .cuts = with_rejected ? &cuts : nullptr});
        if (stopped) return census;
        if (!tree) {
            census.members = listed(space, stop);
            const auto left = static_cast<std::int64_t>(census.members.size());
            census.rejected.clear();
            if (with_rejected && left < space.product())
                census.rejected.push_back(
                    {"the constraints together", space.product() - left, {}, "they depend on too many values at once to be told apart"});
            return census;
        }
        add(census, form, cuts);
        forms.push_back({first, std::make_shared<const MemberTree>(*std::move(tree))});
        first += product_of(sizes);
    }
    const Members trees(std::move(forms));
    census.members = trees.size() <= most_flattened ? Members(std::vector<std::int64_t>(trees.begin(), trees.end())) : trees;
    return census;
}

Census take_census(const SearchSpace& space, const std::function<bool()>& stop) {
    if (cut_early(space)) return early_census(space, stop);
    Census census;
    std::vector<std::int64_t> members;
    constexpr std::int64_t piece = 65536;
    for (std::int64_t first = 0; first < space.product() && !(stop && stop()); first += piece)
        space.walk(first, std::min(first + piece, space.product()), [&](const SearchSpace::Run& run) {
            if (!run.rejection) {
                members.push_back(run.first);
                return;
            }
            const auto same = [&](const Census::Rejected& row) { return row.constraint == run.rejection->constraint; };
            auto row = std::find_if(census.rejected.begin(), census.rejected.end(), same);
            if (row == census.rejected.end()) row = census.rejected.insert(row, {run.rejection->constraint, 0, run.config, run.rejection->reason});
            row->count += run.count;
        });
    census.members = std::move(members);
    return census;
}

std::optional<std::vector<std::uint16_t>> first_member(const std::vector<std::size_t>& sizes, const std::vector<std::unique_ptr<EarlyRule>>& rules,
                                                       std::size_t most_tried) {
    std::int64_t product = 1;
    for (const std::size_t size : sizes)
        if (__builtin_mul_overflow(product, static_cast<std::int64_t>(size), &product) || product > largest_product)
            throw Error("search space", "its tunables' values have more than 2^62 combinations", "leave some values out");
    std::optional<std::int64_t> first;
    if (const auto tree = MemberTree::build(sizes, rules, {.most_edges = most_tried})) {
        if (tree->size() > 0) first = tree->at(0);
    } else {
        const std::size_t most_stops = most_tried / MemberTree::asks_per_stop;
        std::size_t stops = 0;
        const auto take = [&](std::int64_t found) {
            first = found;
            return false;
        };
        walk_allowed(sizes, rules, take, [&] { return ++stops > most_stops; });
        if (!first && stops > most_stops)
            throw Error("search space", "no configuration was found that keeps all constraints, among those that were tried",
                        "name one that does: \"safe\" in a family.json, Default in a T1 file");
    }
    if (!first) return std::nullopt;
    std::vector<std::uint16_t> levels(sizes.size());
    for (std::size_t i = sizes.size(); i-- > 0; *first /= static_cast<std::int64_t>(sizes[i]))
        levels[i] = static_cast<std::uint16_t>(*first % static_cast<std::int64_t>(sizes[i]));
    return levels;
}

}  // namespace hone::inline v0_1
