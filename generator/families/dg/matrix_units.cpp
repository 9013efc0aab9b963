#include "generator/families/dg/matrix_units.hpp"

#include <cmath>

#include "generator/families/dg/tiling.hpp"

namespace hone::inline v0_1::dg {
namespace {

constexpr int fragment_words = mma_nodes * mma_columns;  // of one matrix in one step

// The nearest number with the 11 significant bits of TF32.
double rounded_to_tf32(double value) {
    constexpr int significant_bits = 11;
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::round(std::ldexp(mantissa, significant_bits)), exponent - significant_bits);
}

}  // namespace

std::string matrix_units(const Shape& shape, const Limits& limits) {
    // Below these, padding to tiles of 16 x 8 takes what the units win, or memory sets the limit
    // anyway.
    constexpr int fewest_nodes_f64 = 28;  // 21 would be a third padding, 28 an eighth
    constexpr int fewest_nodes_tf32 = 20;
    if (shape.precision == Precision::f64) return limits.has(Feature::wide_f64_matrix_units) && shape.nodes >= fewest_nodes_f64 ? "mma" : "";
    return shape.accurate && limits.has(Feature::tf32_matrix_units) && shape.nodes >= fewest_nodes_tf32 ? "tf32" : "";
}

int matrix_registers(const Shape& shape, int sums, int columns, int matrices, int sets, int fields) {
    constexpr int words_of_coefficients = 8;  // two times 16 bytes
    constexpr int words_of_values = 4;        // two doubles, or high and low parts of two
    return shape.bytes() / 4 * sums * columns * 4 + sets * matrices * words_of_coefficients + fields * words_of_values;
}

TableSpec fragment_table(const std::string& name, const Shape& shape, int matrices, int rows, int columns,
                         const std::function<double(int a, int n, int c)>& entry) {
    const int tiles = round_up(rows, mma_nodes) / mma_nodes;
    const int steps = round_up(columns, mma_columns) / mma_columns;
    const bool split = shape.precision == Precision::f32;
    TableSpec result{name, std::int64_t{tiles} * steps * matrices * fragment_words * (split ? 2 : 1), {}};
    result.contents.assign(static_cast<std::size_t>(result.words), 0.0);
    for (int a = 0; a < matrices; ++a)
        for (int c = 0; c < columns; ++c)
            for (int n = 0; n < rows; ++n) {
                const int fragment = (n / mma_nodes * steps + c / mma_columns) * matrices + a;
                const int lane = n % 8 * 4 + c % mma_columns / 2;
                const int lower_half = n % mma_nodes / 8;
                const double value = entry(a, n, c);
                if (!split) {
                    result.contents[static_cast<std::size_t>(fragment * fragment_words + (c % 2 * mma_lanes + lane) * 2 + lower_half)] = value;
                    continue;
                }
                const auto high = static_cast<std::size_t>(fragment * 2 * fragment_words + lane * 4 + c % 2 * 2 + lower_half);
                result.contents[high] = rounded_to_tf32(value);
                result.contents[high + fragment_words] = rounded_to_tf32(value - result.contents[high]);
            }
    return result;
}

}  // namespace hone::inline v0_1::dg
