#include "generator/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "foundation/error.hpp"
#include "foundation/host_memory.hpp"

namespace hone::inline v0_1 {
namespace {

// Most arrays are those that a kernel only reads: whether all words have the same bits is all that
// is asked of them.
template <typename Real>
bool same_words(std::span<const Real> a, std::span<const Real> b) {
    return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

double difference_of_piece(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(std::int64_t{a[i]} - std::int64_t{b[i]}));
    return static_cast<double>(largest);
}

template <typename Real>
double difference_of_piece(std::span<const Real> a, std::span<const Real> b) {
    if (same_words(a, b)) return 0;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, value_difference(static_cast<double>(a[i]), static_cast<double>(b[i])));
    return largest;
}

template <typename Value>
double difference_of_all(std::span<const Value> a, std::span<const Value> b) {
    constexpr std::int64_t piece = 1 << 13;  // words: of both arrays they stay in the nearest caches
    const auto count = static_cast<std::int64_t>(a.size());
    double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest) if (count > piece)
    for (std::int64_t first = 0; first < count; first += piece) {
        const auto begin = static_cast<std::size_t>(first);
        const auto words = static_cast<std::size_t>(std::min(piece, count - first));
        largest = std::max(largest, difference_of_piece(a.subspan(begin, words), b.subspan(begin, words)));
    }
    return largest;
}

// One core touches some GB/s of fresh memory, all of them many times that.
template <typename Function>
void in_pieces(std::int64_t bytes, const Function& function) {
    constexpr std::int64_t piece = 1 << 20;
#pragma omp parallel for schedule(static) if (bytes > 4 * piece)
    for (std::int64_t first = 0; first < bytes; first += piece) function(first, static_cast<std::size_t>(std::min(piece, bytes - first)));
}

}  // namespace

HostArray::HostArray(Precision precision, std::int64_t words) : precision_(precision), words_(words) {
    if (words != 0) storage_.reset(allocate_host_memory(bytes(), "host array"));
}

HostArray HostArray::copy() const {
    HostArray result(precision_, words_);
    in_pieces(bytes(), [&](std::int64_t first, std::size_t count) {
        std::memcpy(static_cast<std::byte*>(result.data()) + first, static_cast<const std::byte*>(data()) + first, count);
    });
    return result;
}

void HostArray::poison(ValueType type) {
    in_pieces(bytes(),
              [&](std::int64_t first, std::size_t count) { std::memset(static_cast<std::byte*>(data()) + first, poison_byte(type), count); });
}

void HostArray::Free::operator()(void* pointer) const {
    release_host_memory(pointer);
}

double largest_difference(const HostArray& a, const HostArray& b) {
    if (a.precision() != b.precision() || a.words() != b.words())
        throw Error("comparison", fmt::format("{} and {} words or other precisions", a.words(), b.words()), "compare arrays of one shape");
    return largest_difference(a.data(), b.data(), a.words(), a.precision());
}

double largest_difference(const ArraySpec& array, const HostArray& a, const HostArray& b) {
    if (a.precision() != b.precision() || a.words() != array.words || b.words() != array.words)
        throw Error("comparison of " + array.name, fmt::format("{} and {} words of {}, or other precisions", a.words(), b.words(), array.words),
                    "compare arrays of this shape");
    return largest_difference(a.data(), b.data(), value_count(array, a.precision()), value_type_of(array, a.precision()));
}

double largest_difference(const void* a, const void* b, std::int64_t count, ValueType type) {
    const auto as = [count](const void* data, auto zero) {
        return std::span(static_cast<const decltype(zero)*>(data), static_cast<std::size_t>(count));
    };
    switch (type) {
        case ValueType::f32:
            return difference_of_all(as(a, 0.0F), as(b, 0.0F));
        case ValueType::f64:
            return difference_of_all(as(a, 0.0), as(b, 0.0));
        case ValueType::i32:
            break;
    }
    return difference_of_all(as(a, std::int32_t{0}), as(b, std::int32_t{0}));
}

void repeat(HostArray& array, std::int64_t words, std::int64_t period) {
    const std::int64_t bytes = words * bytes_per_word(array.precision());
    auto* const data = static_cast<char*>(array.data());
    const std::int64_t units = array.words() / words;
#pragma omp parallel for schedule(static)
    for (std::int64_t k = period; k < units; ++k) std::memcpy(data + k * bytes, data + (k % period) * bytes, static_cast<std::size_t>(bytes));
}

double weighed_difference(double difference, double tolerance, const std::vector<double>& tolerances, std::size_t array) {
    if (tolerances.empty() || difference == 0) return difference;
    return tolerances[array] > 0 ? difference * (tolerance / tolerances[array]) : std::numeric_limits<double>::infinity();
}

double rounding_steps(double n) {
    return std::min(n, 8 * std::sqrt(n));
}

}  // namespace hone::inline v0_1
