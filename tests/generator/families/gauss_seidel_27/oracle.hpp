#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::test {

/// -Laplace u = 3 pi^2 sin sin sin on the unit cube, u = 0 on its boundary, n interior points a
/// direction, from u = 0; and its exact sweeps.
///
/// The discrete solution is A sin sin sin. After k sweeps the points of colour c hold A (1 - E_c)
/// sin sin sin, where the eight numbers E_c start at 1 and, in colour order, obey E_c = -(1/s_C)
/// sum over d = 1..7 of w_q 2^q C^q E_(c xor d), q = number of set bits of d, C = cos(pi h), and
/// w_1, w_2, w_3 the face, edge and corner coefficients: a sine's neighbours at both sides add up
/// to 2 C times itself.
struct ModelProblem {
    ModelProblem(int points, bool finite_elements, std::int64_t row_pitch)
        : n(points), pitch(row_pitch), u(words()), f(words()), stencil(27), amplitude(words()) {
        const double h = 1.0 / (n + 1);
        cosine = std::cos(M_PI * h);
        // The 7-point stencil of finite differences, or the 27-point one of trilinear finite
        // elements, by number of offset axes.
        weights = finite_elements ? std::array{8 * h / 3, 0.0, -h / 6, -h / 12} : std::array{6 / (h * h), -1 / (h * h), 0.0, 0.0};
        for (int k = 0; k < 27; ++k) {
            const int offset_axes = (k / 9 != 1) + (k / 3 % 3 != 1) + (k % 3 != 1);
            stencil[static_cast<std::size_t>(k)] = offset_axes == 0 ? 1 / weights[0] : weights[static_cast<std::size_t>(offset_axes)];
        }
        // What the stencil makes of sin sin sin; f is chosen so that the discrete solution is sin
        // sin sin times A = 3 pi^2 / lambda.
        const double lambda = weights[0] + 6 * weights[1] * cosine + 12 * weights[2] * std::pow(cosine, 2) + 8 * weights[3] * std::pow(cosine, 3);
        const double lambda_h = 12 / (h * h) * std::pow(std::sin(M_PI * h / 2), 2);
        const double solution = 3 * M_PI * M_PI / lambda_h;
        for (int z = 1; z <= n; ++z)
            for (int y = 1; y <= n; ++y)
                for (int x = 1; x <= n; ++x) {
                    amplitude[at(x, y, z)] = solution * std::sin(M_PI * h * x) * std::sin(M_PI * h * y) * std::sin(M_PI * h * z);
                    f[at(x, y, z)] = lambda * amplitude[at(x, y, z)];
                }
        errors.fill(1);
    }

    /// One exact sweep.
    void advance() {
        for (unsigned colour = 0; colour < 8; ++colour) {
            double sum = 0;
            for (unsigned d = 1; d < 8; ++d) {
                const int q = std::popcount(d);
                sum += weights[static_cast<std::size_t>(q)] * std::pow(2 * cosine, q) * errors[colour ^ d];
            }
            errors[colour] = -sum / weights[0];
        }
    }

    double colour_error(std::size_t colour) const { return errors[colour]; }

    /// Largest distance of u from what the exact sweeps give.
    double error() const {
        double largest = 0;
        for (int z = 1; z <= n; ++z)
            for (int y = 1; y <= n; ++y)
                for (int x = 1; x <= n; ++x) {
                    const auto colour = static_cast<std::size_t>((x - 1) % 2 + 2 * ((y - 1) % 2) + 4 * ((z - 1) % 2));
                    largest = std::max(largest, std::abs(u[at(x, y, z)] - amplitude[at(x, y, z)] * (1 - errors[colour])));
                }
        return largest;
    }

    int n;
    std::int64_t pitch;
    std::vector<double> u, f, stencil;

  private:
    std::size_t words() const { return static_cast<std::size_t>((n + 2) * (n + 2) * pitch); }
    std::size_t at(int x, int y, int z) const { return static_cast<std::size_t>((z * (n + 2) + y) * pitch + x); }

    std::vector<double> amplitude;
    std::array<double, 4> weights{};
    std::array<double, 8> errors{};
    double cosine = 0;
};

}  // namespace hone::test
