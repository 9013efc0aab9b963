#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "foundation/error.hpp"
#include "runtime/backend.hpp"

namespace hone::test {

/// The backend of that name. Null where this machine has none: the running test is then skipped
/// with the reason, and a test's body returns:
///
///     const auto gpu = test::backend_or_skip("cuda", cache);
///     if (!gpu) return;
inline std::unique_ptr<Backend> backend_or_skip(const std::string& name, DiskCache& cache) {
    try {
        return make_backend(name, cache);
    } catch (const Error& error) {
        // GTEST_SKIP returns from the function that it stands in.
        [&] { GTEST_SKIP() << error.what(); }();
        return nullptr;
    }
}

/// A fixture, and a GPU beside: tests that compare with what the fixture does on the processor.
template <typename Fixture>
class OnGpu : public Fixture {
  protected:
    void SetUp() override {
        Fixture::SetUp();
        if (!this->IsSkipped()) gpu_ = backend_or_skip("cuda", this->cache_);
    }

    std::unique_ptr<Backend> gpu_;
};

}  // namespace hone::test
