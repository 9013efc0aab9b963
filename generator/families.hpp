#pragma once

#include <string_view>
#include <vector>

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Families by name. Passed in wherever problems are read, so that tests can add their own.
class Families {
  public:
    explicit Families(std::vector<Family> families) : families_(std::move(families)) {}

    auto begin() const { return families_.begin(); }
    auto end() const { return families_.end(); }

    /// True for the whole name of one of them.
    bool has(std::string_view name) const;

    /// The family of that name, or the only one that is a version of it ("jacobi:3fa91c02" for
    /// "jacobi"). Throws Error, naming the nearest, for an unknown name.
    const Family& find(std::string_view name) const;
    const Family& of(const Problem& problem) const { return find(problem.family()); }

    /// Checks every value against the family's declaration and adds the fallbacks. Throws Error
    /// naming parameter, value and what is allowed.
    Problem make_problem(std::string_view family, const std::vector<Assignment>& parameters) const;

    /// One problem, as on the command line: `family name=value ...`.
    Problem parse_problem(std::string_view text) const;

    /// Several problems: a value may be a list `a,b` or a range `1..10`; the product of all, in
    /// order.
    std::vector<Problem> parse_problems(std::string_view text) const;

  private:
    std::vector<Family> families_;
};

}  // namespace hone::inline v0_1
