#include "tuner/vetting_problem.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::int64_t largest_modulus = 1 << 20;
constexpr std::int64_t smallest_modulus = 16;

std::int64_t words_of(const Families& families, const Problem& problem) {
    std::int64_t words = 0;
    for (const ArraySpec& array : families.of(problem).arrays(problem)) words += array.words;
    return words;
}

/// The problem with one extent changed, where that is a problem.
std::optional<Problem> with_extent(const Families& families, const Problem& problem, const std::string& extent, std::int64_t value) {
    std::vector<Assignment> parameters = problem.parameters();
    for (Assignment& parameter : parameters)
        if (parameter.name == extent) parameter.value = value;
    try {
        Problem changed = families.make_problem(problem.family(), parameters);
        words_of(families, changed);
        return changed;
    } catch (const Error&) {
        return std::nullopt;
    }
}

Problem reduced(const Families& families, const Problem& problem, std::int64_t most_words) {
    Problem small = problem;
    for (std::int64_t modulus = largest_modulus; modulus >= smallest_modulus; modulus /= 2)
        for (auto extent = problem.extents().rbegin(); extent != problem.extents().rend(); ++extent) {
            if (words_of(families, small) <= most_words) return small;
            const std::int64_t value = small.integer(*extent);
            if (value < 2 * modulus) continue;
            if (auto changed = with_extent(families, small, *extent, value % modulus + modulus)) small = std::move(*changed);
        }
    return small;
}

/// The same tunables, and the same code where it can be told without compiling. Which members a
/// constraint leaves may differ by a few.
bool stands_for(const Families& families, const Problem& small, const Problem& problem, const Limits& limits) {
    const Family& family = families.of(problem);
    const SearchSpace space = family.space(problem, limits);
    const SearchSpace other = family.space(small, limits);
    return other.safe() == space.safe() && other.product() == space.product() &&
           family.kernel(small, space.safe(), limits).text == family.kernel(problem, space.safe(), limits).text;
}

/// The largest prime that is not above a number of at least 2.
std::int64_t prime_up_to(std::int64_t number) {
    const auto is_prime = [](std::int64_t n) {
        for (std::int64_t divisor = 2; divisor * divisor <= n; ++divisor)
            if (n % divisor == 0) return false;
        return true;
    };
    while (!is_prime(number)) --number;
    return number;
}

}  // namespace

std::vector<Problem> nearby_problems(const Families& families, const Problem& problem, std::int64_t most_words) {
    std::vector<Problem> problems;
    const Problem small = reduced(families, problem, most_words);
    for (const std::int64_t factor : {1, 2}) {
        Problem near = small;
        for (const std::string& extent : problem.extents()) {
            const std::int64_t value = near.integer(extent) / factor;
            if (value < 2) continue;
            if (auto changed = with_extent(families, near, extent, factor * prime_up_to(value))) near = std::move(*changed);
        }
        const bool is_new = near != problem && std::find(problems.begin(), problems.end(), near) == problems.end();
        if (is_new && words_of(families, near) <= most_words) problems.push_back(std::move(near));
    }
    return problems;
}

Problem vetting_problem(const Families& families, const Problem& problem, const Limits& limits, std::int64_t most_words) {
    const Problem small = reduced(families, problem, most_words);
    return small == problem || stands_for(families, small, problem, limits) ? small : problem;
}

}  // namespace hone::inline v0_1
