// The family that other tests are made of must itself do what it says.
#include "tests/support/axpy_family.hpp"

#include <gtest/gtest.h>

#include <random>

#include "foundation/error.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"
#include "tests/support/verify.hpp"

namespace hone::axpy_family_test {
namespace {

class AxpyFamily : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!backend_->compiler().missing().empty()) GTEST_SKIP() << backend_->compiler().missing();
    }

    // Some of each tunable on fresh data, whole and in part; the one with wrong values must show.
    void check(const Family& family, const std::string& text) {
        const Problem problem = Families({family}).parse_problem(text);
        const SearchSpace space = family.space(problem, backend_->device().limits);
        const std::int64_t n = problem.integer("n");
        for (const char* choice : {"", "unroll=4,block=128,storage=table", "unroll=2,block=256,storage=prepared", "fault=wrong"}) {
            const Config config = space.parse(choice);
            const bool wrong = config.word("fault") == "wrong";
            const auto whole = test::verify(*backend_, family, problem, config, seed_);
            EXPECT_EQ(whole.passed(), !wrong) << whole.what << " error " << whole.error;
            const auto part = test::verify(*backend_, family, problem, config, seed_, n / 3, n);
            EXPECT_EQ(part.passed(), !wrong) << part.what << " error " << part.error;
        }
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_backend("cpu", cache_);
    std::uint64_t seed_ = std::random_device{}();
};

TEST_F(AxpyFamily, IsRightOnTheCpuWhereNothingIsFaulty) {
    for (const char* text : {"axpy precision=f32 n=1", "axpy precision=f32 n=777", "axpy precision=f64 n=512"})
        check(test::axpy_family({"none", "wrong"}), text);
}

TEST_F(AxpyFamily, IsRightAsCudaWhereNothingIsFaulty) {
    check(test::emulated(test::axpy_family({"none", "wrong"}), cuda_limits(90)), "axpy precision=f64 n=777");
}

TEST_F(AxpyFamily, CompilesForAGpu) {
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Limits limits = cuda_limits(90);
    const Family family = test::axpy_family({"none", "wrong", "crash", "hang", "launch_failure", "compile_failure"});
    const Problem problem = Families({family}).parse_problem("axpy n=100");
    const SearchSpace space = family.space(problem, limits);
    for (const char* choice :
         {"", "unroll=4,storage=table", "unroll=2,storage=prepared", "fault=wrong", "fault=crash", "fault=hang", "fault=launch_failure"}) {
        const CompileOutcome outcome = nvrtc->compile(family.kernel(problem, space.parse(choice), limits));
        EXPECT_TRUE(outcome.ok) << choice << ": " << outcome.failure << outcome.code.log;
    }
    const CompileOutcome outcome = nvrtc->compile(family.kernel(problem, space.parse("fault=compile_failure"), limits));
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.failure.find("this candidate does not compile"), std::string::npos) << outcome.failure;
}

}  // namespace
}  // namespace hone::axpy_family_test
