#include "solvers/multigrid_smoother/model_problem.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

constexpr double pi = std::numbers::pi;

bool is_trilinear(const std::string& name) {
    if (name != "trilinear" && name != "seven_point") throw Error("operator \"" + name + "\"", "it is not known", "use seven_point or trilinear");
    return name == "trilinear";
}

}  // namespace

ModelProblem::ModelProblem(const std::string& name, int points) : n(points), h(1.0 / (points + 1)), cosine(std::cos(pi * h)) {
    const bool trilinear = is_trilinear(name);
    weights = trilinear ? std::array{8 * h / 3, 0.0, -h / 6, -h / 12} : std::array{6 / (h * h), -1 / (h * h), 0.0, 0.0};
    volume = trilinear ? h * h * h : 1;
    source = 3 * pi * pi * volume;
    // 6 faces, 12 edges, 8 corners; a pair of opposite neighbours along one axis sees 2 cos(pi h)
    // times the mode.
    const double eigenvalue = weights[0] + 6 * weights[1] * cosine + 12 * weights[2] * std::pow(cosine, 2) + 8 * weights[3] * std::pow(cosine, 3);
    amplitude = source / eigenvalue;
}

double ModelProblem::mode(int x, int y, int z) const {
    return std::sin(pi * h * x) * std::sin(pi * h * y) * std::sin(pi * h * z);
}

std::array<double, 27> ModelProblem::coefficients() const {
    std::array<double, 27> all{};
    for (std::size_t k = 0; k < all.size(); ++k) {
        const unsigned offset_axes = (k / 9 != 1 ? 1U : 0U) + (k / 3 % 3 != 1 ? 1U : 0U) + (k % 3 != 1 ? 1U : 0U);
        all[k] = weights[offset_axes];
    }
    return all;
}

void ColourErrors::sweep() {
    for (unsigned colour = 0; colour < 8; ++colour) {
        double sum = 0;
        for (unsigned d = 1; d < 8; ++d) {
            const int q = std::popcount(d);
            sum += problem_.weights[static_cast<std::size_t>(q)] * std::pow(2 * problem_.cosine, q) * errors_[colour ^ d];
        }
        errors_[colour] = -sum / problem_.weights[0];
    }
}

double ColourErrors::largest() const {
    double largest = 0;
    for (const double error : errors_) largest = std::max(largest, std::abs(error));
    return largest;
}

}  // namespace hone::inline v0_1::solvers
