#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace hone::test {

/// `few` of many, in their order, by a generator whose seed the caller prints (FreshRandom); all of
/// them with HONE_TEST_EVERYTHING in the environment (tools/test optimised). For sweeps whose
/// members are alike, so that a check takes minutes and over many checks leaves none out.
template <typename T, typename Generator>
std::vector<T> drawn(const std::vector<T>& many, std::size_t few, Generator& random) {
    if (std::getenv("HONE_TEST_EVERYTHING") != nullptr) return many;
    std::vector<T> result;
    std::sample(many.begin(), many.end(), std::back_inserter(result), few, random);
    return result;
}

/// How many random inputs a test tries: `few`, and `all` with HONE_TEST_EVERYTHING in the
/// environment.
inline int tries(int all, int few) {
    return std::getenv("HONE_TEST_EVERYTHING") != nullptr ? all : few;
}

}  // namespace hone::test
