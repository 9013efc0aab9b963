#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"

namespace hone::test {

/// The result of one step of a kernel on fresh random data.
struct Verification {
    double error = 0;  ///< largest |computed - reference|; infinity where a word was not written or an untouchable one was
    double tolerance = 0;
    std::string what;  ///< problem, configuration and seed, for a failing test's message

    bool passed() const { return error <= tolerance; }
};

/// Runs one time step of `config` on `backend` from the family's own random workload, outputs
/// poisoned, and compares every array with the reference. With 0 <= first < last only that range is
/// stepped, and the reference steps the same range.
Verification verify(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed, std::int64_t first = 0,
                    std::int64_t last = -1);

/// Expects one step over everything, and one over a range that begins and ends anywhere, to be
/// verified.
void expect_verified(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::mt19937_64& random);

/// Verifies a kernel that the test names, rather than draws: nothing to do if tests/verified.txt
/// knows it (tests/support/verified.hpp).
void expect_verified_once(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::mt19937_64& random);

/// The safe configuration and `count` random members of the problem's space on `backend`'s device.
std::vector<Config> sample_members(const Backend& backend, const Family& family, const Problem& problem, int count, std::uint64_t seed);

}  // namespace hone::test
