#include "tests/support/verify.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/library.hpp"
#include "tests/support/verified.hpp"

namespace hone::test {
namespace {

// Where a range is stepped, the workload's expectation (of a whole step) does not hold: the
// reference steps that range from the same start.
void expect_range(const Family& family, const Problem& problem, Workload& workload, std::int64_t first, std::int64_t last) {
    std::vector<HostArray> stepped;
    std::vector<void*> pointers;
    for (const auto& array : workload.arrays) {
        stepped.push_back(array.copy());
        pointers.push_back(stepped.back().data());
    }
    family.reference(problem, pointers, first, last);
    for (std::size_t i = 0; i < stepped.size(); ++i)
        if (workload.expected[i].words() != 0) workload.expected[i] = std::move(stepped[i]);
}

}  // namespace

Verification verify(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed, std::int64_t first,
                    std::int64_t last) {
    Workload workload = family.workload(problem, seed);
    const bool whole = last < 0;
    if (whole) last = family.range(problem);
    if (!whole) expect_range(family, problem, workload, first, last);

    Match match;
    match.config = config;
    const auto kernel = std::make_shared<const Kernel>(backend, family, problem, match, backend.device().limits);
    std::vector<DeviceArray> arrays;
    std::vector<void*> pointers;
    for (const auto& array : workload.arrays) {
        arrays.emplace_back(backend, array.bytes());
        backend.copy(arrays.back().data(), array.data(), array.bytes());
        pointers.push_back(arrays.back().data());
    }
    const BoundKernel bound(kernel, pointers);
    bound.launch(first, last);
    backend.synchronise();

    Verification result;
    result.tolerance = workload.tolerance;
    result.what = fmt::format("{} --config {} seed {} range [{}, {})", problem.key(), config.key(), seed, first, last);
    const std::vector<ArraySpec> specs = family.arrays(problem);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        HostArray computed(workload.arrays[i].precision(), workload.arrays[i].words());
        backend.copy(computed.data(), arrays[i].data(), computed.bytes());
        backend.synchronise();
        // An input must come back as it was.
        const HostArray& expected = workload.expected[i].words() != 0 ? workload.expected[i] : workload.arrays[i];
        result.error =
            std::max(result.error, weighed_difference(largest_difference(specs[i], computed, expected), workload.tolerance, workload.tolerances, i));
    }
    return result;
}

void expect_verified(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::mt19937_64& random) {
    const std::uint64_t seed = random();
    const Verification whole = verify(backend, family, problem, config, seed);
    EXPECT_TRUE(whole.passed()) << whole.what << ": error " << whole.error << ", allowed " << whole.tolerance;
    const std::int64_t units = family.range(problem);
    const auto below = [&](std::int64_t count) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count)); };
    const std::int64_t first = below(units), last = first + 1 + below(units - first);
    const Verification part = verify(backend, family, problem, config, seed, first, last);
    EXPECT_TRUE(part.passed()) << part.what << ": error " << part.error << ", allowed " << part.tolerance;
}

void expect_verified_once(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::mt19937_64& random) {
    verify_once(backend.device().limits, "equals the reference", {{family, problem, config}},
                [&] { expect_verified(backend, family, problem, config, random); });
}

std::vector<Config> sample_members(const Backend& backend, const Family& family, const Problem& problem, int count, std::uint64_t seed) {
    const SearchSpace space = family.space(problem, backend.device().limits);
    std::vector<Config> configs{space.safe()};
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::int64_t> index(0, space.product() - 1);
    // Members may be a small part of the product; give up on a space that has next to none.
    for (int attempt = 0; attempt < 1000 * count && std::ssize(configs) <= count; ++attempt) {
        Config config = space.at(index(random));
        if (!space.check(config)) configs.push_back(std::move(config));
    }
    return configs;
}

}  // namespace hone::test
