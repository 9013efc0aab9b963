#include "generator/families/corner_force/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "foundation/caught.hpp"

namespace hone::inline v0_1::corner {
namespace {

using Square = std::array<double, 9>;  // d x d, row by row
using Index = std::array<int, 3>;

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

Index index_of(int i, int along) {
    return {i % along, i / along % along, i / (along * along)};
}

double dot(const double* a, const double* b, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
}

double determinant(const Square& m, int d) {
    if (d == 2) return m[0] * m[3] - m[1] * m[2];
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

Square inverse(const Square& m, int d) {
    const double det = determinant(m, d);
    if (d == 2) return {m[3] / det, -m[1] / det, -m[2] / det, m[0] / det};
    Square result{};
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            const int r1 = (c + 1) % 3;
            const int r2 = (c + 2) % 3;
            const int c1 = (r + 1) % 3;
            const int c2 = (r + 2) % 3;
            result[at(3 * r + c)] = (m[at(3 * r1 + c1)] * m[at(3 * r2 + c2)] - m[at(3 * r1 + c2)] * m[at(3 * r2 + c1)]) / det;
        }
    return result;
}

Square product(const Square& a, const Square& b, int d) {
    Square result{};
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            for (int l = 0; l < d; ++l) result[at(i * d + j)] += a[at(i * d + l)] * b[at(l * d + j)];
    return result;
}

double norm(const Square& a, int d) {
    return std::sqrt(dot(a.data(), a.data(), d * d));
}

// 0 for x below -eps, 1 above eps, a cubic between.
double smooth_step(double x, double eps) {
    const double y = std::clamp((x + eps) / (2 * eps), 0.0, 1.0);
    return (3 - 2 * y) * y * y;
}

double basis_gradient(const TensorElement& element, const Index& point, const Index& node, int axis, int d) {
    double value = 1;
    for (int a = 0; a < d; ++a) value *= (a == axis ? element.slope : element.basis)(point[at(a)], node[at(a)]);
    return value;
}

double bernstein(const TensorElement& element, const Index& point, const Index& coefficient, int d) {
    double value = 1;
    for (int a = 0; a < d; ++a) value *= element.bernstein(point[at(a)], coefficient[at(a)]);
    return value;
}

double weight(const TensorElement& element, const Index& point, int d) {
    double value = 1;
    for (int a = 0; a < d; ++a) value *= element.weights[at(point[at(a)])];
    return value;
}

// d field_c / d xi_g at a point, with the largest of the sums of absolute values behind them.
struct Gradient {
    Square value{};
    double magnitude = 0;
};

template <typename Real>
Gradient gradient(const Shape& shape, const Real* field, int q) {
    const int d = shape.dimension;
    const Index point = index_of(q, shape.points_along);
    Gradient result;
    Square magnitude{};
    for (int i = 0; i < shape.nodes(); ++i)
        for (int g = 0; g < d; ++g) {
            const double slope = basis_gradient(shape.element(), point, index_of(i, shape.nodes_along), g, d);
            for (int c = 0; c < d; ++c) {
                const double term = static_cast<double>(field[c * shape.nodes() + i]) * slope;
                result.value[at(c * d + g)] += term;
                magnitude[at(c * d + g)] += std::abs(term);
            }
        }
    result.magnitude = *std::max_element(magnitude.begin(), magnitude.end());
    return result;
}

// What a point's physics comes to.
struct Physics {
    Square stress{};  // w |J| sigma J^-T
    double rate = 0;  // 1 / dt, without cfl
    bool inverted = false;
    double sensitivity = 1;
};

struct PointInput {
    Gradient position;
    Gradient velocity;  // along the reference axes
    Square initial_inverse{};
    double energy, mass, gamma, weight, h0, quadratic, linear;
};

// "Physics at a point" of the specification, line by line.
Physics physics(const PointInput& in, int d, int order) {
    const Square& jacobian = in.position.value;
    const double det = determinant(jacobian, d);
    const Square jacobian_inverse = inverse(jacobian, d);
    const Square gradient = product(in.velocity.value, jacobian_inverse, d);
    Square symmetric{};
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) symmetric[at(i * d + j)] = (gradient[at(i * d + j)] + gradient[at(j * d + i)]) / 2;
    const Eigenpair compression = smallest_eigenpair(symmetric.data(), d);
    const double mu = compression.value;
    const Square stretch = product(jacobian, in.initial_inverse, d);
    double length = 0;
    for (int i = 0; i < d; ++i) length += std::pow(dot(stretch.data() + at(i * d), compression.vector, d), 2);
    const double h = in.h0 * std::sqrt(length) / std::sqrt(dot(compression.vector, compression.vector, d));
    const double rho = in.mass / (in.weight * det);
    const double energy = std::max(in.energy, 0.0);
    const double pressure = (in.gamma - 1) * rho * energy;
    const double sound = std::sqrt(in.gamma * (in.gamma - 1) * energy);
    constexpr double eps = 1e-12;
    const double viscosity = in.quadratic * rho * h * h * std::abs(mu) + in.linear * rho * h * sound * (1 - smooth_step(mu - 2 * eps, eps));
    Square sigma{};
    for (int i = 0; i < d * d; ++i) sigma[at(i)] = viscosity * symmetric[at(i)] - (i % (d + 1) == 0 ? pressure : 0);
    Physics result;
    for (int c = 0; c < d; ++c)
        for (int g = 0; g < d; ++g) {
            double sum = 0;
            for (int j = 0; j < d; ++j) sum += sigma[at(c * d + j)] * jacobian_inverse[at(g * d + j)];
            result.stress[at(c * d + g)] = in.weight * det * sum;
        }
    const double shortest = smallest_singular_value(jacobian.data(), d);
    const double h_min = shortest / order;
    result.rate = sound / h_min + 2.5 * viscosity / (rho * h_min * h_min);
    result.inverted = !(det > 0);
    // A change of J by a part of its size changes J^-1 by the condition number times as much, and
    // an eigenvector by the change over the gap.
    const double strain = in.velocity.magnitude / shortest;
    result.sensitivity = in.position.magnitude / shortest * (1 + norm(gradient, d) / compression.gap) + strain / compression.gap;
    return result;
}

template <typename Real>
double energy_at(const Shape& shape, const Real* e, int q) {
    double sum = 0;
    for (int j = 0; j < shape.energies(); ++j)
        sum += static_cast<double>(e[j]) *
               bernstein(shape.element(), index_of(q, shape.points_along), index_of(j, shape.energies_along), shape.dimension);
    return sum;
}

template <typename Real>
void stress_of_zone(const Shape& shape, const Data<Real>& data, std::int64_t zone, ZoneAnswer& answer) {
    const int d = shape.dimension;
    const int points = shape.points();
    double rate = 0;
    bool inverted = false;
    for (int q = 0; q < points; ++q) {
        PointInput in;
        in.position = gradient(shape, data.x + zone * shape.vector_words(), q);
        in.velocity = gradient(shape, data.v + zone * shape.vector_words(), q);
        for (int i = 0; i < d * d; ++i)
            in.initial_inverse[at(i)] = static_cast<double>(data.initial_inverse[zone * shape.stress_words() + i * points + q]);
        in.energy = energy_at(shape, data.e + zone * shape.energies(), q);
        in.mass = static_cast<double>(data.mass[zone * points + q]);
        in.gamma = static_cast<double>(data.gamma[zone]);
        in.weight = weight(shape.element(), index_of(q, shape.points_along), d);
        in.h0 = static_cast<double>(data.settings[0]);
        in.quadratic = static_cast<double>(data.settings[2]);
        in.linear = static_cast<double>(data.settings[3]);
        const Physics point = physics(in, d, shape.order);
        for (int i = 0; i < d * d; ++i) answer.stress[at(i * points + q)] = point.stress[at(i)];
        rate = std::max(rate, point.rate);
        inverted = inverted || point.inverted;
        answer.sensitivity = std::max(answer.sensitivity, point.sensitivity);
    }
    const auto cfl = static_cast<double>(data.settings[1]);
    const auto largest = static_cast<double>(std::numeric_limits<Real>::max());
    answer.dt = inverted ? 0 : rate > 0 ? std::min(cfl / rate, largest) : largest;
}

// F . 1 and, where it is the result, F itself.
void corner_of_zone(const Shape& shape, ZoneAnswer& answer) {
    const int d = shape.dimension;
    const int points = shape.points();
    const int energies = shape.keeps_corner() ? shape.energies() : 0;
    std::vector<double> energy_basis;  // [points][energies]
    for (int q = 0; q < points; ++q)
        for (int j = 0; j < energies; ++j)
            energy_basis.push_back(bernstein(shape.element(), index_of(q, shape.points_along), index_of(j, shape.energies_along), d));
    answer.force.assign(at(shape.vector_words()), 0.0);
    if (shape.keeps_corner()) answer.corner.assign(at(shape.corner_words()), 0.0);
    std::vector<double> row_of_corner(at(energies));
    for (int i = 0; i < shape.nodes(); ++i)
        for (int c = 0; c < d; ++c) {
            const int row = c * shape.nodes() + i;
            double magnitude = 0;
            std::fill(row_of_corner.begin(), row_of_corner.end(), 0.0);
            for (int q = 0; q < points; ++q) {
                const Index point = index_of(q, shape.points_along);
                double force = 0;
                for (int g = 0; g < d; ++g) {
                    const double term =
                        answer.stress[at((c * d + g) * points + q)] * basis_gradient(shape.element(), point, index_of(i, shape.nodes_along), g, d);
                    force += term;
                    magnitude += std::abs(term);
                }
                answer.force[at(row)] += force;
                for (int j = 0; j < energies; ++j) row_of_corner[at(j)] += force * energy_basis[at(q * energies + j)];
            }
            for (int j = 0; j < energies; ++j) answer.corner[at(j * shape.vector_words() + row)] = row_of_corner[at(j)];
            answer.magnitude = std::max(answer.magnitude, magnitude);
        }
}

template <typename Real>
void work_of_zone(const Shape& shape, const Real* w, ZoneAnswer& answer) {
    const int d = shape.dimension;
    const int points = shape.points();
    answer.work.assign(at(shape.energies()), 0.0);
    std::vector<double> magnitude(at(shape.energies()), 0.0);
    for (int q = 0; q < points; ++q) {
        const Gradient velocity = gradient(shape, w, q);
        double power = 0;
        double largest = 0;
        for (int i = 0; i < d * d; ++i) {
            power += answer.stress[at(i * points + q)] * velocity.value[at(i)];
            largest += std::abs(answer.stress[at(i * points + q)]) * velocity.magnitude;
        }
        for (int j = 0; j < shape.energies(); ++j) {
            const double by = bernstein(shape.element(), index_of(q, shape.points_along), index_of(j, shape.energies_along), d);
            answer.work[at(j)] += power * by;
            magnitude[at(j)] += largest * by;
        }
    }
    answer.magnitude = std::max(answer.magnitude, *std::max_element(magnitude.begin(), magnitude.end()));
}

template <typename Real>
void copy_to(Real* array, const std::vector<double>& values, std::int64_t zone) {
    if (array == nullptr) return;
    std::transform(values.begin(), values.end(), array + zone * std::ssize(values), [](double value) { return static_cast<Real>(value); });
}

template <typename Real>
void run(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Data<Real> data(shape, arrays);
    Caught caught;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t zone = first; zone < last; ++zone) {
        caught.from([&] {
            const ZoneAnswer answer = zone_answer(shape, data, zone);
            copy_to(data.stress, answer.stress, zone);
            copy_to(data.corner, answer.corner, zone);
            copy_to(data.force, answer.force, zone);
            copy_to(data.work, answer.work, zone);
            if (data.dt != nullptr) data.dt[zone] = static_cast<Real>(answer.dt);
        });
    }
    caught.rethrow();
}

}  // namespace

template <typename Real>
Data<Real>::Data(const Shape& shape, std::span<void* const> arrays) {
    std::size_t next = 0;
    const auto in = [&](const Real*& array) { array = static_cast<const Real*>(arrays[next++]); };
    const auto out = [&](Real*& array) { array = static_cast<Real*>(arrays[next++]); };
    if (shape.physics())
        for (const Real** array : {&x, &v, &e, &initial_inverse, &mass, &gamma, &settings}) in(*array);
    if (shape.works()) in(w);
    if (shape.result == "energy") in(stress_in);
    if (shape.keeps_stress()) out(stress);
    if (shape.keeps_corner()) out(corner);
    if (shape.physics()) out(force);
    if (shape.works()) out(work);
    if (shape.physics()) out(dt);
}

template struct Data<float>;
template struct Data<double>;

Eigenpair smallest_eigenpair(const double* matrix, int dimension) {
    const int d = dimension;
    Square a{};
    std::copy(matrix, matrix + d * d, a.begin());
    Square vectors{};
    for (int i = 0; i < d; ++i) vectors[at(i * d + i)] = 1;
    constexpr int sweeps = 30;  // six are enough for 3 x 3
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int p = 0; p < d; ++p)
            for (int q = p + 1; q < d; ++q) {
                const double off = a[at(p * d + q)];
                if (off == 0) continue;
                const double theta = (a[at(q * d + q)] - a[at(p * d + p)]) / (2 * off);
                const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
                const double c = 1 / std::hypot(t, 1.0);
                const double s = t * c;
                for (int i = 0; i < d; ++i) {
                    const double first = a[at(i * d + p)];
                    const double second = a[at(i * d + q)];
                    a[at(i * d + p)] = c * first - s * second;
                    a[at(i * d + q)] = s * first + c * second;
                }
                for (int i = 0; i < d; ++i) {
                    const double first = a[at(p * d + i)];
                    const double second = a[at(q * d + i)];
                    a[at(p * d + i)] = c * first - s * second;
                    a[at(q * d + i)] = s * first + c * second;
                    const double one = vectors[at(i * d + p)];
                    const double other = vectors[at(i * d + q)];
                    vectors[at(i * d + p)] = c * one - s * other;
                    vectors[at(i * d + q)] = s * one + c * other;
                }
                a[at(p * d + q)] = a[at(q * d + p)] = 0;
            }
    int smallest = 0;
    for (int i = 1; i < d; ++i)
        if (a[at(i * d + i)] < a[at(smallest * d + smallest)]) smallest = i;
    Eigenpair result;
    result.value = a[at(smallest * d + smallest)];
    result.gap = std::numeric_limits<double>::infinity();
    for (int i = 0; i < d; ++i) {
        result.vector[i] = vectors[at(i * d + smallest)];
        if (i != smallest) result.gap = std::min(result.gap, a[at(i * d + i)] - result.value);
    }
    return result;
}

double smallest_singular_value(const double* matrix, int dimension) {
    const int d = dimension;
    std::array<std::array<double, 3>, 3> column{};
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) column[at(j)][at(i)] = matrix[i * d + j];
    constexpr int sweeps = 30;
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int p = 0; p < d; ++p)
            for (int q = p + 1; q < d; ++q) {
                const double off = dot(column[at(p)].data(), column[at(q)].data(), d);
                if (off == 0) continue;
                const double theta =
                    (dot(column[at(q)].data(), column[at(q)].data(), d) - dot(column[at(p)].data(), column[at(p)].data(), d)) / (2 * off);
                const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
                const double c = 1 / std::hypot(t, 1.0);
                for (int i = 0; i < d; ++i) {
                    const double first = column[at(p)][at(i)];
                    const double second = column[at(q)][at(i)];
                    column[at(p)][at(i)] = c * (first - t * second);
                    column[at(q)][at(i)] = c * (t * first + second);
                }
            }
    double smallest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < d; ++i) smallest = std::min(smallest, std::hypot(column[at(i)][0], column[at(i)][1], column[at(i)][2]));
    return smallest;
}

template <typename Real>
ZoneAnswer zone_answer(const Shape& shape, const Data<Real>& data, std::int64_t zone) {
    ZoneAnswer answer;
    answer.stress.assign(at(shape.stress_words()), 0.0);
    if (shape.physics()) {
        stress_of_zone(shape, data, zone, answer);
        corner_of_zone(shape, answer);
    } else {
        std::transform(data.stress_in + zone * shape.stress_words(), data.stress_in + (zone + 1) * shape.stress_words(), answer.stress.begin(),
                       [](Real value) { return static_cast<double>(value); });
    }
    if (shape.works()) work_of_zone(shape, data.w + zone * shape.vector_words(), answer);
    return answer;
}

template ZoneAnswer zone_answer(const Shape&, const Data<float>&, std::int64_t);
template ZoneAnswer zone_answer(const Shape&, const Data<double>&, std::int64_t);

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    problem.precision() == Precision::f32 ? run<float>(shape, arrays, first, last) : run<double>(shape, arrays, first, last);
}

}  // namespace hone::inline v0_1::corner
