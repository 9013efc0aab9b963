#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "foundation/error.hpp"
#include "runtime/backend.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {

/// A fixture for tests that are the same on every backend: the parameter is its name. Where there
/// is none of that name, or nothing compiles for it, the test is skipped with the reason.
///
///     class Library : public test::BackendTest {};
///     TEST_P(Library, ...) { backend()... }
///     INSTANTIATE_TEST_SUITE_P(Cpu, Library, testing::Values("cpu"));
///     INSTANTIATE_TEST_SUITE_P(Gpu, Library, testing::Values("cuda"));
class BackendTest : public ::testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        backend_ = backend_or_skip(GetParam(), cache_);
        if (!backend_) return;
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }
    Backend& backend() { return *backend_; }
    const Limits& limits() const { return backend_->device().limits; }

  private:
    TemporaryFolder folder_;
    DiskCache cache_{folder_.path() / "cache"};
    std::unique_ptr<Backend> backend_;
};

}  // namespace hone::test
