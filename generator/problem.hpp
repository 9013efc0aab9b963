#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/value.hpp"

namespace hone::inline v0_1 {

class Problem;

/// One parameter that a family's problems have: `order`, `precision`, `nx`, ...
struct ProblemParameter {
    std::string name;
    std::string help;                ///< one line, with the unit
    std::vector<std::string> words;  ///< allowed words; empty for a whole number
    std::int64_t low = 0;            ///< smallest allowed number
    std::int64_t high = 0;           ///< largest allowed number
    bool extent = false;             ///< a size: not part of the key under which tuned results are kept, matched by distance
    std::string fallback;            ///< value when it is left out; empty: it must be given
    /// The value that `fallback` stands for in a problem that has `fallback`, where that is another
    /// number: rows of pitch=0 lie as far apart as their length asks for. Whoever gives that number
    /// means the same problem, and has it with `fallback`: results of one serve the other.
    std::function<std::int64_t(const Problem&)> meaning = {};
};

/// A problem says what to compute: a family and a value for each of its parameters. It is an
/// immutable, hashable, ordered value.
///
///     const auto problem = built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96");
///
/// Construct through `Families::make_problem` or `Families::parse_problem`
/// (generator/families.hpp), which check every value against the family's declaration.
class Problem {
  public:
    Problem() = default;
    /// `extents` are the names of the parameters that are sizes.
    Problem(std::string family, std::vector<Assignment> parameters, std::vector<std::string> extents);

    const std::string& family() const { return family_; }
    const std::vector<Assignment>& parameters() const { return parameters_; }
    const std::vector<std::string>& extents() const { return extents_; }

    std::int64_t integer(std::string_view name) const { return integer_of(parameters_, name, key_); }
    const std::string& word(std::string_view name) const { return word_of(parameters_, name, key_); }
    Precision precision() const;

    /// As on the command line: `family name=value ...`.
    const std::string& key() const { return key_; }
    /// The key without the extents. Tuned results are kept under it.
    const std::string& class_key() const { return class_key_; }
    std::size_t hash() const { return hash_; }

    bool operator==(const Problem& other) const { return hash_ == other.hash_ && key_ == other.key_; }
    auto operator<=>(const Problem& other) const { return key_ <=> other.key_; }

  private:
    std::string family_;
    std::vector<Assignment> parameters_;
    std::vector<std::string> extents_;
    std::string key_;
    std::string class_key_;
    std::size_t hash_ = 0;
};

}  // namespace hone::inline v0_1

template <>
struct std::hash<hone::Problem> {
    std::size_t operator()(const hone::Problem& problem) const noexcept { return problem.hash(); }
};
