#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hone::inline v0_1 {

/// Random words for a large array: they repeat with a prime period, so that the array is filled at
/// the rate of copying.
///
/// An access that goes wrong by less than the period, or by any number of rows or planes (whose
/// lengths are no multiples of that prime), meets another word, so what a kernel does with it shows
/// as it would on words that never repeat. An array that is shorter than the period has no word
/// twice.
///
///     const RepeatedWords<float> words(array.words(), [&](std::int64_t word) { return random_word(seed, word); });
///     words.copy(first, count, values + first);
template <typename Real>
class RepeatedWords {
  public:
    /// The largest prime below 2^18: a megabyte of f32, which stays in a core's cache while large
    /// arrays are filled from it.
    static constexpr std::int64_t period = 262139;

    /// For an array of `words`; `make(word)` is its word of that number, a double.
    template <typename Make>
    RepeatedWords(std::int64_t words, const Make& make) : words_(static_cast<std::size_t>(std::min(words, period))) {
        constexpr std::int64_t worth_sharing = 20000;  // words: fewer are made before the threads have begun
        const auto count = static_cast<std::int64_t>(words_.size());
#pragma omp parallel for schedule(static) if (count > worth_sharing)
        for (std::int64_t word = 0; word < count; ++word) words_[static_cast<std::size_t>(word)] = static_cast<Real>(make(word));
    }

    /// The array's words [first, first + count).
    void copy(std::int64_t first, std::int64_t count, Real* to) const {
        for (std::int64_t from = first % period; count > 0; from = 0) {
            const std::int64_t part = std::min(count, period - from);
            to = std::copy_n(words_.data() + from, part, to);
            count -= part;
        }
    }

  private:
    std::vector<Real> words_;
};

}  // namespace hone::inline v0_1
