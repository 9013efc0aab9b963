#include "solvers/hydro/point_physics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace hone::solvers::hydro::point_physics_test {
namespace {

constexpr double unit = 0x1p-53;

template <std::size_t d>
Matrix<d> random_matrix(std::mt19937_64& random) {
    std::uniform_real_distribution<> uniform(-1, 1);
    Matrix<d> matrix;
    for (auto& row : matrix)
        for (double& value : row) value = uniform(random);
    return matrix;
}

// Q of a random matrix, by Gram and Schmidt's process done twice.
template <std::size_t d>
Matrix<d> random_rotation(std::mt19937_64& random) {
    Matrix<d> q = random_matrix<d>(random);
    for (int pass = 0; pass < 3; ++pass)
        for (std::size_t i = 0; i < d; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                double dot = 0;
                for (std::size_t k = 0; k < d; ++k) dot += q[i][k] * q[j][k];
                for (std::size_t k = 0; k < d; ++k) q[i][k] -= dot * q[j][k];
            }
            double square = 0;
            for (const double value : q[i]) square += value * value;
            for (double& value : q[i]) value /= std::sqrt(square);
        }
    return q;
}

// left' diag(values) right.
template <std::size_t d>
Matrix<d> composed(const Matrix<d>& left, const std::array<double, d>& values, const Matrix<d>& right) {
    Matrix<d> result{};
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t k = 0; k < d; ++k) result[i][j] += left[k][i] * values[k] * right[k][j];
    return result;
}

template <std::size_t d>
std::array<double, d> random_values(std::mt19937_64& random, int kind) {
    std::uniform_real_distribution<> uniform(0.1, 1);
    std::array<double, d> values;
    for (double& value : values) value = uniform(random);
    if (kind == 1) values[1] = values[0];
    if (kind == 2) values.fill(values[0]);
    if (kind == 3) values[0] = 1e-9 * values[0];
    if (kind == 4)
        for (double& value : values) value *= 1e-150;
    return values;
}

template <std::size_t d>
void check_smallest_values() {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (int i = 0; i < 500; ++i) {
        const auto values = random_values<d>(random, i % 5);
        const double least = *std::min_element(values.begin(), values.end());
        const double most = *std::max_element(values.begin(), values.end());
        const Matrix<d> q = random_rotation<d>(random);
        Matrix<d> symmetric = composed(q, values, q);
        for (std::size_t r = 0; r < d; ++r)
            for (std::size_t c = 0; c < r; ++c) symmetric[r][c] = symmetric[c][r];
        const Smallest<d> found = smallest_eigenpair(symmetric);
        EXPECT_NEAR(found.value, least, 50 * unit * most) << "kind " << i % 5 << " seed " << seed;
        double square = 0;
        for (std::size_t r = 0; r < d; ++r) {
            double image = 0;
            for (std::size_t c = 0; c < d; ++c) image += symmetric[r][c] * found.vector[c];
            EXPECT_NEAR(image, found.value * found.vector[r], 50 * unit * most) << "kind " << i % 5 << " seed " << seed;
            square += found.vector[r] * found.vector[r];
        }
        // Each of some 18 rotations changes the length's square by 4 roundings at most.
        EXPECT_NEAR(square, 1, 100 * unit) << "kind " << i % 5 << " seed " << seed;
        const Matrix<d> any = composed(random_rotation<d>(random), values, q);
        EXPECT_NEAR(smallest_singular_value(any), least, 50 * unit * most) << "kind " << i % 5 << " seed " << seed;
    }
}

TEST(HydroPoint, SmallestEigenpairsAndSingularValues) {
    check_smallest_values<2>();
    check_smallest_values<3>();
}

TEST(HydroPoint, NothingMovesNothing) {
    EXPECT_EQ(smallest_eigenpair(Matrix<3>{}).value, 0);
    EXPECT_EQ(smallest_singular_value(Matrix<3>{}), 0);
    EXPECT_EQ(smallest_singular_value(Matrix<2>{{{1, 2}, {2, 4}}}), 0);
}

// A gas that is squeezed along one direction of a turned and stretched zone: every number by hand.
TEST(HydroPoint, StressOfSimpleCompression) {
    PointState<2> point{{{{2, 0}, {0, 0.5}}}, {{{1, 0}, {0, 1}}}, {{{-2, 0}, {0, 0}}}, 3, 0.25, 0.25, 1.4};
    const PointRules rules{true, 0.1, 2, 0.5};
    // |J| = 1, density 1, pressure 1.2, grad v = diag(-1, 0): h = 0.1 * 2.
    const double sound = std::sqrt(1.4 * 0.4 * 3);
    const double viscosity = 2 * 0.04 * 1 + 0.5 * 0.2 * sound;
    const PointStress<2> found = stress_at(point, rules);
    EXPECT_NEAR(found.force[0][0], 0.25 * (-1.2 - viscosity) / 2, 1e-15);
    EXPECT_NEAR(found.force[1][1], 0.25 * -1.2 / 0.5, 1e-15);
    EXPECT_EQ(found.force[0][1], 0);
    EXPECT_NEAR(found.step, 0.5 / (sound / 0.25 + 2.5 * viscosity / 0.0625), 1e-15);
    point.jacobian[0][0] = -2;
    EXPECT_EQ(stress_at(point, rules).step, 0) << "tangled";
    point.jacobian[0][0] = 2;
    point.energy = -1;
    point.velocity = {};
    EXPECT_EQ(stress_at(point, rules).step, std::numeric_limits<double>::infinity()) << "nothing limits gas that is cold and at rest";
}

}  // namespace
}  // namespace hone::solvers::hydro::point_physics_test
