// batched_gemm and batched_gemv without a compiler: the reference against exact products, layout,
// counts, and what the spaces allow.
#include "generator/families/batched_gemm/family.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "generator/families.hpp"
#include "generator/families/batched_gemv/family.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::batched_gemm_test::family_test {
namespace {

const Families& families() {
    static const Families table({batched_gemm(), batched_gemv()});
    return table;
}

Problem parse(const std::string& text) {
    return families().parse_problem(text);
}

const Family& family_of(const Problem& problem) {
    return families().of(problem);
}

// Whole numbers are exact: op(A)(r, l) = 1 + r + 2 l and op(B)(l, c) = 3 - l + c of matrix i, both
// plus i, written down by position, summed in closed form.
class ExactProduct : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Forms, ExactProduct, ::testing::Values("nn", "nt", "tn", "tt"));
TEST_P(ExactProduct, OfTheReference) {
    constexpr int m = 4, n = 3, k = 5, batch = 6, gap = 2;
    const std::string form = GetParam();
    const Problem problem = parse("batched_gemm form=" + form + " m=4 n=3 k=5 batch=6 gap_a=2 gap_b=2 gap_c=2");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> a(batch * (m * k + gap), nan), b(batch * (k * n + gap), nan), c(batch * (m * n + gap), nan);
    for (int i = 0; i < batch; ++i)
        for (int l = 0; l < k; ++l) {
            for (int row = 0; row < m; ++row)
                a[static_cast<std::size_t>(i * (m * k + gap) + (form[0] == 't' ? row * k + l : l * m + row))] = 1 + row + 2 * l + i;
            for (int column = 0; column < n; ++column)
                b[static_cast<std::size_t>(i * (k * n + gap) + (form[1] == 't' ? l * n + column : column * k + l))] = 3 - l + column + i;
        }
    const std::array<void*, 3> arrays{a.data(), b.data(), c.data()};
    family_of(problem).reference(problem, arrays, 1, batch);
    for (int i = 0; i < batch; ++i)
        for (int column = 0; column < n; ++column)
            for (int row = 0; row < m; ++row) {
                // sum over l of (p + 2 l) (q - l) = k p q + (2 q - p) sum l - 2 sum l^2
                const double p = 1 + row + i;
                const double q = 3 + column + i;
                const double expected = 5 * p * q + (2 * q - p) * 10 - 2 * 30;
                const double found = c[static_cast<std::size_t>(i * (m * n + gap) + column * m + row)];
                if (i == 0)
                    EXPECT_TRUE(std::isnan(found)) << "a product outside of the range was written";
                else
                    EXPECT_EQ(found, expected) << i << ' ' << row << ' ' << column;
            }
}

TEST(BatchedReference, ScalesAndDoesNotReadCWhereBetaIsZero) {
    const Problem problem = parse("batched_gemm update=scale b=shared m=1 n=1 k=2 batch=2");
    std::vector<double> a{1, 2, 3, 4}, b{5, 6}, c{7, 8}, factors{2, -1};
    const std::array<void*, 4> arrays{a.data(), b.data(), c.data(), factors.data()};
    family_of(problem).reference(problem, arrays, 0, 2);
    EXPECT_EQ(c, (std::vector<double>{2 * 17 - 7, 2 * 39 - 8}));
    factors[1] = 0;
    c.assign(2, std::numeric_limits<double>::quiet_NaN());
    family_of(problem).reference(problem, arrays, 0, 2);
    EXPECT_EQ(c, (std::vector<double>{34, 78}));
}

TEST(BatchedReference, MatrixTimesVector) {
    std::vector<double> a{1, 2, 3, 4, 5, 6}, x{10, 100}, y(3);  // A = (1 4; 2 5; 3 6)
    const std::array<void*, 3> plain{a.data(), x.data(), y.data()};
    const Problem forward = parse("batched_gemv m=3 n=2 batch=1");
    family_of(forward).reference(forward, plain, 0, 1);
    EXPECT_EQ(y, (std::vector<double>{410, 520, 630}));
    std::vector<double> z(2);
    const std::array<void*, 3> turned{a.data(), y.data(), z.data()};
    const Problem backward = parse("batched_gemv form=t m=3 n=2 batch=1");
    family_of(backward).reference(backward, turned, 0, 1);
    EXPECT_EQ(z, (std::vector<double>{410 + 2 * 520 + 3 * 630, 4 * 410 + 5 * 520 + 6 * 630}));
}

// A whole product is much larger than what is allowed as rounding, so that a wrong kernel cannot
// pass; gaps are NaN on both sides.
TEST(BatchedWorkload, ToleratesRoundingOnly) {
    test::FreshRandom random;
    for (const char* text : {"batched_gemm m=30 n=20 k=512 precision=f32 batch=3 gap_c=1", "batched_gemm m=2 n=2 k=2 batch=9 update=scale",
                             "batched_gemv form=t m=100 n=7 batch=5"}) {
        const Problem problem = parse(text);
        const Workload workload = family_of(problem).workload(problem, random());
        double largest = 0;
        for (std::int64_t i = 0; i < workload.expected[2].words(); ++i) {
            const double word = workload.expected[2].word(i);
            if (std::isfinite(word)) largest = std::max(largest, std::abs(word));
        }
        EXPECT_GT(largest, 1000 * workload.tolerance) << text;
        EXPECT_GT(workload.tolerance, 0) << text;
    }
}

TEST(BatchedCounts, AreOfCompulsoryWords) {
    const auto counts = [](const char* text) { return family_of(parse(text)).counts(parse(text)); };
    EXPECT_EQ(counts("batched_gemm m=81 n=8 k=64 b=shared batch=100").bytes, 8 * (100 * (81 * 64 + 81 * 8) + 64 * 8));
    EXPECT_EQ(counts("batched_gemm m=81 n=8 k=64 b=shared batch=100").operations, 100 * 2.0 * 81 * 8 * 64);
    EXPECT_EQ(counts("batched_gemm m=3 n=3 k=3 update=scale precision=f32 batch=10 gap_a=7").bytes, 4 * 10 * (9 + 9 + 18));
    EXPECT_EQ(counts("batched_gemv form=t m=81 n=8 batch=10").bytes, 8 * 10 * (81 * 8 + 81 + 8));
}

std::set<std::string> forms(const std::string& text, int architecture) {
    const Problem problem = parse(text);
    std::set<std::string> names;
    const SearchSpace space = family_of(problem).space(problem, cuda_limits(architecture));
    for (const Value& value : space.tunables().front().values) names.insert(to_string(value));
    return names;
}

TEST(BatchedSpace, OffersWhatSuitsTheShape) {
    EXPECT_EQ(forms("batched_gemm m=3 n=3 k=3 batch=9", 90), (std::set<std::string>{"tile", "mma", "thread"}));
    EXPECT_EQ(forms("batched_gemm m=81 n=8 k=64 batch=9", 90), (std::set<std::string>{"tile", "mma"}));
    EXPECT_EQ(forms("batched_gemm m=200 n=200 k=200 batch=9", 90), std::set<std::string>{"mma"});
    EXPECT_EQ(forms("batched_gemm b=shared m=3 n=192 k=27 batch=9", 90), (std::set<std::string>{"tile", "mma", "stream"}));
    EXPECT_EQ(forms("batched_gemm m=3 n=192 k=27 batch=9", 90), (std::set<std::string>{"tile", "mma"}));
    EXPECT_EQ(forms("batched_gemm m=200 n=200 k=200 batch=9", 80), std::set<std::string>{"tile"});
    EXPECT_EQ(forms("batched_gemm m=200 n=200 k=200 precision=f32 batch=9", 90), std::set<std::string>{"tile"});
}

// ptxas refuses the matrix units' instructions where 1024 threads or more share the registers of a
// multiprocessor: fewer than 64 each.
TEST(BatchedSpace, LeavesTheMatrixUnitsTheRegistersThatTheyInsistOn) {
    const Problem problem = parse("batched_gemm form=nt update=scale m=39 n=23 k=11 batch=9");
    const SearchSpace space = family_of(problem).space(problem, cuda_limits(90));
    const std::string text = "form=mma,matrices_per_block=2,block_m=64,block_n=32,warp_m=1,warp_n=1,chunk=8,stages=1,depth=8,epilogue=shared,";
    const auto rejection = space.check(space.parse(text + "min_blocks=2"));
    ASSERT_TRUE(rejection.has_value()) << "576 threads, twice";
    EXPECT_EQ(rejection->constraint, "registers");
    EXPECT_FALSE(space.check(space.parse(text + "min_blocks=1")).has_value());
}

TEST(BatchedSpace, CutsRowsOfAllMatricesOnlyWhereTilesReachAcrossThem) {
    const Problem problem = parse("batched_gemm b=shared m=128 n=48 k=64 batch=9");
    const SearchSpace space = family_of(problem).space(problem, cuda_limits(90));
    const auto rejected = [&](const std::string& text) { return space.check(space.parse("form=mma,depth=8,block_m=64," + text)).has_value(); };
    EXPECT_TRUE(rejected("chunk=16,stages=2,warp_m=2,tiling=rows"));
    EXPECT_FALSE(rejected("chunk=16,stages=2,warp_m=3,tiling=rows")) << "tiles of 96 rows";
    EXPECT_TRUE(rejected("chunk=16,stages=2,warp_m=3,tiling=rows,matrices_per_block=2"));
    EXPECT_FALSE(rejected("chunk=16,stages=2,warp_m=2,prefetch=1"));
    EXPECT_TRUE(rejected("chunk=16,stages=2,warp_m=1,warp_n=1,prefetch=1")) << "one tile of sums";
    EXPECT_TRUE(rejected("chunk=16,stages=1,warp_m=2,prefetch=1"));
    EXPECT_TRUE(rejected("chunk=8,stages=2,warp_m=2,prefetch=1")) << "one step per chunk";
}

TEST(BatchedSpace, UntunedProductsBeginWithTheFormThatSuitsTheirShape) {
    const auto safe = [](const std::string& rest) {
        const Problem problem = parse("batched_gemm batch=1000 " + rest);
        return family_of(problem).space(problem, cuda_limits(90)).safe();
    };
    for (const char* few_rows : {"b=shared m=1 n=49 k=2", "b=shared m=3 n=192 k=27", "b=shared m=3 n=400 k=27"})
        EXPECT_EQ(safe(few_rows).word("form"), "stream") << few_rows;
    const Config thin = safe("form=tn b=shared m=1 n=12 k=303");
    EXPECT_EQ(thin.word("form"), "mma") << "no stream: B is more than registers hold";
    EXPECT_GE(thin.integer("matrices_per_block"), 16) << "rows enough for matrix units";
    EXPECT_EQ(thin.integer("stages"), 4) << "a long B comes in pieces";
    EXPECT_EQ(safe("m=3 n=192 k=27").integer("matrices_per_block"), 1) << "each has its own B";
    EXPECT_EQ(safe("m=3 n=192 k=27").word("form"), "tile");
    EXPECT_EQ(safe("m=2 n=141 k=304").word("form"), "mma") << "a long B each";
    EXPECT_EQ(safe("m=100 n=83 k=2").word("epilogue"), "shared") << "C is most of the traffic";
    EXPECT_EQ(safe("m=100 n=83 k=40").word("epilogue"), "direct");
    EXPECT_EQ(safe("b=shared m=64 n=1 k=168").integer("stages"), 4) << "memory would wait";
    EXPECT_EQ(safe("b=shared m=333 n=1 k=388").integer("stages"), 1) << "smaller blocks";
    for (const char* padded : {"b=shared m=12 n=474 k=100", "b=shared m=1 n=300 k=303", "b=shared m=82 n=83 k=484"})
        EXPECT_EQ(safe(padded).word("tiling"), "rows") << padded;
    EXPECT_EQ(safe("b=shared m=128 n=83 k=484").word("tiling"), "matrices") << "no row is padding";
    EXPECT_GE(safe("form=tn b=shared m=29 n=27 k=134").integer("block_m"), 64) << "a long B is read for rows of many products";
    EXPECT_EQ(safe("b=shared m=30 n=42 k=40").word("tiling"), "matrices") << "a short B stays";
}

TEST(BatchedSpace, TilesAreHigherThanAMatrixOnlyWhereTheyHaveRowsOfOthers) {
    const Problem problem = parse("batched_gemm b=shared m=7 n=300 k=60 batch=9");
    const SearchSpace space = family_of(problem).space(problem, cuda_limits(90));
    const auto rejected = [&](const std::string& text) { return space.check(space.parse("form=mma,block_n=128,min_blocks=1," + text)).has_value(); };
    EXPECT_FALSE(rejected("block_m=128,warp_m=2,warp_n=8,tiling=rows"));
    EXPECT_TRUE(rejected("block_m=128,warp_m=1,warp_n=8,stages=1,prefetch=0,tiling=matrices"));
    EXPECT_FALSE(rejected("block_m=32,warp_m=1,warp_n=8,stages=1,prefetch=0,tiling=matrices"));
}

TEST(BatchedSpace, SafeConfigurationExistsForEveryShape) {
    test::FreshRandom random;
    const auto any = [&] { return std::to_string(1 + random() % 512); };
    for (int i = 0; i < test::tries(200, 40); ++i) {
        const std::string rest = " m=" + any() + " n=" + any() + " batch=7 precision=" + (i % 2 == 0 ? "f32" : "f64");
        const std::string thin = "batched_gemm b=shared m=" + std::to_string(1 + random() % 40) + " n=" + any() + " k=" + any() + " batch=7";
        for (const std::string& text : {"batched_gemm k=" + any() + rest, thin, "batched_gemv form=t" + rest, "batched_gemv" + rest})
            for (const int architecture : {70, 80, 90, 100, 120}) {
                SCOPED_TRACE(text + " sm_" + std::to_string(architecture));
                const Problem problem = parse(text);
                EXPECT_NO_THROW(family_of(problem).space(problem, cuda_limits(architecture)));
            }
    }
}

}  // namespace
}  // namespace hone::batched_gemm_test::family_test
