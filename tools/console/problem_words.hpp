#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// The problems behind the words of a command line, in order. A word that is a family's name starts
/// a new problem; lists and ranges mean several problems; quotes around a whole problem make no
/// difference.
///
///     problems_of({"dg_volume", "order=1..3", "precision=f32", ...}, built_in_families())   // three problems
///
/// Throws Error, naming the nearest, for an unknown family, parameter or value, and when there are
/// no words.
std::vector<Problem> problems_of(const std::vector<std::string>& words, const Families& families);

/// Exactly one problem; throws Error when the words mean several.
Problem problem_of(const std::vector<std::string>& words, const Families& families);

/// Bytes of the arrays that an application brings.
std::int64_t array_bytes(const Problem& problem, const Families& families);

/// Throws Error that names all of the problems that cannot be computed on a device, so that none of
/// a list is found out after others were timed: those that their family refuses (an array beyond
/// what an index reaches), and those whose arrays exceed the device's memory.
void require_possible(const std::vector<Problem>& problems, const Families& families, const Device& device);

/// The key without the sizes that are the family's defaults (a pitch that nobody chose). Of an
/// unknown family the whole key.
std::string short_key(const Problem& problem, const Families& families);

/// A problem in few words, for the legend of a chart: its family and what it chooses, numbers and
/// words that say little by themselves with their names ("dg_volume maxwell_3d order=3 f32"). Sizes
/// are left out, and the parameter `but`.
std::string told_briefly(const Problem& problem, const std::string& but = "");

/// `families`, and beside them those of the records that are not among these (an application's
/// own), as far as records tell: their names, their parameters and the words that these have. For a
/// ProblemFilter; nothing can be computed with them.
Families with_families_of(std::span<const Record> records, const Families& families);

/// A choice among problems: a family's name, or none for all, and values that must agree. Lists
/// mean any of them. Another family's name begins a further choice, as for problems_of.
///
///     const ProblemFilter filter({"dg_volume", "order=1..3", "csr_spmv"}, built_in_families());
///     if (filter.matches(record.problem)) ...
class ProblemFilter {
  public:
    /// Throws Error for an unknown family, parameter or value.
    ProblemFilter(const std::vector<std::string>& words, const Families& families);
    bool matches(const Problem& problem) const;

  private:
    struct Rule {
        std::string name;
        std::vector<std::string> values;
    };
    struct Choice {
        std::string family;  ///< empty: any
        std::vector<Rule> rules;

        bool matches(const Problem& problem) const;
    };
    std::vector<Choice> choices_;  ///< none: all problems
};

}  // namespace hone::tools
