#include "solvers/hydro/point_physics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr int most_sweeps = 30;  // about six are enough in three dimensions

// Tangent of the angle that makes (pp, pq; pq, qq) diagonal, the smaller one.
double rotation_tangent(double pp, double qq, double pq) {
    const double theta = (qq - pp) / (2 * pq);
    return (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(1 + theta * theta));
}

template <std::size_t d>
double determinant(const Matrix<d>& m) {
    if constexpr (d == 2)
        return m[0][0] * m[1][1] - m[0][1] * m[1][0];
    else
        return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// Determinant times inverse.
template <std::size_t d>
Matrix<d> adjugate(const Matrix<d>& m) {
    Matrix<d> result;
    if constexpr (d == 2) {
        result = {{{m[1][1], -m[0][1]}, {-m[1][0], m[0][0]}}};
    } else {
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = 0; j < d; ++j) {
                const std::size_t a = (i + 1) % d;
                const std::size_t b = (i + 2) % d;
                const std::size_t e = (j + 1) % d;
                const std::size_t f = (j + 2) % d;
                result[j][i] = m[a][e] * m[b][f] - m[a][f] * m[b][e];
            }
    }
    return result;
}

template <std::size_t d>
Matrix<d> product(const Matrix<d>& a, const Matrix<d>& b) {
    Matrix<d> result{};
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t k = 0; k < d; ++k) result[i][j] += a[i][k] * b[k][j];
    return result;
}

template <std::size_t d>
std::array<double, d> product(const Matrix<d>& a, const std::array<double, d>& x) {
    std::array<double, d> result{};
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t k = 0; k < d; ++k) result[i] += a[i][k] * x[k];
    return result;
}

template <std::size_t d>
double length(const std::array<double, d>& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

template <std::size_t d>
Matrix<d> scaled(Matrix<d> matrix, double factor) {
    for (auto& row : matrix)
        for (double& value : row) value *= factor;
    return matrix;
}

// 0 below, 1 above, with a continuous slope, over what counts as no compression and no expansion.
double expansion_step(double mu) {
    constexpr double epsilon = 1e-12;
    const double y = (mu - epsilon) / (2 * epsilon);
    if (y < 0) return 0;
    if (y > 1) return 1;
    return (3 - 2 * y) * y * y;
}

}  // namespace

template <std::size_t d>
Smallest<d> smallest_eigenpair(Matrix<d> a) {
    Matrix<d> v{};
    for (std::size_t i = 0; i < d; ++i) v[i][i] = 1;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        bool turned = false;
        for (std::size_t p = 0; p < d; ++p)
            for (std::size_t q = p + 1; q < d; ++q) {
                if (std::abs(a[p][q]) <= 0x1p-60 * (std::abs(a[p][p]) + std::abs(a[q][q]))) continue;
                turned = true;
                const double t = rotation_tangent(a[p][p], a[q][q], a[p][q]);
                const double c = 1 / std::sqrt(1 + t * t);
                const double s = t * c;
                const double change = t * a[p][q];
                a[p][p] -= change;
                a[q][q] += change;
                a[p][q] = a[q][p] = 0;
                for (std::size_t r = 0; r < d; ++r) {
                    const double vp = v[r][p];
                    v[r][p] = c * vp - s * v[r][q];
                    v[r][q] = s * vp + c * v[r][q];
                    if (r == p || r == q) continue;
                    const double rp = a[r][p];
                    a[r][p] = a[p][r] = c * rp - s * a[r][q];
                    a[r][q] = a[q][r] = s * rp + c * a[r][q];
                }
            }
        if (!turned) break;
    }
    std::size_t least = 0;
    for (std::size_t i = 1; i < d; ++i)
        if (a[i][i] < a[least][least]) least = i;
    Smallest<d> result{a[least][least], {}};
    for (std::size_t r = 0; r < d; ++r) result.vector[r] = v[r][least];
    return result;
}

template <std::size_t d>
double smallest_singular_value(Matrix<d> a) {
    std::array<double, d> square{};
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        bool turned = false;
        for (std::size_t p = 0; p < d; ++p)
            for (std::size_t q = p + 1; q < d; ++q) {
                double pp = 0;
                double qq = 0;
                double pq = 0;
                for (std::size_t r = 0; r < d; ++r) {
                    pp += a[r][p] * a[r][p];
                    qq += a[r][q] * a[r][q];
                    pq += a[r][p] * a[r][q];
                }
                square[p] = pp;
                square[q] = qq;
                if (!(std::abs(pq) > 0x1p-51 * std::sqrt(pp * qq))) continue;
                turned = true;
                const double t = rotation_tangent(pp, qq, pq);
                const double c = 1 / std::sqrt(1 + t * t);
                const double s = t * c;
                for (std::size_t r = 0; r < d; ++r) {
                    const double rp = a[r][p];
                    a[r][p] = c * rp - s * a[r][q];
                    a[r][q] = s * rp + c * a[r][q];
                }
            }
        if (!turned) break;
    }
    return std::sqrt(*std::min_element(square.begin(), square.end()));
}

template <std::size_t d>
PointStress<d> stress_at(const PointState<d>& point, const PointRules& rules) {
    const double size = determinant(point.jacobian);
    const Matrix<d> inverse = scaled(adjugate(point.jacobian), 1 / size);
    const double density = point.mass / (point.weight * size);
    const double energy = std::max(point.energy, 0.0);
    const double pressure = (point.gamma - 1) * density * energy;
    const double sound = std::sqrt(point.gamma * (point.gamma - 1) * energy);
    Matrix<d> stress{};
    for (std::size_t i = 0; i < d; ++i) stress[i][i] = -pressure;
    double viscosity = 0;
    if (rules.viscosity) {
        const Matrix<d> gradient = product(point.velocity, inverse);
        Matrix<d> symmetric;
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = 0; j < d; ++j) symmetric[i][j] = (gradient[i][j] + gradient[j][i]) / 2;
        const Smallest<d> compression = smallest_eigenpair(symmetric);
        const Matrix<d> first_inverse = scaled(adjugate(point.first_jacobian), 1 / determinant(point.first_jacobian));
        const double h = rules.first_length * length(product(product(point.jacobian, first_inverse), compression.vector));
        viscosity = 2 * density * h * h * std::abs(compression.value) + 0.5 * density * h * sound * (1 - expansion_step(compression.value));
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = 0; j < d; ++j) stress[i][j] += viscosity * symmetric[i][j];
    }
    PointStress<d> result{{}, 0};
    if (size > 0) {
        const double h = smallest_singular_value(point.jacobian) / rules.order;
        const double rate = sound / h + 2.5 * viscosity / (density * h * h);
        result.step = rate > 0 ? rules.cfl / rate : std::numeric_limits<double>::infinity();
    }
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t k = 0; k < d; ++k) result.force[i][j] += point.weight * size * stress[i][k] * inverse[j][k];
    return result;
}

template Smallest<2> smallest_eigenpair(Matrix<2>);
template Smallest<3> smallest_eigenpair(Matrix<3>);
template double smallest_singular_value(Matrix<2>);
template double smallest_singular_value(Matrix<3>);
template PointStress<2> stress_at(const PointState<2>&, const PointRules&);
template PointStress<3> stress_at(const PointState<3>&, const PointRules&);

}  // namespace hone::inline v0_1::solvers::hydro
