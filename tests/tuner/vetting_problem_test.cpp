#include "tuner/vetting_problem.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "generator/families/built_in_families.hpp"
#include "generator/limits.hpp"
namespace hone::vetting_problem_test {
namespace {

TEST(VettingProblem, KeepsRemaindersAndReducesTheSlowestExtentFirst) {
    const Families& families = built_in_families();
    const Limits limits = cpu_limits();
    const auto reduced = [&](const std::string& text, std::int64_t words) {
        return vetting_problem(families, families.parse_problem(text), limits, words);
    };
    const std::string small = "gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96";
    EXPECT_EQ(reduced(small, 1 << 24), families.parse_problem(small));
    const Problem large = reduced("gauss_seidel_27 stencil=constant precision=f32 nx=1003 ny=515 nz=389", 1 << 24);
    for (const auto& [name, extent] : {std::pair{"nx", 1003}, {"ny", 515}, {"nz", 389}}) {
        EXPECT_EQ(large.integer(name) % 64, extent % 64) << name;
        EXPECT_GE(large.integer(name), 64) << name;
    }
    EXPECT_GE(large.integer("nx"), large.integer("nz"));
    std::int64_t words = 0;
    for (const ArraySpec& array : families.of(large).arrays(large)) words += array.words;
    EXPECT_LE(words, 1 << 24);
    // A pitch must hold a row, whatever becomes of the row.
    const Problem pitched = reduced("gauss_seidel_27 stencil=constant precision=f32 nx=1000 ny=1000 nz=1000 pitch=1056", 1 << 24);
    EXPECT_GE(pitched.integer("pitch"), pitched.integer("nx") + 2);
}

// What a tuning run on processors relies on: large problems of stencils have a smaller one of the
// same source.
TEST(VettingProblem, OfLargeStencilsOnProcessorsIsSmallAndOfTheSameSource) {
    const Families& families = built_in_families();
    const Limits limits = cpu_limits();
    constexpr std::int64_t most = 1 << 21;
    for (const char* text : {"acoustics_staggered kernel=step dimension=2 order=4 precision=f32 nx=4096 ny=4096",
                             "acoustics_staggered kernel=step dimension=3 order=16 update=in_place precision=f32 nx=256 ny=256 nz=256",
                             "gauss_seidel_27 stencil=variable precision=f32 nx=256 ny=256 nz=256",
                             "poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=256 ny=256 nz=256"}) {
        const Problem problem = families.parse_problem(text);
        const Family& family = families.of(problem);
        const Problem small = vetting_problem(families, problem, limits, most);
        EXPECT_NE(small, problem);
        std::int64_t words = 0;
        for (const ArraySpec& array : family.arrays(small)) words += array.words;
        EXPECT_LE(words, most) << small.key();
        const Config safe = family.space(problem, limits).safe();
        EXPECT_EQ(family.kernel(small, safe, limits).text, family.kernel(problem, safe, limits).text) << text;
    }
}

TEST(NearbyProblems, HaveExtentsOfEitherParityThatFewNumbersDivide) {
    const Families& families = built_in_families();
    const auto is_prime = [](std::int64_t n) {
        for (std::int64_t divisor = 2; divisor * divisor <= n; ++divisor)
            if (n % divisor == 0) return false;
        return n > 1;
    };
    for (const std::string extents : {"nx=96 ny=96 nz=96", "nx=97 ny=41 nz=40", "nx=1003 ny=515 nz=389"}) {
        const Problem problem = families.parse_problem("gauss_seidel_27 stencil=constant precision=f32 " + extents);
        const std::vector<Problem> nearby = nearby_problems(families, problem, 1 << 18);
        ASSERT_EQ(nearby.size(), 2U);
        for (const char* name : {"nx", "ny", "nz"}) {
            EXPECT_TRUE(is_prime(nearby[0].integer(name))) << nearby[0].key();
            EXPECT_TRUE(is_prime(nearby[1].integer(name) / 2) && nearby[1].integer(name) % 2 == 0) << nearby[1].key();
            EXPECT_LE(nearby[0].integer(name), problem.integer(name));
        }
    }
}

TEST(NearbyProblems, AreSmallAndProblemsOfTheFamily) {
    const Families& families = built_in_families();
    constexpr std::int64_t most = 1 << 18;
    int all = 0;
    for (const Family& family : families) {
        const Problem problem = families.parse_problem(family.example);
        for (const Problem& near : nearby_problems(families, problem, most)) {
            std::int64_t words = 0;
            for (const ArraySpec& array : family.arrays(near)) words += array.words;
            EXPECT_LE(words, most) << near.key();
            EXPECT_NE(near, problem);
            ++all;
        }
    }
    EXPECT_GE(all, 15) << "of twelve families";
    EXPECT_TRUE(
        nearby_problems(families,
                        families.parse_problem("poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=256 ny=256 nz=256"), 8)
            .empty());
}

}  // namespace
}  // namespace hone::vetting_problem_test
