#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "foundation/random_words.hpp"
#include "foundation/repeated_words.hpp"
#include "generator/families/csr_spmv/shape.hpp"

// The plain double loop, in a precision in which its own roundings do not show, and random matrices
// for it. Shares the layout with the generator, and nothing else.

namespace hone::inline v0_1::spmv {
namespace {

template <typename Real>
struct Data {
    explicit Data(std::span<void* const> arrays)
        : values(static_cast<const Real*>(arrays[0])),
          columns(static_cast<const int*>(arrays[1])),
          starts(static_cast<const int*>(arrays[2])),
          x(static_cast<const Real*>(arrays[3])),
          y(static_cast<Real*>(arrays[4])) {}

    const Real* values;
    const int* columns;
    const int* starts;
    const Real* x;
    Real* y;
};

template <typename Real>
long double row_times(const Shape& shape, const Data<Real>& data, std::int64_t row, int component) {
    long double sum = 0;
    for (int entry = data.starts[row]; entry < data.starts[row + 1]; ++entry)
        sum += static_cast<long double>(data.values[entry]) *
               static_cast<long double>(data.x[shape.place(data.columns[entry], component, shape.columns)]);
    return sum;
}

template <typename Real>
void multiply(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t rows_per_sum = 4096;  // added up in order, so that no digit depends on the number of threads
    const Data<Real> data(arrays);
    for (int component = 0; component < shape.components; ++component) {
        std::vector<long double> sums(static_cast<std::size_t>((last - first + rows_per_sum - 1) / rows_per_sum), 0);
#pragma omp parallel for schedule(static)
        for (std::int64_t begin = first; begin < last; begin += rows_per_sum) {
            long double sum = 0;
            for (std::int64_t row = begin; row < std::min(begin + rows_per_sum, last); ++row) {
                const long double product = row_times(shape, data, row, component);
                data.y[shape.place(row, component, shape.rows)] = static_cast<Real>(product);
                if (shape.dotted) sum += product * static_cast<long double>(data.x[shape.place(row, component, shape.columns)]);
            }
            sums[static_cast<std::size_t>((begin - first) / rows_per_sum)] = sum;
        }
        const long double dot = std::accumulate(sums.begin(), sums.end(), static_cast<long double>(0));
        if (shape.dotted) static_cast<Real*>(arrays[5])[component] = static_cast<Real>(dot / static_cast<long double>(shape.rows));
    }
}

// Lengths that differ by up to a factor of three from row to row, with a few empty rows, as many
// entries in all as the problem says.
std::vector<std::int64_t> row_lengths(const Shape& shape, std::uint64_t seed) {
    constexpr std::uint64_t one_in = 61;
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(shape.rows), shape.entries / shape.rows);
    for (std::size_t row = 0; row < static_cast<std::size_t>(shape.entries % shape.rows); ++row) ++lengths[row];
#pragma omp parallel for schedule(static)
    for (std::size_t row = 0; row < lengths.size() / 2 * 2; row += 2) {
        const std::uint64_t draw = mixed(seed + row);
        std::int64_t& giver = lengths[row + draw % 2];
        std::int64_t& taker = lengths[row + 1 - draw % 2];
        const std::int64_t most = draw / 2 % one_in == 0 ? giver : giver / 2;
        const std::int64_t given = std::min(
            draw / 2 % one_in == 0 ? most : static_cast<std::int64_t>(mixed(draw) % static_cast<std::uint64_t>(most + 1)), shape.columns - taker);
        giver -= given, taker += given;
    }
    return lengths;
}

// Columns as a mesh has them: those of the neighbours in a box around the row's own node, a few
// nodes beside it.
void fill_pattern(const Shape& shape, std::uint64_t seed, int* columns, int* starts) {
    const std::vector<std::int64_t> lengths = row_lengths(shape, seed);
    starts[0] = 0;
    for (std::size_t row = 0; row < lengths.size(); ++row) starts[row + 1] = starts[row] + static_cast<int>(lengths[row]);
    const auto side = static_cast<std::int64_t>(std::cbrt(static_cast<double>(shape.columns)));
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int64_t length = lengths[static_cast<std::size_t>(row)];
        const auto run = static_cast<std::int64_t>(std::ceil(std::cbrt(static_cast<double>(length))));
        const std::int64_t centre = row * shape.columns / shape.rows + static_cast<std::int64_t>(mixed(seed - static_cast<std::uint64_t>(row)) % 5);
        const bool contiguous = side < run || side * side * run > shape.columns;
        const auto wrapped = [&](std::int64_t offset) {
            std::int64_t column = centre + offset;
            while (column >= shape.columns) column -= shape.columns;
            return static_cast<int>(column);
        };
        int* const of_row = columns + starts[row];
        std::int64_t j = 0;
        for (; contiguous && j < length; ++j) of_row[j] = wrapped(j);
        for (std::int64_t plane = 0; j < length; ++plane)
            for (std::int64_t line = 0; line < run && j < length; ++line)
                for (std::int64_t i = 0; i < run && j < length; ++i, ++j) of_row[j] = wrapped(i + (line + plane * side) * side);
    }
}

template <typename Real>
void fill_words(HostArray& array, std::uint64_t seed) {
    constexpr std::int64_t piece = 1 << 16;
    const RepeatedWords<Real> words(array.words(), [&](std::int64_t word) { return random_word(seed, word); });
    Real* const values = array.values<Real>().data();
#pragma omp parallel for schedule(static)
    for (std::int64_t first = 0; first < array.words(); first += piece) words.copy(first, std::min(piece, array.words() - first), values + first);
}

// The largest sum over a row of the words' magnitudes, and the longest row.
template <typename Real>
std::pair<double, std::int64_t> largest_row(const Shape& shape, const Data<Real>& data) {
    double largest = 0;
    std::int64_t longest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest, longest)
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        double sum = 0;
        for (int entry = data.starts[row]; entry < data.starts[row + 1]; ++entry) sum += std::abs(static_cast<double>(data.values[entry]));
        largest = std::max(largest, sum);
        longest = std::max<std::int64_t>(longest, data.starts[row + 1] - data.starts[row]);
    }
    return {largest, longest};
}

template <typename Real>
Workload workload_of(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    const std::vector<ArraySpec> specs = arrays(problem);
    Workload result;
    for (const ArraySpec& spec : specs) result.arrays.emplace_back(shape.precision, spec.words);
    // Their last word may have an integer more than there are.
    for (const std::size_t number : {1U, 2U})
        if (const auto words = result.arrays[number].values<Real>(); !words.empty()) words.back() = 0;
    fill_pattern(shape, mixed(seed), static_cast<int*>(result.arrays[1].data()), static_cast<int*>(result.arrays[2].data()));
    fill_words<Real>(result.arrays[0], mixed(seed + 1));
    fill_words<Real>(result.arrays[3], mixed(seed + 2));
    result.expected.resize(specs.size());
    std::vector<void*> pointers;
    for (std::size_t n = 0; n < specs.size(); ++n) {
        const bool out = specs[n].access == Access::out;
        if (out) {
            result.arrays[n].poison();
            result.expected[n] = result.arrays[n].copy();
        }
        pointers.push_back(out ? result.expected[n].data() : result.arrays[n].data());
    }
    reference(problem, pointers, 0, shape.rows);
    // A partial sum takes a rounding for each of its entries, joining them takes five more; a
    // product with x, pairs of a chunk, the last rounding and the reference's own take eight. |x|
    // is at most 1, so that a row's magnitudes sum up to S, and the mean of rows' products to no
    // more.
    const auto [largest, longest] = largest_row(shape, Data<Real>(pointers));
    const std::int64_t roundings = (longest + partial_sums - 1) / partial_sums + 13;
    const double unit = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = static_cast<double>(roundings) * unit * largest;
    result.tolerance_reason = fmt::format("{} roundings of u = {:.3g} each, of sums up to S = {:.4g}", roundings, unit, largest);
    return result;
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    shape.precision == Precision::f32 ? multiply<float>(shape, arrays, first, last) : multiply<double>(shape, arrays, first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? workload_of<float>(problem, seed) : workload_of<double>(problem, seed);
}

}  // namespace hone::inline v0_1::spmv
