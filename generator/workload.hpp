#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foundation/value.hpp"
#include "generator/kernel_source.hpp"

namespace hone::inline v0_1 {

/// A host array of f32 or f64 values, aligned to 64 bytes, uninitialised at first.
class HostArray {
  public:
    HostArray() = default;
    /// Throws Error with the size asked for when there is no memory.
    HostArray(Precision precision, std::int64_t words);

    Precision precision() const { return precision_; }
    std::int64_t words() const { return words_; }
    std::int64_t bytes() const { return words_ * bytes_per_word(precision_); }
    void* data() { return storage_.get(); }
    const void* data() const { return storage_.get(); }

    /// The values. Requires `Real` to be the array's precision.
    template <typename Real>
    std::span<Real> values() {
        return {static_cast<Real*>(data()), static_cast<std::size_t>(words_)};
    }
    template <typename Real>
    std::span<const Real> values() const {
        return {static_cast<const Real*>(data()), static_cast<std::size_t>(words_)};
    }

    /// One value, in double precision whatever the array's is.
    double word(std::int64_t at) const {
        const auto position = static_cast<std::size_t>(at);
        return precision_ == Precision::f32 ? static_cast<double>(values<float>()[position]) : values<double>()[position];
    }
    /// Sets one value, rounded to the array's precision.
    void set_word(std::int64_t at, double value) {
        const auto position = static_cast<std::size_t>(at);
        if (precision_ == Precision::f32)
            values<float>()[position] = static_cast<float>(value);
        else
            values<double>()[position] = value;
    }

    HostArray copy() const;
    /// Sets every byte to poison_byte, so that a kernel that uses or forgets a value shows it: NaN,
    /// where they are no integers.
    void poison(ValueType type = ValueType::f64);

  private:
    struct Free {
        void operator()(void* pointer) const;
    };
    Precision precision_ = Precision::f32;
    std::int64_t words_ = 0;
    std::unique_ptr<void, Free> storage_;
};

/// The byte that fills an array of such values before a step that has to write it: the values are
/// NaN, or integers -2139062144, which no result is meant to be (-1 may be one).
constexpr unsigned char poison_byte(ValueType type) {
    return type == ValueType::i32 ? 0x80 : 0xff;
}

/// Real data for a problem: what one time step starts from and what it must end with.
///
/// Words that the step must not touch (boundary, padding) are part of the comparison; padding holds
/// NaN, so that a kernel that reads it shows it.
struct Workload {
    std::vector<HostArray> arrays;    ///< one per ArraySpec, in order; `out` arrays hold NaN
    std::vector<HostArray> expected;  ///< one per ArraySpec: after one step by the reference; empty (0 words) for `in` arrays
    double tolerance = 0;             ///< largest |computed - expected| allowed; follows from the arithmetic
    std::vector<double> tolerances;   ///< one per ArraySpec, where arrays differ in it, the largest of which is `tolerance`; else empty
    std::string tolerance_reason;     ///< the derivation, in one line
};

/// A difference that was found in an array, as a part of what is allowed there, times `tolerance`:
/// so one number says of all arrays how far they are off.
double weighed_difference(double difference, double tolerance, const std::vector<double>& tolerances, std::size_t array);

/// Fills an array from its first `period` units of `words` each, so that a reference need compute
/// no more than these.
void repeat(HostArray& array, std::int64_t words, std::int64_t period);

/// How n roundings add up, in units of the unit roundoff: 8 sqrt(n) at most, but for a probability
/// of 2 exp(-32) (Higham & Mary, SIAM J. Sci. Comput. 41, 2019), and n at worst.
double rounding_steps(double n);

/// |a - b| of two values. Two NaN are equal (untouched padding; a result that is NaN has to be NaN
/// in every kernel), and so are infinities of one sign. Infinity where exactly one of the two is
/// NaN, or where an infinity meets anything else.
inline double value_difference(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
    const double distance = std::abs(a - b);  // NaN of one NaN
    return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}
/// Largest `difference` over all words.
double largest_difference(const HostArray& a, const HostArray& b);
/// The largest difference of two arrays, whose values have the type that the specification says.
double largest_difference(const ArraySpec& array, const HostArray& a, const HostArray& b);
/// The largest difference of two arrays of `count` values in host memory.
double largest_difference(const void* a, const void* b, std::int64_t count, ValueType type);
inline double largest_difference(const void* a, const void* b, std::int64_t words, Precision precision) {
    return largest_difference(a, b, words, value_type_of(precision));
}

}  // namespace hone::inline v0_1
