#include "generator/families/dg/coefficients.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hone::inline v0_1::dg {

// Values whose absolute values differ by no more than rounding errors get the mean of these; what
// would change by more stays as it is.
void Coefficients::even_out() {
    constexpr double noise = 1e-14;
    constexpr double most_change = 8 * 1.1e-16;  // both of the largest value; this one is what bounds on errors do not notice
    struct Group {
        double first, sum;
        int count;
    };
    double largest = 0;
    for (const double value : values_) largest = std::max(largest, std::abs(value));
    std::vector<Group> groups;
    std::vector<std::size_t> group_of;
    for (const double value : values_) {
        const double size = std::abs(value) <= noise * largest ? 0 : std::abs(value);
        const auto same =
            std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return std::abs(group.first - size) <= noise * largest; });
        group_of.push_back(static_cast<std::size_t>(same - groups.begin()));
        if (same == groups.end()) groups.push_back({size, 0, 0});
        groups[group_of.back()].sum += size;
        ++groups[group_of.back()].count;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const Group& group = groups[group_of[i]];
        const double mean = group.sum / group.count;
        if (std::abs(mean - std::abs(values_[i])) <= most_change * largest) values_[i] = mean == 0 ? 0 : std::copysign(mean, values_[i]);
    }
}

Block coefficient_table(const std::string& declared, const Coefficients& coefficients, int columns, Precision precision) {
    const bool f32 = precision == Precision::f32;
    Block block;
    block.line("__device__ const real {} = {{", declared);
    for (int c = 0; c < columns; ++c) {
        std::string row;
        for (int n = 0; n < coefficients.rows(); ++n) {
            const double value = coefficients(n, c);
            const std::string word = value == 0 ? "0" : fmt::format("{:#.{}g}{}", value, f32 ? 9 : 17, f32 ? "f" : "");
            row += (n == 0 ? "" : ", ") + word;
        }
        block.line("    {{{}}},", row);
    }
    return block.text("};");
}

}  // namespace hone::inline v0_1::dg
