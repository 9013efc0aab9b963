#include "generator/families/batched_gemm/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "foundation/caught.hpp"
#include "foundation/random_words.hpp"
#include "generator/families/batched_gemm/shape.hpp"

namespace hone::inline v0_1::gemm {
namespace {

// What one product works on.
template <typename Real>
struct Operands {
    const Real* a;
    const Real* b;
    Real* c;
    double alpha = 1;
    double beta = 0;
};

template <typename Real>
Operands<Real> operands(const Shape& shape, std::span<void* const> arrays, std::int64_t i) {
    Operands<Real> result{static_cast<const Real*>(arrays[0]) + i * shape.stride_a(), static_cast<const Real*>(arrays[1]) + i * shape.stride_b(),
                          static_cast<Real*>(arrays[2]) + i * shape.stride_c()};
    if (shape.scaled) {
        result.alpha = static_cast<double>(static_cast<const Real*>(arrays[3])[0]);
        result.beta = static_cast<double>(static_cast<const Real*>(arrays[3])[1]);
    }
    return result;
}

// Column `column` of op(A) op(B) into `sum`; with `weigh` = |.| the sums of absolute values that
// bound rounding errors.
template <typename Real, typename Weigh>
void product_column(const Shape& shape, const Operands<Real>& of, int column, std::vector<double>& sum, Weigh weigh) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (int l = 0; l < shape.k; ++l) {
        const auto factor = static_cast<double>(of.b[l * shape.b_inner() + column * shape.b_column()]);
        for (int row = 0; row < shape.m; ++row)
            sum[static_cast<std::size_t>(row)] += weigh(factor * static_cast<double>(of.a[row * shape.a_row() + l * shape.a_inner()]));
    }
}

// Starting threads takes as long as some ten thousand operations.
bool worth_threads(const Shape& shape, std::int64_t products) {
    return static_cast<double>(products) * shape.m * shape.n * shape.k > 1e5;
}

template <typename Real>
void run(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    Caught caught;
#pragma omp parallel for schedule(static) if (worth_threads(shape, last - first))
    for (std::int64_t i = first; i < last; ++i) {
        caught.from([&] {
            const Operands<Real> of = operands<Real>(shape, arrays, i);
            std::vector<double> sum(static_cast<std::size_t>(shape.m));
            for (int column = 0; column < shape.n; ++column) {
                product_column(shape, of, column, sum, [](double value) { return value; });
                Real* const to = of.c + std::int64_t{column} * shape.m;
                for (int row = 0; row < shape.m; ++row) {
                    const double kept = of.beta == 0 ? 0 : of.beta * static_cast<double>(to[row]);
                    to[row] = static_cast<Real>(of.alpha * sum[static_cast<std::size_t>(row)] + kept);
                }
            }
        });
    }
    caught.rethrow();
}

// Largest |alpha| |A| |B| + |beta| |C| over matrices [0, count), before the step.
template <typename Real>
double largest_magnitude(const Shape& shape, std::span<void* const> arrays, std::int64_t count) {
    double largest = 0;
    Caught caught;
#pragma omp parallel for schedule(static) reduction(max : largest) if (worth_threads(shape, count))
    for (std::int64_t i = 0; i < count; ++i) {
        caught.from([&] {
            const Operands<Real> of = operands<Real>(shape, arrays, i);
            std::vector<double> sum(static_cast<std::size_t>(shape.m));
            for (int column = 0; column < shape.n; ++column) {
                product_column(shape, of, column, sum, [](double value) { return std::abs(value); });
                largest = std::max(largest, std::abs(of.alpha) * *std::max_element(sum.begin(), sum.end()) + std::abs(of.beta));  // |C| is at most 1
            }
        });
    }
    caught.rethrow();
    return largest;
}

// A prime such that the reference's answer of that many products takes a few tenths of a second at
// most.
std::int64_t data_sets(const Shape& shape) {
    const double operations = 2.0 * shape.m * shape.n * shape.k;
    for (const std::int64_t prime : {509, 127, 31, 7})
        if (static_cast<double>(prime) * operations < 2e8) return std::min(prime, shape.batch);
    return std::min<std::int64_t>(3, shape.batch);
}

// `words` of every matrix at a distance of `stride`: random, or NaN where `seed` is 0; the gaps are
// NaN.
template <typename Real>
HostArray batch_of(const Shape& shape, std::int64_t words, std::int64_t stride, std::int64_t count, std::uint64_t seed) {
    HostArray array(shape.precision, stride * count);
    Real* const data = array.values<Real>().data();
    const std::int64_t period = std::min(data_sets(shape), count);
#pragma omp parallel for schedule(static) if (worth_threads(shape, count))
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t word = 0; word < stride; ++word)
            data[i * stride + word] =
                seed != 0 && word < words ? static_cast<Real>(random_word(seed, i % period * words + word)) : std::numeric_limits<Real>::quiet_NaN();
    return array;
}

template <typename Real>
void repeat(const Shape& shape, HostArray& array, std::int64_t stride, std::int64_t period) {
    Real* const data = array.values<Real>().data();
#pragma omp parallel for schedule(static) if (worth_threads(shape, shape.batch))
    for (std::int64_t i = period; i < shape.batch; ++i)
        std::memcpy(data + i * stride, data + i % period * stride, static_cast<std::size_t>(stride) * sizeof(Real));
}

template <typename Real>
Workload make(const Shape& shape, std::uint64_t seed) {
    const std::int64_t a_words = std::int64_t{shape.m} * shape.k;
    const std::int64_t b_words = std::int64_t{shape.k} * shape.n;
    const std::int64_t c_words = std::int64_t{shape.m} * shape.n;
    Workload result;
    result.arrays.push_back(batch_of<Real>(shape, a_words, shape.stride_a(), shape.batch, mixed(seed) | 1));
    result.arrays.push_back(shape.shared_b ? batch_of<Real>(shape, b_words, b_words, 1, mixed(seed + 1) | 1)
                                           : batch_of<Real>(shape, b_words, shape.stride_b(), shape.batch, mixed(seed + 1) | 1));
    result.arrays.push_back(batch_of<Real>(shape, c_words, shape.stride_c(), shape.batch, shape.scaled ? mixed(seed + 2) | 1 : 0));
    if (shape.scaled) {
        result.arrays.emplace_back(shape.precision, 2);
        for (std::size_t i = 0; i < 2; ++i)
            result.arrays[3].values<Real>()[i] = static_cast<Real>(random_word(mixed(seed + 3), static_cast<std::int64_t>(i)));
    }
    result.expected.resize(result.arrays.size());
    result.expected[2] = result.arrays[2].copy();
    std::vector<void*> arrays;
    for (HostArray& array : result.arrays) arrays.push_back(array.data());
    const std::int64_t period = data_sets(shape);
    const double largest = largest_magnitude<Real>(shape, arrays, period);
    arrays[2] = result.expected[2].data();
    run<Real>(shape, arrays, 0, period);
    repeat<Real>(shape, result.expected[2], shape.stride_c(), period);
    // |computed - exact| <= n u (|alpha| |A| |B| + |beta| |C|) with n roundings on the longest
    // path, for kernel and reference each: Higham, Accuracy and Stability of Numerical Algorithms,
    // 2002, section 3.5.
    const double n = 2.0 * (shape.k + 3);
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = n * roundoff * largest;
    result.tolerance_reason =
        fmt::format("n u S with n = {} roundings, u = {:.3g}, S = {:.4g} the largest |alpha| |A| |B| + |beta| |C|", n, roundoff, largest);
    return result;
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    problem.precision() == Precision::f32 ? run<float>(shape, arrays, first, last) : run<double>(shape, arrays, first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    return problem.precision() == Precision::f32 ? make<float>(shape, seed) : make<double>(shape, seed);
}

}  // namespace hone::inline v0_1::gemm
