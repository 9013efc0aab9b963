#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tests/support/verify.hpp"

namespace hone::test {

/// What tests of a family's compiled kernels have in common: the processor, whose compiler also
/// compiles the emulated CUDA kernels, and random numbers that differ from run to run. Without a
/// compiler the test is skipped with the reason. A suite derives from it.
class KernelTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    int any(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
    /// Of the problem's space on the processor, or of an emulated family's.
    Config any_member(const Family& family, const Problem& problem) { return sample_members(*backend_, family, problem, 1, random_()).back(); }

    void expect_verified(const Family& family, const Problem& problem, const Config& config) { expect_verified(*backend_, family, problem, config); }
    void expect_verified(Backend& backend, const Family& family, const Problem& problem, const Config& config) {
        test::expect_verified(backend, family, problem, config, random_);
    }

    /// `text` leaves out what is as in the safe configuration. It must be a member, or the test
    /// would test nothing.
    static Config member(const SearchSpace& space, const std::string& text) {
        Config config = space.parse(text);
        const auto rejection = space.check(config);
        EXPECT_FALSE(rejection.has_value()) << config.key() << ": " << rejection->reason;
        return rejection ? space.safe() : config;
    }

    DiskCache cache_{kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    test::FreshRandom random_;
};

}  // namespace hone::test
