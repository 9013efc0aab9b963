// The family of docs/add-a-stencil-family.md, tested as that page says.
#include "examples/heat/heat_7.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tests/support/verify.hpp"

namespace hone::heat_7_test {
namespace {

class Heat7 : public ::testing::Test {
  protected:
    // Random members over the whole range and over a part of it.
    void expect_members_verify(const Family& family, const std::string& text) {
        const Problem problem = families_.parse_problem(text);
        for (const Config& config : test::sample_members(*backend_, family, problem, 3, random_())) {
            const std::int64_t planes = family.range(problem);
            const auto first = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(planes));
            for (const auto& [begin, end] : {std::pair{std::int64_t{0}, std::int64_t{-1}}, std::pair{first, planes}}) {
                const test::Verification result = test::verify(*backend_, family, problem, config, random_(), begin, end);
                EXPECT_TRUE(result.passed()) << result.what << ": error " << result.error << ", allowed " << result.tolerance;
            }
        }
    }

    Families families_{{heat::heat_7()}};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    test::FreshRandom random_;
};

TEST_F(Heat7, ThePlainLoopsDampASineAsTheSchemeDoes) {
    const Problem problem = families_.parse_problem("heat_7 precision=f64 nx=7 ny=5 nz=6");
    std::vector<double> u(9 * 7 * 8, 0.0);
    std::vector<double> next(u);
    double rate = 0.13;
    const auto sine = [](int i, int n) { return std::sin(M_PI * i / (n + 1)); };
    for (int z = 1; z <= 6; ++z)
        for (int y = 1; y <= 5; ++y)
            for (int x = 1; x <= 7; ++x) u[static_cast<std::size_t>((z * 7 + y) * 9 + x)] = sine(x, 7) * sine(y, 5) * sine(z, 6);
    const std::vector<void*> arrays{u.data(), &rate, next.data()};
    families_.of(problem).reference(problem, arrays, 0, 6);
    const auto eigenvalue = [](int n) { return std::pow(2 * std::sin(M_PI / (n + 1) / 2), 2); };
    const double damping = 1 - rate * (eigenvalue(7) + eigenvalue(5) + eigenvalue(6));
    for (std::size_t i = 0; i < u.size(); ++i) ASSERT_NEAR(next[i], damping * u[i], 1e-15) << i;
}

TEST_F(Heat7, KernelsOfTheProcessorVerify) {
    if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    expect_members_verify(families_.find("heat_7"), "heat_7 precision=f32 nx=33 ny=17 nz=9");
    expect_members_verify(families_.find("heat_7"), "heat_7 precision=f64 nx=1 ny=1 nz=11");
}

TEST_F(Heat7, CudaKernelsVerifyOnTheHost) {
    if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    const Family emulated = test::emulated(heat::heat_7(), cuda_limits(90));
    expect_members_verify(emulated, "heat_7 precision=f32 nx=37 ny=19 nz=7");
    expect_members_verify(emulated, "heat_7 precision=f64 nx=5 ny=1 nz=3");
}

TEST_F(Heat7, CudaKernelsCompileForADevice) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Limits limits = cuda_limits(90);
    const Problem problem = families_.parse_problem("heat_7 precision=f32 nx=64 ny=64 nz=64");
    const SearchSpace space = families_.of(problem).space(problem, limits);
    for (const char* words : {"rows_per_thread=1", "block_x=64,rows_per_thread=4,z_block=32"}) {
        const Config config = space.parse(words);
        ASSERT_FALSE(space.check(config).has_value()) << words;
        const CompileOutcome outcome = compiler->compile(families_.of(problem).kernel(problem, config, limits));
        EXPECT_TRUE(outcome.ok) << words << ": " << outcome.failure;
    }
    EXPECT_TRUE(space.check(space.parse("block_x=256,block_y=16")).has_value()) << "4096 threads in a block";
}

}  // namespace
}  // namespace hone::heat_7_test
