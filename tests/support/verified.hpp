#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "generator/family.hpp"

namespace hone::test {

/// A kernel that a test names, rather than draws at random.
struct NamedKernel {
    const Family& family;
    const Problem& problem;
    const Config& config;
};

/// What is known of kernels that tests name: a file with a hash for each verification that passed.
/// A kernel that passed before as it is now need not be compiled and run again.
///
/// The hash is of all that hone makes of the kernels (text, plan of launches, tables, arguments),
/// of their problems, of a word for what is verified, of the code that verifies: the family's
/// reference, data and tolerance, compile options (tests/support/verification_sources.hpp) and the
/// source that asks, and of whether GCC or clang compiles. The compiler's version and the processor
/// are no part of it.
class VerifiedKernels {
  public:
    /// What the file knows; nothing where there is none.
    explicit VerifiedKernels(const std::filesystem::path& file);

    /// Runs `verification` unless the kernels, on a device of these limits, are known to have
    /// passed it. With HONE_TEST_EVERYTHING in the environment, and in suites named Slow or Gpu, it
    /// is run in any case. With HONE_TEST_RECORD=FILE what is known or passes is appended to that
    /// file.
    void verify_once(const Limits& limits, const std::string& property, const std::vector<NamedKernel>& kernels,
                     const std::function<void()>& verification, const char* file = __builtin_FILE());

    int known() const { return known_; }  ///< verifications that were left out
    int run() const { return run_; }      ///< those that were not

  private:
    std::set<std::string> lines_;
    int known_ = 0;
    int run_ = 0;
};

/// The same by tests/verified.txt, so that the quick tests verify what a change changed, and what
/// they draw. A test program says at its end how many verifications it left out; `tools/test
/// optimised` leaves none out, and `tools/test verified` writes the file anew, without what no test
/// asks for any more.
///
///     verify_once(limits, "equals the reference", {{family, problem, config}}, [&] { expect_verified(family, problem, config); });
void verify_once(const Limits& limits, const std::string& property, const std::vector<NamedKernel>& kernels,
                 const std::function<void()>& verification, const char* file = __builtin_FILE());

}  // namespace hone::test
