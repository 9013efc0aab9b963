#include "solvers/hydro/mass_solver.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "solvers/hydro/discretisation.hpp"
#include "solvers/hydro/energy_mass.hpp"
#include "solvers/hydro/fused_mass_kernels.hpp"
#include "solvers/hydro/mass_kernels.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/backend_test.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sample_record.hpp"

namespace hone::solvers::hydro::mass_solver_test {
namespace {

using Matrix = std::vector<std::vector<double>>;

// A sum of random positive definite matrices over the elements of a chain of `rows` nodes, with
// five nodes each: the structure of a mass matrix.
Matrix random_mass(int rows, std::mt19937_64& random) {
    std::uniform_real_distribution<> uniform(-1, 1);
    const auto n = static_cast<std::size_t>(rows);
    Matrix mass(n, std::vector<double>(n, 0.0));
    for (std::size_t i = 0; i < n; ++i) mass[i][i] = 0.2;
    for (std::size_t first = 0; first < n; first += 4)
        for (int rank = 0; rank < 5; ++rank) {
            std::array<double, 5> v{};
            for (double& word : v) word = uniform(random);
            for (std::size_t i = 0; i < 5 && first + i < n; ++i)
                for (std::size_t j = 0; j < 5 && first + j < n; ++j) mass[first + i][first + j] += v[i] * v[j];
        }
    return mass;
}

CsrMatrix sparse(const Matrix& dense) {
    CsrMatrix result{{0}, {}, {}};
    for (const auto& row : dense) {
        for (std::size_t column = 0; column < row.size(); ++column)
            if (row[column] != 0) result.columns.push_back(static_cast<int>(column)), result.values.push_back(row[column]);
        result.row_starts.push_back(static_cast<int>(result.columns.size()));
    }
    return result;
}

// Neighbours of a chain: large enough for several threads, and quickly solved.
CsrMatrix chain(int rows, std::mt19937_64& random) {
    std::uniform_real_distribution<> uniform(0, 1);
    CsrMatrix result{{0}, {}, {}};
    double before = 0;
    for (int row = 0; row < rows; ++row) {
        const double behind = row + 1 < rows ? -uniform(random) : 0;
        for (const auto& [column, value] : {std::pair(row - 1, before), {row, 2.2 + uniform(random)}, {row + 1, behind}})
            if (value != 0) result.columns.push_back(column), result.values.push_back(value);
        result.row_starts.push_back(static_cast<int>(result.columns.size()));
        before = behind;
    }
    return result;
}

// The textbook's loop with a dense matrix, words that are fixed left out of everything. Source: J.
// R. Shewchuk, An Introduction to the Conjugate Gradient Method Without the Agonizing Pain, 1994,
// B3.
struct PlainSolve {
    std::vector<double> x;
    int iterations = 0;
};
PlainSolve plain_cg(const Matrix& m, const std::vector<double>& b, const std::set<int>& fixed, double tolerance) {
    const std::size_t n = b.size();
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < n; ++i)
        if (!fixed.contains(static_cast<int>(i))) free.push_back(i);
    std::vector<double> r = b, p(n, 0.0), w(n, 0.0);
    PlainSolve solve{std::vector<double>(n, 0.0), 0};
    const auto weighted = [&] {
        double sum = 0;
        for (const std::size_t i : free) sum += r[i] * r[i] / m[i][i];
        return sum;
    };
    double delta = weighted();
    const double threshold = tolerance * tolerance * delta;
    double beta = 0;
    while (delta > threshold) {
        double gamma = 0;
        for (const std::size_t i : free) p[i] = r[i] / m[i][i] + beta * p[i];
        for (const std::size_t i : free) {
            w[i] = 0;
            for (const std::size_t j : free) w[i] += m[i][j] * p[j];
            gamma += p[i] * w[i];
        }
        for (const std::size_t i : free) solve.x[i] += delta / gamma * p[i], r[i] -= delta / gamma * w[i];
        const double next = weighted();
        beta = next / delta, delta = next;
        ++solve.iterations;
    }
    return solve;
}

class MassSolverTest : public test::BackendTest {
  protected:
    std::vector<double> random_words(std::size_t count) {
        std::uniform_real_distribution<> uniform(-1, 1);
        std::vector<double> words(count);
        for (double& word : words) word = uniform(random_);
        return words;
    }
    KernelLibrary& library() {
        if (!library_)
            library_ = std::make_unique<KernelLibrary>(backend(), Database(built_in_families()), built_in_families(), [](const std::string&) {});
        return *library_;
    }

    std::random_device::result_type seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    ::testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};

  private:
    std::unique_ptr<KernelLibrary> library_;
};
INSTANTIATE_TEST_SUITE_P(Cpu, MassSolverTest, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, MassSolverTest, testing::Values("cuda"));

TEST_P(MassSolverTest, TakesTheStepsOfThePlainLoopAndReachesItsSolution) {
    constexpr int rows = 601;
    constexpr double tolerance = 1e-10;
    const Matrix mass = random_mass(rows, random_);
    MassSystem system{sparse(mass), 3, {{0, 7, 600}, {}, {3}}};
    MassSolver solver(backend(), library(), system);
    std::vector<double> b = random_words(3 * rows);
    std::vector<double> x(3 * rows, std::nan(""));
    b[0] = std::numeric_limits<double>::infinity();  // a fixed word does not matter
    const MassSolve solve = solver.solve(b, x, {.tolerance = tolerance, .check_every = 5});
    EXPECT_EQ(solve.ending, MassEnding::converged);
    for (std::size_t c = 0; c < 3; ++c) {
        const auto at = [&](const std::vector<double>& words) {
            return std::vector<double>(words.begin() + static_cast<std::ptrdiff_t>(c * rows),
                                       words.begin() + static_cast<std::ptrdiff_t>((c + 1) * rows));
        };
        std::vector<double> own_b = at(b);
        if (c == 0) own_b[0] = 0;
        const PlainSolve plain = plain_cg(mass, own_b, {system.fixed[c].begin(), system.fixed[c].end()}, tolerance);
        // Roundings move the end by a step in one solve of twenty, and by two in none of 25 000.
        EXPECT_NEAR(solve.iterations[c], plain.iterations, 2) << "component " << c;
        EXPECT_GT(plain.iterations, 10);
        EXPECT_LE(solve.residuals[c], tolerance);
        const std::vector<double> own_x = at(x);
        // Diagonals lie within 0.2 and 10.2, eigenvalues above 0.2: with |b| below 25 each x errs
        // by tolerance 25 sqrt(10.2 / 0.2) / 0.2 at most.
        for (std::size_t i = 0; i < own_x.size(); ++i) EXPECT_NEAR(own_x[i], plain.x[i], 2 * tolerance * 900);
        for (const int node : system.fixed[c]) EXPECT_EQ(own_x[static_cast<std::size_t>(node)], 0);
    }
}

TEST_P(MassSolverTest, NoDigitDependsOnWhenTheHostLooksOnTheThreadsOrOnFusedUpdates) {
    constexpr int rows = 5003;
    const MassSystem system{chain(rows, random_), 2, {}};
    MassSolver solver(backend(), library(), system);
    const std::vector<double> b = random_words(2 * rows);
    std::vector<double> usual(2 * rows);
    const MassSolve first = solver.solve(b, usual, {.tolerance = 1e-9, .check_every = 1});
    ASSERT_EQ(first.ending, MassEnding::converged);
    EXPECT_GT(first.iterations[0], 8);
    const int threads = omp_get_max_threads();
    for (const int check_every : {3, 64, 150}) {
        omp_set_num_threads(check_every == 3 ? 1 : threads);
        std::vector<double> x(2 * rows);
        const MassSolve solve = solver.solve(b, x, {.tolerance = 1e-9, .check_every = check_every});
        EXPECT_EQ(x, usual) << "a look every " << check_every;
        EXPECT_EQ(solve.iterations, first.iterations);
    }
    omp_set_num_threads(threads);
    std::vector<double> x(2 * rows);
    EXPECT_EQ(solver.solve(b, x, {.tolerance = 1e-9, .updates = VectorUpdates::separate}).iterations, first.iterations);
    EXPECT_EQ(x, usual) << "residual and direction in a launch each";
    // From the second solve of the same arrays on iterations are recorded: fewer than there are,
    // and more.
    for (const int recorded : {0, 1, 3, 1000})
        for (const VectorUpdates updates : {VectorUpdates::fused, VectorUpdates::separate})
            for (int solve = 0; solve < 3; ++solve) {
                std::fill(x.begin(), x.end(), std::nan(""));
                const MassSolve again = solver.solve(b, x, {.tolerance = 1e-9, .updates = updates, .recorded = recorded});
                EXPECT_EQ(again.iterations, first.iterations);
                EXPECT_EQ(x, usual) << recorded << " iterations recorded, solve " << solve;
            }
}

// More rows than the threads of a large device keep.
class MassSolverOfManyRows : public MassSolverTest {};
INSTANTIATE_TEST_SUITE_P(Gpu, MassSolverOfManyRows, testing::Values("cuda"));

TEST_P(MassSolverOfManyRows, NoDigitDependsOnFusedUpdates) {
    for (const int rows : {200'003, 700'001}) {
        MassSolver solver(backend(), library(), {chain(rows, random_), 3, {{}, {5, rows - 1}, {}}});
        const std::vector<double> b = random_words(3 * static_cast<std::size_t>(rows));
        std::vector<double> fused(b.size()), separate(b.size());
        const MassSolve first = solver.solve(b, fused, {.tolerance = 1e-9});
        const MassSolve second = solver.solve(b, separate, {.tolerance = 1e-9, .updates = VectorUpdates::separate});
        EXPECT_EQ(first.ending, MassEnding::converged);
        EXPECT_EQ(first.iterations, second.iterations) << rows;
        EXPECT_TRUE(fused == separate) << rows;
    }
}

TEST_P(MassSolverTest, SaysHowItEnded) {
    constexpr int rows = 300;
    Matrix mass = random_mass(rows, random_);
    std::vector<double> x(2 * rows);
    const std::vector<double> b = random_words(2 * rows);
    {
        MassSolver solver(backend(), library(), {sparse(mass), 2, {}});
        const MassSolve short_of = solver.solve(b, x, {.tolerance = 1e-14, .most_iterations = 3, .check_every = 2});
        EXPECT_EQ(short_of.ending, MassEnding::too_many_iterations);
        EXPECT_EQ(short_of.executed, 3);
        EXPECT_EQ(short_of.iterations, (std::vector<int>{3, 3}));
        std::vector<double> nothing(2 * rows, 0.0);
        std::copy_n(b.begin(), rows, nothing.begin());
        const MassSolve half = solver.solve(nothing, x, {});
        EXPECT_EQ(half.ending, MassEnding::converged);
        EXPECT_EQ(half.iterations[1], 0) << "nothing to solve for";
        EXPECT_TRUE(std::all_of(x.begin() + rows, x.end(), [](double word) { return word == 0; }));
        std::vector<double> broken = b;
        broken[rows + 5] = std::nan("");
        EXPECT_EQ(solver.solve(broken, x, {}).ending, MassEnding::breakdown);
        EXPECT_EQ(solver.solve(b, x, {}).ending, MassEnding::converged) << "the next solve knows nothing of it";
    }
    for (std::size_t i = 0; i + 1 < mass.size(); ++i) mass[i][i + 1] = mass[i + 1][i] = 50;  // indefinite
    MassSolver solver(backend(), library(), {sparse(mass), 2, {}});
    EXPECT_EQ(solver.solve(b, x, {}).ending, MassEnding::breakdown);
}

TEST_P(MassSolverTest, RefusesWhatIsNoMassMatrix) {
    const auto refused = [&](const MassSystem& system) { EXPECT_THROW(MassSolver(backend(), library(), system), Error); };
    refused({{{0, 1}, {0}, {-1.0}}, 1, {}});
    refused({{{0, 1}, {1}, {1.0}}, 1, {}});
    refused({{{0, 2}, {0}, {1.0}}, 1, {}});
    refused({{{0, 1}, {0}, {1.0}}, 4, {}});
    refused({{{0, 1}, {0}, {1.0}}, 1, {{1}}});
    refused({{{0, 1}, {0}, {1.0}}, 1, {{}, {0}}});
    MassSolver solver(backend(), library(), {{{0, 1}, {0}, {2.0}}, 1, {}});
    std::vector<double> x(1);
    EXPECT_EQ(solver.solve(std::vector<double>{3}, x, {}).iterations, std::vector<int>{1});
    EXPECT_EQ(x[0], 1.5);
    EXPECT_THROW(solver.solve(std::vector<double>{3, 4}, x, {}), Error);
    EXPECT_THROW(solver.solve(std::vector<double>{3}, x, {.check_every = 0}), Error);
}

TEST(MassForms, AreNamedAndTheUsualOneFollowsFromTheElements) {
    for (const MassForm form : {MassForm::rows, MassForm::elements}) EXPECT_EQ(parse_mass_form(to_string(form)), form);
    EXPECT_THROW(parse_mass_form("columns"), Error);
    const auto usual = [](const char* name, int dimension, int order, int zones) {
        HydroProblem problem = hydro_problem(name, dimension);
        problem.box.zones = {zones, zones, dimension == 2 ? 1 : zones};
        return usual_mass_form(Discretisation(problem, order, quad_box(problem.box)).velocity_mass);
    };
    EXPECT_EQ(usual("sedov", 3, 1, 2), MassForm::rows);
    EXPECT_EQ(usual("sedov", 3, 2, 2), MassForm::elements);
    EXPECT_EQ(usual("sedov", 2, 2, 4), MassForm::rows);
    EXPECT_EQ(usual("sedov", 2, 3, 2), MassForm::elements);
    EXPECT_EQ(usual_mass_form({}), MassForm::rows) << "nothing is known of elements";
}

TEST(MassForms, TheTunedOneTakesLessTime) {
    HydroProblem problem = hydro_problem("sedov", 2);
    problem.box.zones = {4, 4, 1};
    const MassSystem system = Discretisation(problem, 2, quad_box(problem.box)).velocity_mass;
    const DeviceSide device{{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"}, cuda_limits(90)};
    const auto found = [&](double rows, double elements) {
        Database database(built_in_families());
        for (const auto& [form, seconds] : {std::pair{MassForm::rows, rows}, std::pair{MassForm::elements, elements}}) {
            if (seconds == 0) continue;
            const Problem product = product_problem(system, form);
            const std::string safe = built_in_families().of(product).space(product, device.limits).safe().key();
            Record record = test::sample_record(built_in_families(), product, safe, device.fingerprint, device.limits);
            record.step = {seconds, seconds, seconds, seconds, 40};
            database.add(record);
        }
        return tuned_mass_form(database, device, system);
    };
    EXPECT_EQ(found(2e-6, 1e-6), MassForm::elements);
    EXPECT_EQ(found(1e-6, 2e-6), MassForm::rows);
    for (const double seconds : {1e-6, 0.0}) {
        EXPECT_EQ(found(seconds, 0), usual_mass_form(system)) << "one of the two is not known";
        EXPECT_EQ(found(0, seconds), usual_mass_form(system)) << "one of the two is not known";
    }
}

// On bent and graded meshes with walls, where no two elements are alike.
TEST_P(MassSolverTest, ElementsAndRowsAreTheSameMatrix) {
    struct Mesh {
        const char* problem;
        int dimension, order;
        std::array<int, 3> zones;
    };
    const std::vector<Mesh> meshes{
        {"triple-point", 2, 1, {7, 3, 1}}, {"sedov", 2, 4, {3, 2, 1}}, {"taylor-green", 3, 2, {2, 3, 2}}, {"noh", 3, 3, {2, 1, 2}}};
    for (const Mesh& mesh : test::drawn(meshes, 2, random_)) {
        SCOPED_TRACE(mesh.problem);
        HydroProblem problem = hydro_problem(mesh.problem, mesh.dimension);
        problem.box.zones = mesh.zones;
        QuadMesh box = quad_box(problem.box);
        for (auto& vertex : box.vertices) {
            // Walls stay where they are.
            const auto inside = [&](std::size_t axis) {
                const double from_low = vertex[axis] - problem.box.low[axis], to_high = problem.box.high[axis] - vertex[axis];
                return from_low * to_high / (problem.box.high[axis] - problem.box.low[axis]);
            };
            vertex[0] += 0.2 * vertex[1] * inside(0) / (1 + vertex[1] * vertex[1]);
            if (mesh.dimension == 3) vertex[2] += 0.2 * vertex[0] * vertex[0] * inside(2) / (1 + vertex[0] * vertex[0]);
        }
        const Discretisation of(problem, mesh.order, box);
        const MassSystem& system = of.velocity_mass;
        const std::vector<double> b = random_words(of.first.velocities.size());
        std::vector<double> by_rows(b.size(), std::nan("")), by_elements = by_rows;
        const MassSettings settings{.tolerance = 1e-14, .most_iterations = 1000};
        const MassSolve rows = MassSolver(backend(), library(), system, MassForm::rows).solve(b, by_rows, settings);
        MassSolver solver(backend(), library(), system, MassForm::elements);
        EXPECT_EQ(solver.family(), "fe_mass");
        const MassSolve elements = solver.solve(b, by_elements, settings);
        EXPECT_EQ(rows.ending, MassEnding::converged);
        EXPECT_EQ(elements.ending, MassEnding::converged);
        double largest = 0;
        for (const double word : by_rows) largest = std::max(largest, std::abs(word));
        // Condition numbers with the diagonal taken out are below 1000 up to order 4.
        for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(by_elements[i], by_rows[i], 1e-11 * largest);
    }
    MassSystem system{chain(5, random_), 1, {}};
    EXPECT_THROW(MassSolver(backend(), library(), system, MassForm::elements), Error) << "nothing is known of its elements";
    system.elements = {2, 1, 2, {0, 1, 2, 3}, {1, 1, 1}};
    EXPECT_THROW(MassSolver(backend(), library(), system, MassForm::elements), Error) << "a weight is missing";
    system.elements = {2, 1, 2, {0, 1, 2, 5}, {1, 1, 1, 1}};
    EXPECT_THROW(MassSolver(backend(), library(), system, MassForm::elements), Error) << "there is no such node";
}

TEST_P(MassSolverTest, BlockInverseInverts) {
    for (const int n : {1, 8, 27}) {
        const int zones = n == 8 ? 41 : 3;
        const auto size = static_cast<std::size_t>(n);
        std::vector<double> blocks;
        std::vector<double> b, expected = random_words(size * static_cast<std::size_t>(zones));
        for (std::size_t zone = 0; zone < static_cast<std::size_t>(zones); ++zone) {
            const Matrix block = random_mass(n, random_);
            for (std::size_t i = 0; i < size; ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < size; ++j) blocks.push_back(block[i][j]), sum += block[i][j] * expected[zone * size + j];
                b.push_back(sum);
            }
        }
        const BlockInverse inverse(backend(), library(), n, blocks);
        EXPECT_EQ(inverse.zones(), zones);
        const auto bytes = static_cast<std::int64_t>(b.size() * sizeof(double));
        const DeviceArray on_device(backend(), bytes), result(backend(), bytes);
        backend().copy(on_device.data(), b.data(), bytes);
        inverse.apply(on_device.data(), result.data());
        std::vector<double> x(b.size());
        backend().copy(x.data(), result.data(), bytes);
        backend().synchronise();
        // Condition numbers are below 100, and a hundred roundings beside.
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e4 * std::numeric_limits<double>::epsilon()) << "n = " << n;
        blocks.back() = -1;
        EXPECT_THROW(BlockInverse(backend(), library(), n, blocks), Error);
        if (n == 1) continue;
        blocks.pop_back();
        EXPECT_THROW(BlockInverse(backend(), library(), n, blocks), Error);
    }
}

// The text for the GPU, run on the processor: the same digits.
TEST(MassKernelsTest, BothTargetsGiveTheSameDigits) {
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    if (!test::rounds_once()) GTEST_SKIP() << "this processor rounds products and sums apart, a GPU together";
    constexpr int components = 2, rows = 521;
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::vector<std::vector<double>> answers;
    for (const Target target : {Target::cpu, Target::cuda}) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<> uniform(0.5, 1);
        const auto vector = [&](std::size_t count) {
            std::vector<double> words(count);
            for (double& word : words) word = uniform(random);
            return words;
        };
        KernelSource source = MassKernels::source(target, components, rows);
        if (target == Target::cuda) source = test::emulated(source);
        const MassKernels kernels(*backend, source, rows);
        const std::vector<double> b = vector(components * rows), q = vector(rows), w = vector(components * rows);
        std::vector<std::int32_t> held(rows, 0);
        for (std::size_t row = 0; row < rows; row += 5) held[row] = row % 2 == 0 ? 1 : 3;
        const std::vector<double> dot{0.7, 1.3};
        std::vector<double> x(b.size(), std::nan("")), r = x, p = x, scalars(components * MassKernels::words, 0.0);
        std::vector<double> sums(static_cast<std::size_t>(MassKernels::sum_words(components, rows)), std::nan(""));
        scalars[MassKernels::tolerance] = 1e-6, scalars[MassKernels::words + MassKernels::tolerance] = 2;  // the second has converged at once
        const MassKernels::Arrays arrays{b.data(), q.data(), held.data(), w.data(),    dot.data(),
                                         x.data(), r.data(), p.data(),    sums.data(), scalars.data()};
        kernels.start(arrays);
        EXPECT_EQ(scalars[MassKernels::active], 1);
        EXPECT_EQ(scalars[MassKernels::words + MassKernels::active], 0);
        kernels.update(arrays);
        kernels.direction(arrays);
        EXPECT_NE(x[1], 0);
        EXPECT_EQ(x[0], 0) << "held there";
        EXPECT_EQ(x[rows + 1], 0) << "it takes no step";
        std::vector<double> all = x;
        for (const auto* more : {&r, &p, &sums, &scalars}) all.insert(all.end(), more->begin(), more->end());
        answers.push_back(all);
    }
    EXPECT_EQ(answers[0], answers[1]);
}

// An iteration's vectors and scalars, on the host.
struct Vectors {
    std::vector<double> b, q, x, r, p, w, dot, sums, scalars;
    std::vector<std::int32_t> held;

    MassKernels::Arrays arrays() {
        return {b.data(), q.data(), held.data(), w.data(), dot.data(), x.data(), r.data(), p.data(), sums.data(), scalars.data()};
    }
};

// The texts for the GPU, run on the processor: the digits of the product, the residual and the
// direction by themselves.
class FusedMassKernelsTest : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
        if (!test::rounds_once()) GTEST_SKIP() << "this processor rounds products and sums apart, a GPU together";
    }

    Vectors random_start(const MassSystem& system) {
        const auto rows = static_cast<std::size_t>(system.matrix.rows()), components = static_cast<std::size_t>(system.components);
        std::uniform_real_distribution<> uniform(-1, 1);
        Vectors of;
        of.b.resize(components * rows);
        for (double& word : of.b) word = uniform(random_);
        of.q = inverse_diagonal(system), of.held = held_components(system);
        of.x = of.r = of.p = of.w = std::vector<double>(of.b.size(), std::nan(""));
        of.dot.assign(components, std::nan(""));
        of.sums.assign(static_cast<std::size_t>(MassKernels::sum_words(system.components, system.matrix.rows())), std::nan(""));
        of.scalars.assign(components * MassKernels::words, 0.0);
        // The last component has converged at once.
        for (std::size_t c = 0; c < components; ++c) of.scalars[c * MassKernels::words + MassKernels::tolerance] = c + 1 < components ? 1e-20 : 2;
        return of;
    }

    void expect_same_digits(const MassSystem& system, MassForm form, int few_rows) {
        const int rows = system.matrix.rows(), components = system.components;
        SCOPED_TRACE(fmt::format("seed {}, by {}, {} rows, {}", seed_, to_string(form), rows, few_rows));
        const bool by_elements = form == MassForm::elements;
        KernelLibrary library(*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {});
        const Problem problem = product_problem(system, form);
        const std::vector<DeviceArray> matrix = product_arrays(*backend_, system, form);
        Vectors separate = random_start(system), fused = separate;
        const auto bound = [&](Vectors& of) {
            std::vector<void*> arrays;
            arrays.reserve(matrix.size() + 3);
            for (const DeviceArray& array : matrix) arrays.push_back(array.data());
            arrays.insert(arrays.end(), {of.p.data(), of.w.data(), of.dot.data()});
            return BoundKernel(library.kernel(problem), arrays);
        };
        const MassKernels kernels(*backend_, components, rows);
        kernels.start(separate.arrays()), kernels.start(fused.arrays());

        // One block, since the emulator has them one after another.
        Limits limits = cuda_limits(90);
        limits.multiprocessors = 1;
        const Family& family = built_in_families().of(problem);
        FusedMassKernels::Product product{family.kernel(problem, family.space(problem, limits).safe(), limits), {}};
        for (const DeviceArray& array : matrix) product.matrix.push_back(array.data());
        const KernelSource source = FusedMassKernels::source(limits, components, rows, by_elements ? &product.source : nullptr, few_rows);
        const FusedMassKernels together(*backend_, test::emulated(source), rows, by_elements ? &product : nullptr, test::emulated(product.source));
        const BoundKernel of_separate = bound(separate), of_fused = bound(fused);
        for (int iteration = 1; iteration <= 3; ++iteration) {
            of_separate.launch();
            kernels.update(separate.arrays()), kernels.direction(separate.arrays());
            if (!by_elements) of_fused.launch();
            together.iterate(fused.arrays());
            EXPECT_TRUE(fused.x == separate.x) << iteration;
            EXPECT_TRUE(fused.r == separate.r) << iteration;
            EXPECT_TRUE(fused.p == separate.p) << iteration;
            EXPECT_TRUE(fused.scalars == separate.scalars) << iteration;
            EXPECT_EQ(fused.scalars[MassKernels::iterations], components > 1 ? iteration : 0);
        }
    }

    MassSystem system_of(const char* name, int dimension, int order, std::array<int, 3> zones) {
        HydroProblem problem = hydro_problem(name, dimension);
        problem.box.zones = zones;
        return Discretisation(problem, order, quad_box(problem.box)).velocity_mass;
    }

    std::random_device::result_type seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_backend("cpu", cache_);
};

TEST_F(FusedMassKernelsTest, HaveTheDigitsOfSeparateOnesByElements) {
    expect_same_digits(system_of("taylor-green", 3, 2, {2, 3, 2}), MassForm::elements, 65536);
}

// More rows than the block's threads keep.
TEST_F(FusedMassKernelsTest, HaveTheDigitsOfSeparateOnesOnLargeMeshes) {
    expect_same_digits(system_of("sedov", 2, 4, {13, 12, 1}), test::drawn(std::vector{MassForm::elements, MassForm::rows}, 1, random_).front(), 0);
}

TEST_F(FusedMassKernelsTest, HaveTheDigitsOfSeparateOnesByRows) {
    expect_same_digits(system_of("triple-point", 2, 2, {7, 3, 1}), MassForm::rows, 65536);
}

// What a rank multiplies with: others' rows are there, and nobody reads their products.
TEST_F(FusedMassKernelsTest, ProductsOfTheFirstRowsAreThoseOfAll) {
    const MassSystem system = system_of("taylor-green", 3, 2, {2, 3, 4});
    const auto rows = static_cast<std::size_t>(system.matrix.rows()), components = static_cast<std::size_t>(system.components);
    const std::size_t some = std::uniform_int_distribution<std::size_t>(1, rows - 1)(random_);
    SCOPED_TRACE(fmt::format("seed {}, {} of {} rows", seed_, some, rows));
    KernelLibrary library(*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {});
    std::vector<double> x = random_start(system).b;
    const auto product = [&](std::optional<int> of_rows) {
        std::vector<double> y(x.size(), std::nan("")), dot(components);
        const std::vector<DeviceArray> matrix = product_arrays(*backend_, system, MassForm::elements, of_rows);
        std::vector<void*> arrays(matrix.size());
        std::transform(matrix.begin(), matrix.end(), arrays.begin(), [](const DeviceArray& array) { return array.data(); });
        arrays.insert(arrays.end(), {x.data(), y.data(), dot.data()});
        BoundKernel(library.kernel(product_problem(system, MassForm::elements)), arrays).launch();
        return y;
    };
    const std::vector<double> all = product({}), first = product(static_cast<int>(some));
    std::vector<double> expected = all;
    for (std::size_t c = 0; c < components; ++c)
        std::fill(expected.begin() + static_cast<std::ptrdiff_t>(c * rows + some), expected.begin() + static_cast<std::ptrdiff_t>((c + 1) * rows),
                  0.0);
    EXPECT_NE(all, expected);
    EXPECT_EQ(first, expected);
}

// Blocks of two programs that share a GPU could wait for each other's room, also where the driver
// launches those of each together.
TEST(FusedMassKernels, AreLaunchedTogetherWhereProcessesShareADeviceAndNotAtAllWhereOthersAreThere) {
    std::mt19937_64 random(7);
    const MassSystem system{chain(500, random), 2, {}};
    for (const auto& [shared, clients] : {std::pair(false, 1), {true, 1}, {true, 2}}) {
        test::FakeMachine machine;
        machine.state().mps = shared;
        machine.nvml().clients = clients;
        const auto backend = machine.backend();
        KernelLibrary library(*backend, Database(built_in_families()), built_in_families(), [](const std::string&) {});
        MassSolver solver(*backend, library, system);
        const DeviceArray b(*backend, 1000 * sizeof(double)), x(*backend, 1000 * sizeof(double));
        solver.solve(b.data(), x.data(), {});
        const auto& calls = machine.state().calls;
        EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuLaunchCooperativeKernel") > 0, shared && clients == 1);
        const auto launches = [&](const char* entry) {
            const auto& all = machine.state().launches;
            return std::count_if(all.begin(), all.end(), [&](const test::FakeLaunch& launch) { return launch.entry == entry; });
        };
        EXPECT_EQ(launches("iterate"), clients == 1 ? 2 : 0);
    }
}

// By its own compiler.
TEST_F(FusedMassKernelsTest, CompileForGpus) {
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Problem problem = product_problem(system_of("sedov", 3, 2, {2, 2, 2}), MassForm::elements);
    const Family& family = built_in_families().of(problem);
    const Limits limits = cuda_limits(90);
    const KernelSource product = family.kernel(problem, family.space(problem, limits).safe(), limits);
    for (const KernelSource& source : {FusedMassKernels::source(limits, 3, 274625, &product), FusedMassKernels::source(limits, 2, 4225, nullptr)}) {
        const CompileOutcome outcome = nvrtc->compile(source);
        EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
    }
}

}  // namespace
}  // namespace hone::solvers::hydro::mass_solver_test
