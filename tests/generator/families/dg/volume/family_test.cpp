// dg_volume without compiling anything: counts, reference, workload, search space, text.
#include "generator/families/dg/volume/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/elements/reference_element.hpp"

namespace hone::dg_volume_test::family_test {
namespace {

const Families& families() {
    static const Families table({dg_volume()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("dg_volume " + rest);
}

const Family& family() {
    return families().find("dg_volume");
}

TEST(DgVolume, CountsTheOperationsAndBytesOfTheDefinition) {
    const Counts maxwell = family().counts(parse("equation=maxwell_3d order=3 precision=f64 elements=10"));
    EXPECT_EQ(maxwell.updates, 10);
    EXPECT_EQ(maxwell.operations, 10 * (36 * 400 + 66 * 20));
    EXPECT_EQ(maxwell.bytes, 10 * 8 * (2 * 6 * 20 + 9));
    const Counts acoustics = family().counts(parse("equation=acoustics_3d order=2 precision=f32 elements=1"));
    EXPECT_EQ(acoustics.operations, 24 * 100 + 32 * 10);
    EXPECT_EQ(acoustics.bytes, 4 * (2 * 4 * 10 + 9));
    const Counts flat = family().counts(parse("equation=maxwell_2d_tm order=4 precision=f64 elements=3"));
    EXPECT_EQ(flat.operations, 3 * (12 * 225 + 13 * 15));
    EXPECT_EQ(flat.bytes, 3 * 8 * (2 * 3 * 15 + 4));
}

// A random polynomial of degree up to `order` in x, y, z, with its gradient.
struct Polynomial {
    std::vector<std::array<int, 3>> exponents;
    std::vector<double> coefficients;

    Polynomial(int order, std::mt19937_64& random) {
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (int i = 0; i <= order; ++i)
            for (int j = 0; j <= order - i; ++j)
                for (int k = 0; k <= order - i - j; ++k) {
                    exponents.push_back({i, j, k});
                    coefficients.push_back(uniform(random));
                }
    }
    // Derivative along axis 0, 1, 2, or the value for -1.
    double at(const std::array<double, 3>& x, int axis) const {
        double sum = 0;
        for (std::size_t term = 0; term < exponents.size(); ++term) {
            double product = coefficients[term];
            for (int i = 0; i < 3; ++i) {
                const auto axis_index = static_cast<std::size_t>(i);
                const int e = exponents[term][axis_index];
                if (i != axis)
                    product *= std::pow(x[axis_index], e);
                else
                    product *= e == 0 ? 0 : e * std::pow(x[axis_index], e - 1);
            }
            sum += product;
        }
        return sum;
    }
};

using Matrix3 = std::array<std::array<double, 3>, 3>;

// Inverse by cofactors, independently of the code under test.
Matrix3 inverse(const Matrix3& a) {
    Matrix3 result;
    const auto minor = [&](std::size_t i, std::size_t j) {
        return a[(i + 1) % 3][(j + 1) % 3] * a[(i + 2) % 3][(j + 2) % 3] - a[(i + 1) % 3][(j + 2) % 3] * a[(i + 2) % 3][(j + 1) % 3];
    };
    const double determinant = a[0][0] * minor(0, 0) + a[0][1] * minor(0, 1) + a[0][2] * minor(0, 2);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) result[j][i] = minor(i, j) / determinant;
    return result;
}

class DgVolumeReference : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, DgVolumeReference, ::testing::Range(1, 11));

// On arbitrary affine tetrahedra the whole right-hand side of polynomials up to the order is exact.
TEST_P(DgVolumeReference, IsExactForPolynomialsOnAffineTetrahedra) {
    const int order = GetParam();
    const ReferenceElement& element = reference_tetrahedron(order);
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    constexpr int elements = 2;
    for (const bool maxwell : {true, false}) {
        const int fields = maxwell ? 6 : 4;
        const Problem problem =
            parse(fmt::format("equation={} order={} precision=f64 elements={}", maxwell ? "maxwell_3d" : "acoustics_3d", order, elements));
        std::vector<Polynomial> polynomials;
        for (int f = 0; f < fields; ++f) polynomials.emplace_back(order, random);
        const auto nodes = static_cast<std::size_t>(element.nodes());
        std::vector<double> q;
        std::vector<double> geometry;
        std::vector<double> exact;
        double largest = 1;
        for (int k = 0; k < elements; ++k) {
            Matrix3 edges;  // dx_i / dr_a at [i][a]
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t a = 0; a < 3; ++a) edges[i][a] = (i == a ? 0.5 : 0) + 0.1 * uniform(random);
            const Matrix3 gradients = inverse(edges);
            for (const auto& row : gradients) geometry.insert(geometry.end(), row.begin(), row.end());
            std::vector<std::array<double, 3>> points;
            for (const auto& point : element.points) {
                std::array<double, 3> x{};
                for (std::size_t i = 0; i < 3; ++i)
                    for (std::size_t a = 0; a < 3; ++a) x[i] += edges[i][a] * point[a];
                points.push_back(x);
            }
            for (int f = 0; f < fields; ++f)
                for (const auto& x : points) q.push_back(polynomials[static_cast<std::size_t>(f)].at(x, -1));
            for (int f = 0; f < fields; ++f)
                for (const auto& x : points) {
                    const auto d = [&](int field, int axis) { return polynomials[static_cast<std::size_t>(field)].at(x, axis); };
                    const int i = maxwell ? f % 3 : f - 1;
                    double value = 0;
                    if (maxwell) {
                        const int other = f < 3 ? 3 : 0;
                        const double curl = d(other + (i + 2) % 3, (i + 1) % 3) - d(other + (i + 1) % 3, (i + 2) % 3);
                        value = f < 3 ? -curl : curl;
                    } else {
                        value = f == 0 ? -(d(1, 0) + d(2, 1) + d(3, 2)) : -d(0, i);
                    }
                    exact.push_back(value);
                    largest = std::max(largest, std::abs(value));
                }
        }
        std::vector<double> rhs(q.size(), std::nan(""));
        const std::array<void*, 3> arrays{q.data(), geometry.data(), rhs.data()};
        family().reference(problem, arrays, 0, elements);
        // The operators are exact to 1e-12 for monomials; gradients of these tetrahedra are at most
        // 4, three of them add up.
        for (std::size_t i = 0; i < rhs.size(); ++i) ASSERT_NEAR(rhs[i], exact[i], 1e-11 * largest) << "node " << i % nodes << " seed " << seed;
    }
}

// The same for Maxwell's TM mode on triangles: Hx' = -dEz/dy, Hy' = dEz/dx, Ez' = dHy/dx - dHx/dy.
TEST_P(DgVolumeReference, IsExactForPolynomialsOnAffineTriangles) {
    const int order = GetParam();
    const ReferenceElement& element = reference_triangle(order);
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-0.1, 0.1);
    std::vector<Polynomial> polynomials;
    for (int f = 0; f < 3; ++f) polynomials.emplace_back(order, random);
    const double xr = 0.5 + uniform(random);
    const double ys = 0.5 + uniform(random);
    const double xs = uniform(random);
    const double yr = uniform(random);
    const double jacobian = xr * ys - xs * yr;
    std::vector<double> geometry{ys / jacobian, -xs / jacobian, -yr / jacobian, xr / jacobian};
    std::vector<std::array<double, 3>> points;
    for (const auto& [r, s, t] : element.points) points.push_back({xr * r + xs * s, yr * r + ys * s, 0});
    std::vector<double> q;
    for (const Polynomial& polynomial : polynomials)
        for (const auto& x : points) q.push_back(polynomial.at(x, -1));
    std::vector<double> rhs(q.size(), std::nan(""));
    const std::array<void*, 3> arrays{q.data(), geometry.data(), rhs.data()};
    family().reference(parse(fmt::format("equation=maxwell_2d_tm order={} precision=f64 elements=1", order)), arrays, 0, 1);
    for (std::size_t n = 0; n < points.size(); ++n) {
        const auto d = [&](std::size_t field, int axis) { return polynomials[field].at(points[n], axis); };
        const std::array<double, 3> exact{-d(2, 1), d(2, 0), d(1, 0) - d(0, 1)};
        for (std::size_t f = 0; f < 3; ++f)
            EXPECT_NEAR(rhs[f * points.size() + n], exact[f], 1e-11 * (1 + std::abs(exact[f])) * order) << "field " << f << " seed " << seed;
    }
}

TEST(DgVolume, ReferenceWritesItsRangeOnly) {
    const Problem problem = parse("equation=acoustics_3d order=1 precision=f32 elements=5");
    Workload workload = family().workload(problem, 7);
    const std::array<void*, 3> arrays{workload.arrays[0].data(), workload.arrays[1].data(), workload.arrays[2].data()};
    family().reference(problem, arrays, 1, 3);
    const auto rhs = workload.arrays[2].values<float>();
    constexpr std::size_t words = 16;
    for (std::size_t i = 0; i < rhs.size(); ++i) EXPECT_EQ(std::isnan(rhs[i]), i / words < 1 || i / words >= 3) << i;
}

TEST(DgVolume, WorkloadRepeatsItsDataSetsWithTheirAnswers) {
    const Problem problem = parse("equation=maxwell_3d order=1 precision=f64 elements=1200");
    Workload workload = family().workload(problem, 3);
    HostArray rhs = workload.arrays[2].copy();
    const std::array<void*, 3> arrays{workload.arrays[0].data(), workload.arrays[1].data(), rhs.data()};
    for (const double value : workload.arrays[2].values<double>()) ASSERT_TRUE(std::isnan(value));
    family().reference(problem, arrays, 0, 1200);
    EXPECT_EQ(largest_difference(rhs, workload.expected[2]), 0);
    EXPECT_GT(workload.tolerance, 0);
    EXPECT_LT(workload.tolerance, 1e-11);
    const auto q = workload.arrays[0].values<double>();
    EXPECT_EQ(q[0], q[509 * 24]);  // element 509 is element 0 again, and element 1 is another
    EXPECT_NE(q[0], q[24]);
    EXPECT_EQ(family().workload(problem, 3).arrays[0].values<double>()[5], q[5]);
    EXPECT_NE(family().workload(problem, 4).arrays[0].values<double>()[5], q[5]);
}

std::vector<Problem> all_problems() {
    return families().parse_problems("dg_volume equation=maxwell_3d,acoustics_3d,maxwell_2d_tm order=1..10 precision=f32,f64 elements=1000");
}

TEST(DgVolumeSpace, HasManyMembersAndFewEnoughToEnumerate) {
    for (const Problem& problem : all_problems())
        for (const Limits& limits : {cpu_limits(), cuda_limits(80), cuda_limits(90), cuda_limits(120)}) {
            const SearchSpace space = family().space(problem, limits);
            EXPECT_FALSE(space.check(space.safe()).has_value());
            EXPECT_LE(space.product(), 70000) << problem.key();  // `hone space` counts them in 40 ms
        }
    const auto members = [](const char* rest, const Limits& limits) { return family().space(parse(rest), limits).members().size(); };
    EXPECT_GE(members("equation=maxwell_3d order=3 precision=f32 elements=1", cuda_limits(90)), 300U);
    EXPECT_GE(members("equation=maxwell_3d order=7 precision=f64 elements=1", cuda_limits(90)), 300U);
    EXPECT_GE(members("equation=acoustics_3d order=10 precision=f32 elements=1", cpu_limits()), 50U);
}

std::set<std::string> forms(const std::string& rest, const Limits& limits) {
    const SearchSpace space = family().space(parse(rest), limits);
    std::set<std::string> names;
    // The members of a form lie side by side.
    const Members members = space.members();
    for (auto member = members.begin(); member != members.end();) {
        const std::string name = space.at(*member).word("form");
        EXPECT_TRUE(names.insert(name).second);
        member = std::partition_point(member, members.end(), [&](std::int64_t index) { return space.at(index).word("form") == name; });
    }
    return names;
}

TEST(DgVolumeSpace, OffersTheFormsThatApply) {
    using Names = std::set<std::string>;
    EXPECT_EQ(forms("equation=maxwell_3d order=2 precision=f32 elements=1", cuda_limits(80)), (Names{"element", "rows", "tile"}));
    EXPECT_EQ(forms("equation=maxwell_3d order=6 precision=f32 elements=1", cuda_limits(90)), (Names{"tile", "warp_tile"}));
    EXPECT_EQ(forms("equation=maxwell_2d_tm order=5 precision=f64 elements=1", cuda_limits(90)),
              (Names{"element", "element_parity", "rows", "tile", "warp_tile"}));
    EXPECT_EQ(forms("equation=maxwell_2d_tm order=6 precision=f64 elements=1", cuda_limits(90)),
              (Names{"element", "element_parity", "mma", "rows", "tile", "warp_tile"}));
    EXPECT_EQ(forms("equation=maxwell_2d_tm order=8 precision=f64 elements=1", cuda_limits(90)),
              (Names{"element_parity", "mma", "tile", "warp_tile"}));
    EXPECT_EQ(forms("equation=maxwell_2d_tm order=10 precision=f64 elements=1", cuda_limits(90)),
              (Names{"mma", "tile", "warp_tile"}));  // an element's fields exceed the registers
    EXPECT_EQ(forms("equation=acoustics_3d order=6 precision=f64 elements=1", cuda_limits(90)), (Names{"mma", "tile", "warp_tile"}));
    EXPECT_EQ(forms("equation=acoustics_3d order=6 precision=f64 elements=1", cuda_limits(80)),
              (Names{"tile", "warp_tile"}));  // m16n8k8 came with sm_90
    const std::string accurate = "precision=f32 arithmetic=f32_accurate elements=1";
    EXPECT_EQ(forms("equation=maxwell_3d order=3 " + accurate, cuda_limits(80)), (Names{"element", "rows", "tf32", "tile"}));
    EXPECT_EQ(forms("equation=maxwell_3d order=2 " + accurate, cuda_limits(90)), (Names{"element", "rows", "tile"}));         // too few nodes
    EXPECT_EQ(forms("equation=maxwell_3d order=8 precision=f32 elements=1", cuda_limits(90)), (Names{"tile", "warp_tile"}));  // nobody asked
    EXPECT_EQ(forms("equation=maxwell_3d order=8 " + accurate, cuda_limits(75)), (Names{"tile"}));
    EXPECT_EQ(family().space(parse("equation=maxwell_3d order=8 " + accurate), cpu_limits()).product(),
              family().space(parse("equation=maxwell_3d order=8 precision=f32 elements=1"), cpu_limits()).product());
}

TEST(DgVolumeSpace, RejectsBeforeCompilationWithTheReason) {
    const Problem problem = parse("equation=maxwell_3d order=10 precision=f64 elements=1");
    const SearchSpace space = family().space(problem, cuda_limits(90));
    const auto rejection = [&](const char* text) { return space.check(space.parse(text)).value_or(Rejection{"none", ""}); };
    EXPECT_EQ(rejection("elements_per_block=32").constraint, "threads");
    EXPECT_EQ(rejection("elements_per_block=32,elements_per_thread=4").constraint, "shared_memory");
    EXPECT_NE(rejection("elements_per_block=32,elements_per_thread=4").reason.find("bytes"), std::string::npos);
    EXPECT_EQ(rejection("elements_per_block=16,elements_per_thread=4,nodes_per_thread=8").constraint, "registers");
    EXPECT_EQ(rejection("form=mma,elements_per_block=32,groups_per_warp=4").constraint, "layout");
    EXPECT_EQ(rejection("form=mma,elements_per_block=32,groups_per_warp=4,fields_per_pass=3").constraint, "none");
    const SearchSpace rows = family().space(parse("equation=maxwell_3d order=4 precision=f64 elements=1"), cuda_limits(90));
    EXPECT_EQ(rows.check(rows.parse("form=rows,elements_per_block=8,elements_per_thread=2")).value_or(Rejection{"none", ""}).constraint, "registers");
    EXPECT_THROW(rows.parse("form=element,fields_per_pass=3"), Error);  // a half of an element is one curl anyway
    const SearchSpace low = family().space(parse("equation=acoustics_3d order=4 precision=f32 elements=1"), cuda_limits(90));
    const auto code = low.check(low.parse("form=element,algebra=cartesian,elements_per_block=32"));
    EXPECT_EQ(code.value_or(Rejection{"none", ""}).constraint, "code_size");
}

// Configurations of before there were forms.
TEST(DgVolumeSpace, TranslatesConfigurationsOfFormerTimes) {
    const auto translated = [](const char* rest, const Limits& limits, std::vector<Assignment> former) {
        const SearchSpace space = family().space(parse(rest), limits);
        const Config config = space.completed(Config(std::move(former)));
        const auto rejection = space.check(config);
        EXPECT_FALSE(rejection) << config.key() << ": " << rejection->reason;
        return config.key();
    };
    const auto cuda = [&](const char* rest, const char* mapping, std::int64_t fields, std::vector<std::int64_t> counts, const char* residency) {
        return translated(rest, cuda_limits(90),
                          {{"mapping", mapping},
                           {"form", "cartesian"},
                           {"fields_per_pass", fields},
                           {"elements_per_block", counts[0]},
                           {"nodes_per_thread", counts[1]},
                           {"elements_per_thread", counts[2]},
                           {"operator", residency},
                           {"unroll", counts[3]},
                           {"padding", std::int64_t{0}},
                           {"min_blocks", std::int64_t{2}}});
    };
    EXPECT_EQ(cuda("equation=maxwell_3d order=1 precision=f32 elements=1", "element", 6, {64, 1, 1, 4}, "immediate"),
              "form=element,algebra=cartesian,elements_per_block=64,copy_width=4,padding=0,min_blocks=2");
    EXPECT_EQ(cuda("equation=maxwell_3d order=2 precision=f32 elements=1", "tile", 6, {16, 2, 2, 4}, "shared"),
              "form=tile,algebra=cartesian,fields_per_pass=6,elements_per_block=16,nodes_per_thread=2,elements_per_thread=2,operator=shared,unroll=4,"
              "padding=0,min_blocks=2");
    EXPECT_EQ(cuda("equation=maxwell_3d order=2 precision=f32 elements=1", "tile", 3, {16, 1, 4, 2}, "registers"),
              "form=rows,algebra=cartesian,fields_per_pass=3,elements_per_block=16,elements_per_thread=4,unroll=2,padding=0,min_blocks=2");
    EXPECT_EQ(cuda("equation=acoustics_3d order=6 precision=f64 elements=1", "mma", 4, {8, 1, 1, 1}, "nonzero"),
              "form=mma,algebra=cartesian,fields_per_pass=4,elements_per_block=8,groups_per_warp=1,operator=nonzero,unroll=1,padding=0,min_blocks=2");
    EXPECT_EQ(cuda("equation=maxwell_3d order=3 precision=f32 arithmetic=f32_accurate elements=1", "tf32", 3, {16, 1, 2, 2}, "global"),
              "form=tf32,algebra=cartesian,fields_per_pass=3,elements_per_block=16,groups_per_warp=2,unroll=2,padding=0,min_blocks=2");
}

// Every member renders: random ones of every problem on every target.
TEST(DgVolumeText, RendersForAnyMember) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (const Problem& problem : all_problems())
        for (const Limits& limits : {cpu_limits(), cuda_limits(80), cuda_limits(90)}) {
            const SearchSpace space = family().space(problem, limits);
            for (bool found = false; !found;) {
                const Config config = space.at(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.product())));
                if (space.check(config)) continue;
                found = true;
                const KernelSource source = family().kernel(problem, config, limits);
                EXPECT_EQ(source.text.find("//@"), std::string::npos) << config.key();
                EXPECT_NE(source.text.find("// hone emit dg_volume"), std::string::npos) << config.key();
                EXPECT_EQ(source.entries, std::vector<std::string>{"dg_volume"});
                ASSERT_EQ(source.step.size(), 1U);
                EXPECT_LE(source.step[0].shared_bytes, limits.target == Target::cuda ? limits.shared_bytes_per_block : 0)
                    << config.key() << " seed " << seed;
                for (const auto& table : source.tables) EXPECT_EQ(static_cast<std::int64_t>(table.contents.size()), table.words);
                EXPECT_GT(source.executed_operations, 0);
            }
        }
}

TEST(DgVolumeText, DoesNotDependOnTheNumberOfElements) {
    for (const Limits& limits : {cpu_limits(), cuda_limits(90)}) {
        const Problem small = parse("equation=maxwell_3d order=4 precision=f32 elements=1");
        const Problem large = parse("equation=maxwell_3d order=4 precision=f32 elements=1000000");
        const Config safe = family().space(small, limits).safe();
        EXPECT_EQ(family().kernel(small, safe, limits).text, family().kernel(large, safe, limits).text);
    }
}

// 2 operations for each product with a coefficient that is not zero: what the covariant form saves,
// and what immediates save beyond that.
TEST(DgVolumeText, StatesTheOperationsThatItExecutes) {
    const Problem problem = parse("equation=maxwell_3d order=3 precision=f32 elements=1000");
    const Limits limits = cuda_limits(90);
    const SearchSpace space = family().space(problem, limits);
    const auto executed = [&](const char* text) { return family().kernel(problem, space.parse(text), limits).executed_operations / 1000; };
    EXPECT_EQ(executed("algebra=cartesian"), 36 * 20 * 20 + 6 * 11 * 20);
    EXPECT_EQ(executed("algebra=covariant"), 24 * 20 * 20 + (6 * 5 + 6 * 6) * 20);
    EXPECT_LT(executed("form=element,elements_per_block=32,copy_width=4"), 24 * 20 * 20 / 2 + 66 * 20);
}

}  // namespace
}  // namespace hone::dg_volume_test::family_test
