#include "generator/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/error.hpp"
#include "generator/family.hpp"

namespace hone::inline v0_1 {
namespace {

double octaves(double a, double b) {
    return std::abs(std::log2(a) - std::log2(b));
}

}  // namespace

std::vector<Measure> sizes_of(const Problem& problem, const std::vector<std::string>& names) {
    std::vector<Measure> result;
    result.reserve(names.size());
    for (const std::string& name : names) result.push_back({name, static_cast<double>(std::max<std::int64_t>(problem.integer(name), 1))});
    return result;
}

Scale scale_of(const Family& family, const Problem& problem) {
    return family.scale ? family.scale(problem) : Scale{sizes_of(problem, problem.extents()), {}};
}

Measure aligned(const std::string& of, std::int64_t words, Precision precision) {
    constexpr std::int64_t widest = 16;
    return {"bytes that " + of + " are aligned by", static_cast<double>(std::gcd(words * bytes_per_word(precision), widest))};
}

Scale scale_of_grid(const Problem& problem) {
    return {sizes_of(problem, {"nx", "ny", "nz"}), {aligned("rows", problem.integer("pitch"), problem.precision())}};
}

Scale scale_of_batch(const Problem& problem, const std::vector<std::string>& operands) {
    Scale scale{sizes_of(problem, {"batch"}), {}};
    for (const std::string& of : operands) scale.proportions.push_back(aligned("gaps of " + of, problem.integer("gap_" + of), problem.precision()));
    return scale;
}

ScaleDistance scale_distance(const Scale& known, const Scale& asked) {
    if (known.sizes.size() != asked.sizes.size() || known.proportions.size() != asked.proportions.size())
        throw Error("sizes of problems", "they are of different kinds", "compare sizes of one kind of problem only");
    ScaleDistance result;
    for (std::size_t i = 0; i < asked.sizes.size(); ++i) result.sizes += octaves(known.sizes[i].value, asked.sizes[i].value);
    for (std::size_t i = 0; i < asked.proportions.size(); ++i) {
        const Measure &there = known.proportions[i], &here = asked.proportions[i];
        if (there.value == here.value) continue;
        result.proportions += octaves(there.value, here.value);
        result.differing += fmt::format("{}{:.3g} {}, not {:.3g}", result.differing.empty() ? "" : "; ", there.value, there.name, here.value);
    }
    return result;
}

}  // namespace hone::inline v0_1
