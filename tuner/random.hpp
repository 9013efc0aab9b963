#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace hone::inline v0_1 {

/// Random numbers that are the same with every standard library: the distributions of <random> are
/// not.
class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    /// Uniform in [0, bound). Requires bound > 0. The bias of the remainder, bound / 2^64, is of no
    /// account here.
    std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
    std::size_t index(std::size_t size) { return static_cast<std::size_t>(below(size)); }
    /// Uniform in [0, 1).
    double real() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

    template <typename T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[index(i)]);
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace hone::inline v0_1
