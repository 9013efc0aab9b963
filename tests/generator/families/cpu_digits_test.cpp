// Digits of CPU kernels of the families whose sums do not know the configuration (ADR 0018). Ranks
// rely on it: their parts have other sizes, so other configurations, and a compiler splits a row
// into vectors and a remainder.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "generator/families/built_in_families.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/environment.hpp"

namespace hone::cpu_digits_test {
namespace {

class CpuDigits : public test::KernelTest {
  protected:
    // The compilers that users have, as far as they are here. They differ in what they fuse where
    // the text leaves it to them.
    void SetUp() override {
        KernelTest::SetUp();
        for (const char* name : {"g++", "clang++"}) {
            const test::EnvironmentVariable compiler("HONE_CXX", name);
            compilers_.push_back(make_cpu_backend(0, cache_));
            if (!compilers_.back()->compiler().missing().empty()) compilers_.pop_back();
        }
    }

    // Of the safe configuration by the usual compiler, and these by all.
    void expect_the_same(const Problem& problem, const std::vector<Config>& configs) {
        const Family& family = built_in_families().of(problem);
        const std::uint64_t seed = random_();
        const Config safe = family.space(problem, backend_->device().limits).safe();
        const std::vector<HostArray> expected = test::stepped(*backend_, family, problem, safe, seed, 2);
        for (const Config& config : configs)
            for (const auto& compiler : compilers_)
                EXPECT_TRUE(test::same_bytes(expected, test::stepped(*compiler, family, problem, config, seed, 2)))
                    << problem.key() << ' ' << config.key() << ", " << compiler->compiler().version() << ", seed " << seed;
    }

    // In rows whose remainder all widths of vectors have.
    void expect_the_same(const std::string& words, int configurations) {
        const Problem problem = built_in_families().parse_problem(words);
        expect_the_same(problem, test::sample_members(*backend_, built_in_families().of(problem), problem, configurations, random_()));
    }

    std::vector<std::unique_ptr<Backend>> compilers_;
};

TEST_F(CpuDigits, DependOnNeitherTheFormNorTheCompiler) {
    const Problem problem = built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f64 nx=23 ny=7 nz=6");
    const SearchSpace space = built_in_families().of(problem).space(problem, backend_->device().limits);
    expect_the_same(problem, {member(space, "form=rows"), member(space, "form=wave")});
}

using SlowCpuDigits = CpuDigits;

TEST_F(SlowCpuDigits, DependOnNeitherConfigurationsNorCompilers) {
    for (const std::string precision : {"f32", "f64"}) {
        for (const std::string stencil : {"constant", "semi_constant", "variable", "symmetric"})
            expect_the_same("gauss_seidel_27 stencil=" + stencil + " precision=" + precision + " nx=23 ny=7 nz=6", 4);
        for (const std::string kernel : {"direction", "residual"})
            expect_the_same("poisson7 kernel=" + kernel + " coefficients=axis boundary=neumann precision=" + precision + " nx=67 ny=11 nz=21", 2);
        expect_the_same("acoustics_staggered kernel=step dimension=3 order=4 precision=" + precision + " nx=67 ny=11 nz=21", 4);
    }
}

}  // namespace
}  // namespace hone::cpu_digits_test
