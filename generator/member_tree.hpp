#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/early_rule.hpp"

namespace hone::inline v0_1 {

/// How many of the assignments of a form one of its rules takes away.
struct Cut {
    std::size_t rule = 0;
    std::int64_t count = 0;
    std::vector<std::uint16_t> beginning;  ///< all that begin like this are among them
};

/// The members of one form as a decision diagram: a level for each tunable, a node for all
/// beginnings that can be followed by the same values, and how many members that gives. So 10^8
/// members take some kilobytes where rules relate few tunables to each other or are products and
/// sums, and none of them is visited to be counted, found or drawn.
///
/// Members are numbered in the order of their indices, the last tunable fastest. Equal sets of
/// members make equal trees. Source: Bryant, 1986, "Graph-based algorithms for Boolean function
/// manipulation" (ordered and reduced diagrams); Rasch et al., 2021, "Efficient Auto-Tuning of
/// Parallel Programs with Interdependent Tuning Parameters via Auto-Tuning Framework (ATF)" (trees
/// that rules cut early).
class MemberTree {
  public:
    struct Options {
        std::function<bool()> stop = {};                ///< asked often; empty: never
        std::size_t most_edges = std::size_t{1} << 24;  ///< 64 MiB; with more there is no tree
        std::vector<Cut>* cuts = nullptr;               ///< of each rule that takes any, in the order in which they are met
    };
    /// Of as many tunables as `sizes` has, each with so many values. Nothing where it was stopped,
    /// or where more beginnings differ than `most_edges` allows. Throws Error as the rules do.
    static constexpr std::size_t asks_per_stop = 64;  ///< values that are tried between two questions to `stop`
    static std::optional<MemberTree> build(std::span<const std::size_t> sizes, std::span<const std::unique_ptr<EarlyRule>> rules,
                                           const Options& options);

    std::int64_t size() const;
    /// The assignment, as SearchSpace numbers those of the form, of a member.
    std::int64_t at(std::int64_t member) const;
    /// The member that an assignment is, or nothing.
    std::optional<std::int64_t> find(std::int64_t assignment) const;
    /// Members with each value of each tunable.
    std::vector<std::vector<std::int64_t>> holders() const;
    /// Those members whose values are all allowed: [tunable][value].
    MemberTree limited(const std::vector<std::vector<bool>>& allowed) const;
    /// Appends what tells this tree from any other.
    void describe(std::string& text) const;

  private:
    static constexpr std::uint32_t none = 0xffffffff;
    struct Level {
        std::size_t values = 0;
        std::vector<std::uint32_t> next;   ///< [node][value]: node of the next level, or `none`
        std::vector<std::int64_t> counts;  ///< [node]: members below it
    };
    struct Growth;

    /// Merges nodes with equal followers, and leaves out what leads nowhere.
    void reduce();

    std::vector<Level> levels_;
    std::int64_t size_ = 0;
};

/// Visits the assignments that keep all rules in the order of their numbers, one by one, with rules
/// asked as early as they can be. Ends when `visit` or `stop` says so: false from the one, true
/// from the other.
void walk_allowed(std::span<const std::size_t> sizes, std::span<const std::unique_ptr<EarlyRule>> rules,
                  const std::function<bool(std::int64_t)>& visit, const std::function<bool()>& stop);

}  // namespace hone::inline v0_1
