#include "tests/support/verified.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "foundation/error.hpp"
#include "foundation/temporary_folder.hpp"
#include "generator/families.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/environment.hpp"

namespace hone::verified_test {
namespace {

class VerifiedKernels : public ::testing::Test {
  protected:
    // Whether the verification was run, by a program that starts now.
    bool verified(const std::string& problem, const std::string& config, const std::string& property = "equals the reference", bool passes = true) {
        const Family& family = *families_.begin();
        const Problem parsed = families_.parse_problem("axpy " + problem);
        const Config member = family.space(parsed, cpu_limits()).parse(config);
        bool run = false;
        test::VerifiedKernels kernels(file_);
        kernels.verify_once(cpu_limits(), property, {{family, parsed, member}}, [&] {
            run = true;
            if (!passes) ADD_FAILURE() << "on purpose";
        });
        EXPECT_EQ(kernels.known(), run ? 0 : 1);
        EXPECT_EQ(kernels.run(), run ? 1 : 0);
        return run;
    }

    std::string contents() const {
        std::ifstream stream(file_);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryFolder folder_;
    std::filesystem::path file_ = folder_.path() / "verified.txt";
    test::EnvironmentVariable record_{"HONE_TEST_RECORD", file_.string()};
    test::EnvironmentVariable everything_{"HONE_TEST_EVERYTHING", {}};
    Families families_{{test::axpy_family({"none", "wrong"})}};
};

TEST_F(VerifiedKernels, AreVerifiedOnceAsTheyAre) {
    EXPECT_TRUE(verified("precision=f32 n=10", ""));
    EXPECT_FALSE(verified("precision=f32 n=10", ""));
    EXPECT_TRUE(verified("precision=f64 n=10", "")) << "another problem";
    EXPECT_TRUE(verified("precision=f32 n=11", "")) << "the same text, another plan";
    EXPECT_TRUE(verified("precision=f32 n=10", "unroll=4")) << "another configuration";
    EXPECT_TRUE(verified("precision=f32 n=10", "", "is refused")) << "another property";
    EXPECT_FALSE(verified("precision=f64 n=10", ""));
    EXPECT_EQ(contents().substr(0, 5), "axpy ");
}

TEST_F(VerifiedKernels, AreVerifiedAgainWhereEverythingIs) {
    EXPECT_TRUE(verified("precision=f32 n=10", ""));
    const test::EnvironmentVariable everything("HONE_TEST_EVERYTHING", "1");
    EXPECT_TRUE(verified("precision=f32 n=10", ""));
}

// What is known is recorded again: so what nobody asks for any more goes with the next record.
TEST_F(VerifiedKernels, AreRecordedWhenTheyAreKnown) {
    EXPECT_TRUE(verified("precision=f32 n=10", ""));
    const std::string once = contents();
    EXPECT_FALSE(verified("precision=f32 n=10", ""));
    EXPECT_EQ(contents(), once + once);
}

using SlowVerifiedKernels = VerifiedKernels;

TEST_F(SlowVerifiedKernels, AreVerifiedInAnyCase) {
    for (int i = 0; i < 2; ++i) {
        const Family& family = *families_.begin();
        const Problem problem = families_.parse_problem("axpy n=10");
        int runs = 0;
        test::VerifiedKernels(file_).verify_once(cpu_limits(), "equals the reference",
                                                 {{family, problem, family.space(problem, cpu_limits()).safe()}}, [&] { ++runs; });
        EXPECT_EQ(runs, 1);
    }
    EXPECT_EQ(contents(), "");
}

using VerifiedKernelsDeathTest = VerifiedKernels;

// In a process of its own, whose failures are not this test's.
TEST_F(VerifiedKernelsDeathTest, AreNotRecordedWhenTheyFail) {
    const auto fail = [&] {
        verified("precision=f32 n=10", "", "equals the reference", false);
        std::_Exit(contents().empty() ? 0 : 1);
    };
    EXPECT_EXIT(fail(), ::testing::ExitedWithCode(0), "");
    EXPECT_TRUE(verified("precision=f32 n=10", ""));
}

}  // namespace
}  // namespace hone::verified_test
