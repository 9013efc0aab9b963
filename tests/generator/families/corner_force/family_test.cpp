// The plain loops of corner_force against exact solutions and identities, and the decompositions
// that kernels use against those of the plain loops.
#include "generator/families/corner_force/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "generator/families.hpp"
#include "generator/families/corner_force/reference.hpp"
#include "generator/families/corner_force/text.hpp"
#include "generator/render.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/library.hpp"
#include "tests/generator/families/corner_force/on_host.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"

namespace hone::corner_force_test::family_test {
namespace {

using corner::Shape;

const Families& families() {
    static const Families table({corner_force()});
    return table;
}

// One zone, a box of edges `edge` that were `start` long, with uniform gas in it.
struct Box {
    Shape shape;
    std::array<double, 3> edge{0.5, 0.25, 0.4}, start{0.5, 0.25, 0.4};
    double energy = 1.5, gamma = 1.4, density = 2;  // density: at the start
    double h0 = 0.1, cfl = 0.5, quadratic = 2, linear = 0.5;
    std::vector<std::vector<double>> arrays;  // those of result=products

    explicit Box(const Problem& problem) : shape(problem) {}

    double volume(const std::array<double, 3>& edges) const { return edges[0] * edges[1] * (shape.dimension == 3 ? edges[2] : 1); }
    std::vector<double> position() const {
        return field([&](int c, const double* xi) { return edge[static_cast<std::size_t>(c)] * xi[c]; });
    }
    // of(component, reference coordinates) at the nodes.
    template <typename Function>
    std::vector<double> field(const Function& of) const {
        std::vector<double> values;
        const auto& nodes = shape.element().nodes;
        for (int c = 0; c < shape.dimension; ++c)
            for (int i = 0; i < shape.nodes(); ++i) {
                const int n = shape.nodes_along;
                const double xi[3] = {nodes[static_cast<std::size_t>(i % n)], nodes[static_cast<std::size_t>(i / n % n)],
                                      nodes[static_cast<std::size_t>(i / (n * n) % n)]};
                values.push_back(of(c, xi));
            }
        return values;
    }
    // Force, work, dt.
    std::array<std::vector<double>, 3> step(const std::vector<double>& v, const std::vector<double>& w) {
        const int d = shape.dimension;
        const int points = shape.points();
        std::vector<double> inverse(static_cast<std::size_t>(shape.stress_words()), 0.0);
        std::vector<double> mass;
        for (int q = 0; q < points; ++q) {
            double weight = 1;
            for (int axis = 0, rest = q; axis < d; ++axis, rest /= shape.points_along)
                weight *= shape.element().weights[static_cast<std::size_t>(rest % shape.points_along)];
            mass.push_back(density * volume(start) * weight);
            for (int c = 0; c < d; ++c) inverse[static_cast<std::size_t>((c * d + c) * points + q)] = 1 / start[static_cast<std::size_t>(c)];
        }
        const std::vector<double> energies(static_cast<std::size_t>(shape.energies()), energy);
        arrays = {position(), v, energies, inverse, mass, {gamma}, {h0, cfl, quadratic, linear}, w};
        arrays.emplace_back(static_cast<std::size_t>(shape.vector_words()));
        arrays.emplace_back(static_cast<std::size_t>(shape.energies()));
        arrays.emplace_back(1);
        std::vector<void*> pointers;
        for (auto& array : arrays) pointers.push_back(array.data());
        const Problem problem = families().parse_problem(fmt::format("corner_force dimension={} order={} zones=1", d, shape.order));
        corner_force().reference(problem, pointers, 0, 1);
        return {arrays[8], arrays[9], arrays[10]};
    }
};

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

class CornerForceBox : public ::testing::TestWithParam<std::tuple<int, int>> {
  protected:
    Problem problem() const {
        return families().parse_problem(fmt::format("corner_force dimension={} order={} zones=1", std::get<0>(GetParam()), std::get<1>(GetParam())));
    }
};
INSTANTIATE_TEST_SUITE_P(DimensionsAndOrders, CornerForceBox, ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 3)));

TEST_P(CornerForceBox, AtRestIsUnderPressureAlone) {
    Box box(problem());
    const auto rest = box.field([](int, const double*) { return 0.0; });
    const auto [force, work, dt] = box.step(rest, box.position());
    const int d = box.shape.dimension;
    // Of the work of w = x, grad w = I: - p d V.
    const double pressure = (box.gamma - 1) * box.density * box.energy;
    EXPECT_NEAR(sum(work), -pressure * d * box.volume(box.edge), 1e-13);
    // The force on all nodes together is none.
    for (int c = 0; c < d; ++c)
        EXPECT_NEAR(std::accumulate(force.begin() + c * box.shape.nodes(), force.begin() + (c + 1) * box.shape.nodes(), 0.0), 0, 1e-13);
    // Gas at rest counts as being compressed: the whole linear viscosity is in dt.
    const double sound = std::sqrt(box.gamma * (box.gamma - 1) * box.energy);
    const double shortest = *std::min_element(box.edge.begin(), box.edge.begin() + d) / box.shape.order;
    EXPECT_NEAR(dt[0], box.cfl / (sound / shortest + 2.5 * box.linear * box.h0 * sound / (shortest * shortest)), 1e-13);
}

TEST_P(CornerForceBox, CompressedAlongAnAxisIsViscousAlongIt) {
    Box box(problem());
    box.edge[1] = 0.2;  // the second edge has been shortened
    constexpr double rate = 3;
    const auto v = box.field([&](int c, const double* xi) { return c == 1 ? -rate * box.edge[1] * xi[1] : 0; });
    const auto w = box.field([&](int c, const double* xi) { return c == 1 ? box.edge[1] * xi[1] : 0; });
    const auto [force, work, dt] = box.step(v, w);
    const double density = box.density * box.start[1] / box.edge[1];
    const double sound = std::sqrt(box.gamma * (box.gamma - 1) * box.energy);
    const double h = box.h0 * box.edge[1] / box.start[1];
    const double viscosity = 2 * density * h * h * rate + 0.5 * density * h * sound;
    const double stress = -(box.gamma - 1) * density * box.energy - viscosity * rate;
    EXPECT_NEAR(sum(work), stress * box.volume(box.edge), 1e-12);
    const double shortest = box.edge[1] / box.shape.order;
    EXPECT_NEAR(dt[0], box.cfl / (sound / shortest + 2.5 * viscosity / (density * shortest * shortest)), 1e-12);
}

TEST_P(CornerForceBox, ExpandingHasNoLinearViscosityAndColdGasNoPressure) {
    Box box(problem());
    box.energy = -1;
    const auto v = box.field([&](int c, const double* xi) { return (c + 1) * box.edge[static_cast<std::size_t>(c)] * xi[c]; });
    const auto [force, work, dt] = box.step(v, v);
    const int d = box.shape.dimension;
    const double viscosity = 2 * box.density * box.h0 * box.h0 * 1;  // of the smallest rate
    double squares = 0;
    for (int c = 0; c < d; ++c) squares += (c + 1) * (c + 1);
    EXPECT_NEAR(sum(work), viscosity * squares * box.volume(box.edge), 1e-13);
    box.quadratic = box.linear = 0;
    const auto [no_force, no_work, no_bound] = box.step(v, v);
    EXPECT_EQ(no_bound[0], std::numeric_limits<double>::max());
    EXPECT_EQ(sum(no_work), 0);
}

TEST_P(CornerForceBox, InsideOutStopsTheStep) {
    Box box(problem());
    box.edge[0] = -box.edge[0];
    const auto rest = box.field([](int, const double*) { return 0.0; });
    EXPECT_EQ(box.step(rest, rest)[2][0], 0);
}

// Energy is conserved because the work on all energies together is that of the forces: 1^T F^T w =
// w . F 1.
TEST_P(CornerForceBox, WorkOfAllEnergiesIsThatOfTheForces) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    const Problem of =
        families().parse_problem(fmt::format("corner_force dimension={} order={} zones=3", std::get<0>(GetParam()), std::get<1>(GetParam())));
    const Shape shape(of);
    const Workload workload = corner_force().workload(of, seed);
    const auto w = workload.arrays[7].values<double>();
    const auto force = workload.expected[8].values<double>();
    const auto work = workload.expected[9].values<double>();
    for (int zone = 0; zone < 3; ++zone) {
        const auto words = static_cast<std::ptrdiff_t>(shape.vector_words());
        const double done = std::inner_product(w.begin() + zone * words, w.begin() + (zone + 1) * words, force.begin() + zone * words, 0.0);
        EXPECT_NEAR(std::accumulate(work.begin() + zone * shape.energies(), work.begin() + (zone + 1) * shape.energies(), 0.0), done,
                    workload.tolerance);
    }
}

// Matrices with given eigenvalues (symmetric) or singular values, in random directions.
struct Decompositions : ::testing::Test {
    test::FreshRandom random;

    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }
    // Columns of a random rotation: Gram-Schmidt.
    std::array<double, 9> rotation(int d) {
        std::array<double, 9> q{};
        for (int j = 0; j < d; ++j) {
            double* const own = q.data() + j * d;
            for (int i = 0; i < d; ++i) own[i] = uniform(-1, 1);
            for (int pass = 0; pass < 2; ++pass)
                for (int other = 0; other < j; ++other) {
                    const double along = std::inner_product(own, own + d, q.data() + other * d, 0.0);
                    for (int i = 0; i < d; ++i) own[i] -= along * q[static_cast<std::size_t>(other * d + i)];
                }
            const double length = std::sqrt(std::inner_product(own, own + d, own, 0.0));
            if (length < 0.1) return rotation(d);
            for (int i = 0; i < d; ++i) own[i] /= length;
        }
        return q;
    }
    std::array<double, 9> matrix(const std::array<double, 3>& values, int d, bool symmetric) {
        const auto left = rotation(d);
        const auto right = symmetric ? left : rotation(d);
        std::array<double, 9> m{};
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                for (int l = 0; l < d; ++l)
                    m[static_cast<std::size_t>(i * d + j)] +=
                        left[static_cast<std::size_t>(l * d + i)] * values[static_cast<std::size_t>(l)] * right[static_cast<std::size_t>(l * d + j)];
        if (symmetric)
            for (int i = 0; i < d; ++i)
                for (int j = 0; j < i; ++j) m[static_cast<std::size_t>(i * d + j)] = m[static_cast<std::size_t>(j * d + i)];
        return m;
    }
};

TEST_F(Decompositions, OfThePlainLoopsFindWhatMatricesWereMadeFrom) {
    for (const int d : {2, 3})
        for (int i = 0; i < 200; ++i) {
            const std::array<double, 3> values{uniform(-2, -1), uniform(-0.9, 1), uniform(-0.9, 1)};
            const auto m = matrix(values, d, true);
            const corner::Eigenpair pair = corner::smallest_eigenpair(m.data(), d);
            EXPECT_NEAR(pair.value, values[0], 1e-14);
            for (int r = 0; r < d; ++r)
                EXPECT_NEAR(std::inner_product(pair.vector, pair.vector + d, m.begin() + r * d, 0.0), values[0] * pair.vector[r], 1e-14);
            const std::array<double, 3> singular{uniform(1e-9, 0.1), uniform(0.1, 1), uniform(0.1, 1)};
            EXPECT_NEAR(corner::smallest_singular_value(matrix(singular, d, false).data(), d), singular[0], 1e-15);
        }
}

// Those of form=layered, which is CUDA's alone: in the emulator.
constexpr std::string_view projectors = R"(//@ constants
using value = real;
//@ use corner_force/parts.cu/scalars
//@ use corner_force/layered_physics.cu
extern "C" __global__ void decompose(const real* __restrict__ symmetric, const real* __restrict__ any, real* __restrict__ answers, int first, int last) {
    const long long zone = first + blockIdx.x;
    if (zone >= last) return;
    const real* const a = symmetric + 9 * zone;
    const real* const b = any + 9 * zone;
    const value mean = (a[0] + a[4] + a[8]) * real(1.0 / 3);
    value left[6] = {a[0] - mean, a[4] - mean, 0, a[1], a[2], a[5]}, adjugate[3][3], direction[3], back;
    left[2] = -(left[0] + left[1]);
    for (int g = 0; g < 3; ++g)
        for (int c = 0; c < 3; ++c) {
            const int r = (c + 1) % 3, s = (c + 2) % 3, i = (g + 1) % 3, j = (g + 2) % 3;
            adjugate[g][c] = b[3 * r + i] * b[3 * s + j] - b[3 * r + j] * b[3 * s + i];
        }
    const value determinant = b[0] * adjugate[0][0] + b[1] * adjugate[1][0] + b[2] * adjugate[2][0];
    const value smallest_left = smallest_eigenpair(left, back, direction);
    answers[5 * zone] = mean + back * smallest_left;
    for (int i = 0; i < 3; ++i) answers[5 * zone + 1 + i] = direction[i];
    answers[5 * zone + 4] = inverse_singular_value(adjugate, reciprocal(determinant));
}
// Lives beside it, so that the emulator's flushing estimates serve both.
extern "C" __global__ void take_roots(const real* __restrict__ numbers, real* __restrict__ roots, int first, int last) {
    const long long i = first + blockIdx.x;
    if (i < last) roots[i] = root(numbers[i]);
}
)";

KernelSource projecting(const Problem& problem, std::vector<ArraySpec> arrays, const Block& constants, const char* entry = "decompose") {
    const bool f32 = problem.precision() == Precision::f32;
    Block all = constants;
    all.line("constexpr real smallest = {}, largest = {}, epsilon = {};", f32 ? "1e-30f" : "1e-290",
             f32 ? "3.402823466e+38f" : "1.7976931348623157e+308", f32 ? "1.1920929e-7f" : "2.220446049250313e-16");
    KernelSource source;
    source.target = Target::cuda;
    source.precision = problem.precision();
    source.entries = {entry};
    source.arrays = std::move(arrays);
    source.step.push_back({entry, {static_cast<int>(problem.integer("zones")), 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    source.text = render_text(projectors, "projectors", {{"constants", all}}, {{"f32", f32}, {"solid", true}, {"branchless", false}});
    test::roots_on_host(source.text);
    return test::emulated(source);
}

// The kernel of all parts of a zone, by either way to eigenvalues.
corner::ZoneKernel whole_zones(const Problem& problem, const std::string& decomposition) {
    const corner::Shape shape(problem);
    corner::ZoneKernel kernel(shape, Target::cpu, {corner::all_at_once(shape, "whole")});
    kernel.jacobi = decomposition == "jacobi";
    return kernel;
}

// The emitted functions, compiled alone: matrix -> eigenvalue, direction, 1 / singular value.
Family decomposing(const std::string& decomposition) {
    Family family = corner_force();
    family.arrays = [](const Problem& problem) {
        const int words = static_cast<int>(problem.integer("dimension") * problem.integer("dimension"));
        return std::vector<ArraySpec>{{"symmetric", Access::in, problem.integer("zones") * words, "", "", {words}},
                                      {"any", Access::in, problem.integer("zones") * words, "", "", {words}},
                                      {"answers", Access::out, problem.integer("zones") * 5, "", "", {5}}};
    };
    family.kernel = [decomposition, specs = family.arrays](const Problem& problem, const Config& safe, const Limits&) {
        const corner::ZoneKernel kernel = whole_zones(problem, decomposition);
        const bool f32 = problem.precision() == Precision::f32;
        Block constants = corner::shape_constants(kernel);
        if (decomposition == "projector") return projecting(problem, specs(problem), constants);
        constants.line("constexpr real smallest = {}, largest = {};", f32 ? "1e-30f" : "1e-290", f32 ? "__FLT_MAX__" : "__DBL_MAX__");
        constants.line("constexpr int lanes = {}, team = 1, sweeps = {};", safe.integer("lanes"), f32 ? 4 : 5);
        Block entry;
        entry.text("extern \"C\" void decompose(const real* symmetric, const real* any, real* answers, int first, int last) {");
        entry.text("    for (long long zone = first; zone < last; zone += lanes) {");
        entry.text("        const Place at{zone, last - zone < lanes ? static_cast<int>(last - zone) : lanes};");
        entry.text("        value a[dimension][dimension], b[dimension][dimension], adjugate[dimension][dimension], direction[dimension];");
        entry.text("        for (int i = 0; i < dimension; ++i)");
        entry.text("            for (int j = 0; j < dimension; ++j) {");
        entry.text("                a[i][j] = fetch<dimension * dimension>(symmetric, at, i * dimension + j);");
        entry.text("                b[i][j] = fetch<dimension * dimension>(any, at, i * dimension + j);");
        entry.text("            }");
        entry.text("        put<5>(answers, at, 0, smallest_eigenpair(a, direction));");
        entry.text("        for (int i = 0; i < 3; ++i) put<5>(answers, at, 1 + i, i < dimension ? direction[i % dimension] : every(0));");
        entry.text("        const value inverse = real(1) / adjugate_of(b, adjugate);");
        entry.text("        put<5>(answers, at, 4, inverse_singular_value(b, adjugate, inverse));");
        entry.text("    }");
        entry.text("}");
        KernelSource source;
        source.precision = problem.precision();
        source.entries = {"decompose"};
        source.arrays = specs(problem);
        source.step.push_back({"decompose", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
        source.text = corner::kernel_text(kernel, entry, {{"banner", {}}, {"constants", constants}, {"team", {}}});
        return source;
    };
    return family;
}

// Eigenvalues or singular values worth a look: apart, meeting twice or thrice, nearly so, none, of
// one rank.
std::vector<std::array<double, 3>> spectra() {
    std::vector<std::array<double, 3>> result{
        {1, 1, 2}, {1, 2, 2},        {3, 3, 3},         {-1, -1, 1}, {-2, 1, 1},   {0, 0, 0},     {0, 0, 1},
        {0, 1, 1}, {1, 1 + 1e-9, 2}, {1, 2, 2 + 1e-12}, {-1, 0, 1},  {1e-7, 1, 1}, {1e-13, 1, 2}, {5, 5 + 1e-7, 5 + 2e-7}};
    return result;
}

template <typename Real>
void expect_decomposed(Decompositions& test, const std::string& decomposition, int d, double scale) {
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_cpu_backend(0, cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    std::vector<std::array<double, 3>> values = spectra();
    for (int i = 0; i < 300; ++i) values.push_back({test.uniform(-1, 1), test.uniform(-1, 1), test.uniform(-1, 1)});
    const auto count = std::ssize(values);
    const bool f32 = sizeof(Real) == 4;
    const Problem problem =
        families().parse_problem(fmt::format("corner_force dimension={} order=1 precision={} zones={}", d, f32 ? "f32" : "f64", count));
    std::array<std::vector<Real>, 3> arrays;
    for (const auto& spectrum : values) {
        const auto symmetric = test.matrix(spectrum, d, true);
        const auto any = test.matrix(spectrum, d, false);
        for (int i = 0; i < d * d; ++i) {
            arrays[0].push_back(static_cast<Real>(scale * symmetric[static_cast<std::size_t>(i)]));
            arrays[1].push_back(static_cast<Real>(scale * any[static_cast<std::size_t>(i)]));
        }
    }
    arrays[2].assign(static_cast<std::size_t>(5 * count), std::numeric_limits<Real>::quiet_NaN());
    const Family family = decomposing(decomposition);
    Match match;
    match.config = family.space(problem, backend->device().limits).safe();
    const auto kernel = std::make_shared<const Kernel>(*backend, family, problem, match, backend->device().limits);
    const std::array<void*, 3> pointers{arrays[0].data(), arrays[1].data(), arrays[2].data()};
    const BoundKernel bound(kernel, pointers);
    bound.launch(0, count);
    backend->synchronise();
    const double u = std::numeric_limits<Real>::epsilon();
    for (std::ptrdiff_t m = 0; m < count; ++m) {
        SCOPED_TRACE(fmt::format("{} {}D {}: {} {} {} times {}", decomposition, d, f32 ? "f32" : "f64", values[static_cast<std::size_t>(m)][0],
                                 values[static_cast<std::size_t>(m)][1], values[static_cast<std::size_t>(m)][2], scale));
        std::array<double, 9> a{};
        std::array<double, 9> b{};
        for (int i = 0; i < d * d; ++i) {
            a[static_cast<std::size_t>(i)] = static_cast<double>(arrays[0][static_cast<std::size_t>(m * d * d + i)]) / scale;
            b[static_cast<std::size_t>(i)] = static_cast<double>(arrays[1][static_cast<std::size_t>(m * d * d + i)]) / scale;
        }
        const Real* const answer = arrays[2].data() + 5 * m;
        const double eigenvalue = static_cast<double>(answer[0]) / scale;
        const double size = std::sqrt(std::inner_product(a.begin(), a.end(), a.begin(), 0.0));
        // A backward stable method is off by the rounding of the largest entries, some dozen times.
        EXPECT_NEAR(eigenvalue, corner::smallest_eigenpair(a.data(), d).value, 40 * u * size);
        const double direction[3] = {static_cast<double>(answer[1]), static_cast<double>(answer[2]), static_cast<double>(answer[3])};
        const double length = std::sqrt(std::inner_product(direction, direction + d, direction, 0.0));
        EXPECT_GT(length, 0);
        for (int r = 0; r < d; ++r)
            EXPECT_NEAR(std::inner_product(direction, direction + d, a.begin() + r * d, 0.0) / length, eigenvalue * direction[r] / length,
                        40 * u * size);
        // By determinant and adjugate, a singular value is off by the rounding of sigma_1^2 /
        // sigma_2; by rotations, of sigma_1.
        std::vector<double> singular;
        for (int i = 0; i < d; ++i) singular.push_back(std::abs(values[static_cast<std::size_t>(m)][static_cast<std::size_t>(i)]));
        std::sort(singular.begin(), singular.end());
        const double middle = decomposition == "jacobi" || d == 2 ? singular.back() : singular[1];
        if (middle < 1e-6) continue;
        const double inverse = static_cast<double>(answer[4]) * scale;
        const double most = singular.back();
        // A determinant that rounds to zero, as by chance that of a singular matrix does, has no
        // inverse: kernels take it of positive ones alone.
        if (singular.front() == 0 && !std::isfinite(inverse)) continue;
        EXPECT_NEAR(1 / inverse, corner::smallest_singular_value(b.data(), d), 40 * u * most * most / middle);
    }
}

TEST_F(Decompositions, OfKernelsAreThoseOfThePlainLoops) {
    expect_decomposed<double>(*this, "closed", 2, 1);
    expect_decomposed<double>(*this, "closed", 3, 1);
    expect_decomposed<float>(*this, "jacobi", 3, 1);
    expect_decomposed<double>(*this, "projector", 3, 1);
    expect_decomposed<float>(*this, "projector", 3, 1);
}

// Energies far from a blast are subnormal numbers, which a GPU's estimate of an inverse root takes
// for 0: their roots must be numbers.
TEST_F(Decompositions, RootsOfSubnormalNumbersAreNone) {
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_cpu_backend(0, cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    std::vector<double> numbers{0, 5e-324, 1e-310, 2.2e-308, 3e-308, 1e-300, 1, 1e300};
    for (int i = 0; i < 20; ++i) numbers.push_back(std::exp(uniform(-700, 700)));
    std::vector<double> roots(numbers.size(), std::numeric_limits<double>::quiet_NaN());
    const auto count = std::ssize(numbers);
    const Problem problem = families().parse_problem(fmt::format("corner_force dimension=3 order=1 zones={}", count));
    Family family = corner_force();
    family.arrays = [](const Problem& of) {
        return std::vector<ArraySpec>{{"numbers", Access::in, of.integer("zones"), "", "", {1}},
                                      {"roots", Access::out, of.integer("zones"), "", "", {1}}};
    };
    family.kernel = [specs = family.arrays](const Problem& of, const Config&, const Limits&) {
        return projecting(of, specs(of), corner::shape_constants(whole_zones(of, "closed")), "take_roots");
    };
    Match match;
    match.config = family.space(problem, backend->device().limits).safe();
    const auto kernel = std::make_shared<const Kernel>(*backend, family, problem, match, backend->device().limits);
    const std::array<void*, 2> pointers{numbers.data(), roots.data()};
    BoundKernel(kernel, pointers).launch(0, count);
    backend->synchronise();
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] < std::numeric_limits<double>::min())
            EXPECT_EQ(roots[i], 0) << numbers[i];
        else
            EXPECT_NEAR(roots[i] / std::sqrt(numbers[i]), 1, 4 * std::numeric_limits<double>::epsilon()) << numbers[i];
}

struct SlowDecompositions : Decompositions {};
TEST_F(SlowDecompositions, OfTinyAndHugeMatricesAreThoseOfThePlainLoops) {
    for (const double scale : {1e-90, 1e90})
        for (const int d : {2, 3}) expect_decomposed<double>(*this, "closed", d, scale);
    for (const double scale : {1e-90, 1.0, 1e90}) expect_decomposed<double>(*this, "jacobi", 3, scale);
    for (const double scale : {1e-90, 1e90}) expect_decomposed<double>(*this, "projector", 3, scale);
    for (const double scale : {1e-10, 1.0, 1e10})
        for (const int d : {2, 3}) expect_decomposed<float>(*this, "closed", d, scale);
}

// Every form once had all tunables, also those that it did not look at.
TEST(CornerForceSpace, TranslatesConfigurationsOfFormerTimes) {
    const auto translated = [](const char* rest, const Limits& limits, std::vector<Assignment> former) {
        const Problem problem = families().parse_problem(std::string("corner_force ") + rest);
        const SearchSpace space = families().of(problem).space(problem, limits);
        const Config config = space.completed(Config(std::move(former)));
        const auto rejection = space.check(config);
        EXPECT_FALSE(rejection) << config.key() << ": " << rejection->reason;
        return config.key();
    };
    const auto cuda = [&](const char* rest, const char* form, const char* gradients, const char* decomposition, std::int64_t splits) {
        return translated(rest, cuda_limits(90),
                          {{"form", form},
                           {"gradients", gradients},
                           {"decomposition", decomposition},
                           {"zones_per_block", 2},
                           {"splits", splits},
                           {"points_per_pass", 1},
                           {"rows_per_thread", 1},
                           {"columns_per_thread", 1},
                           {"min_blocks", 2}});
    };
    const char* const solid = "dimension=3 order=2 zones=1";
    EXPECT_EQ(cuda(solid, "layered", "fused", "projector", 4),
              "form=layered,zones_per_block=2,layers=4,derivatives=staged,min_blocks=2,axis_sums=plain,point_data=loads,fetch_ahead=0");
    EXPECT_EQ(cuda(solid, "force", "stored", "jacobi", 2),
              "form=force,gradients=stored,decomposition=jacobi,zones_per_block=2,splits=2,points_per_pass=1,min_blocks=2");
    EXPECT_EQ(cuda(solid, "paper", "stored", "closed", 1),
              "form=paper,decomposition=closed,zones_per_block=2,splits=1,points_per_pass=1,rows_per_thread=1,columns_per_thread=1,min_blocks=2");
    EXPECT_EQ(cuda("result=energy dimension=2 order=2 zones=1", "separate", "fused", "closed", 1),
              "form=separate,gradients=fused,zones_per_block=2,splits=1,points_per_pass=1,min_blocks=2");
    EXPECT_EQ(
        translated("dimension=2 order=2 zones=1", cpu_limits(),
                   {{"form", "whole"}, {"decomposition", "closed"}, {"lanes", 2}, {"points_per_pass", 1}, {"threads", "all"}, {"binding", "none"}}),
        "form=whole,lanes=2,points_per_pass=1,threads=all,binding=none");
}

}  // namespace
}  // namespace hone::corner_force_test::family_test
