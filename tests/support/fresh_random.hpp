#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

namespace hone::test {

/// Random numbers of a seed that is another one in every run. What fails while this lives says the
/// seed, and where it was drawn:
///
///     test::FreshRandom random;
///     const int ranks = std::uniform_int_distribution(1, 5)(random);
///
/// To have a failure again, give the engine its seed there: `random.seed(N)`.
class FreshRandom : public std::mt19937_64 {
  public:
    explicit FreshRandom(const char* file = __builtin_FILE(), int line = __builtin_LINE()) : FreshRandom(std::random_device{}(), file, line) {}

  private:
    FreshRandom(std::uint64_t seed, const char* file, int line) : std::mt19937_64(seed), trace_(file, line, "seed " + std::to_string(seed)) {}

    ::testing::ScopedTrace trace_;
};

}  // namespace hone::test
