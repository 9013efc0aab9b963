#include "solvers/poisson/poisson_case.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace hone::inline v0_1::solvers {
namespace {

// Walls of the dirichlet box are where the cells beyond have their centres.
double width_of(const std::string& boundary, int cells) {
    return 1.0 / (boundary == "dirichlet" ? cells + 1 : cells);
}

struct Value {
    double function, curvature;
};

// A function of one coordinate from 0 to `length` that the boundary allows, and its second
// derivative, at the centres of cells number first to last of so many.
std::vector<Value> profile(const std::string& boundary, int cells, double length, const CellRange& range) {
    constexpr double pi = std::numbers::pi;
    const double width = width_of(boundary, cells), square = length * length;
    const auto at = [&](std::int64_t n) -> Value {
        const double t = (boundary == "dirichlet" ? static_cast<double>(n) + 1 : static_cast<double>(n) + 0.5) * width;
        const double angle = pi * t * (boundary == "periodic" ? 2 : 1), s = std::sin(angle), c = std::cos(angle);
        if (boundary == "periodic") return {std::exp(s), 4 * pi * pi * std::exp(s) * (c * c - s) / square};
        if (boundary == "neumann") return {std::exp(c), pi * pi * std::exp(c) * (s * s - c) / square};
        return {std::exp(t) * s, std::exp(t) * ((1 - pi * pi) * s + 2 * pi * c) / square};
    };
    std::vector<Value> values;
    for (std::int64_t n = range.first; n < range.last; ++n) values.push_back(at(n));
    return values;
}

}  // namespace

PoissonCase::PoissonCase(const PoissonCaseSettings& of, Communicator& communicator)
    : settings(of),
      ranks(communicator),
      width(width_of(of.boundary, of.size)),
      partition(partition_planes(of.boundary, of.size, of.size, of.planes, communicator.size())),
      planes(partition.block(communicator.rank())[2]),
      system(PoissonSystem::laplacian(of.coefficients, of.boundary, of.precision, of.size, of.size, static_cast<int>(planes.cells()), width)),
      right_hand_side(static_cast<std::size_t>(system.cells())) {
    settings.right_hand_side == "random" ? set_random() : set_known();
}

void PoissonCase::set_random() {
    std::mt19937_64 random(settings.seed);
    random.discard(static_cast<unsigned long long>(planes.first) * cells_of_plane());
    std::uniform_real_distribution<> uniform(-1, 1);
    std::generate(right_hand_side.begin(), right_hand_side.end(), [&] { return uniform(random); });
}

void PoissonCase::set_known() {
    const std::string& boundary = settings.boundary;
    const std::vector<Value> along = profile(boundary, settings.size, 1, {0, settings.size});
    const std::vector<Value> along_z = profile(boundary, settings.planes, width / width_of(boundary, settings.planes), planes);
    exact.resize(right_hand_side.size());
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < along_z.size(); ++k) {
        const Value& z = along_z[k];
        std::size_t cell = k * cells_of_plane();
        for (const Value& y : along)
            for (const Value& x : along) {
                exact[cell] = x.function * y.function * z.function;
                right_hand_side[cell++] =
                    -(x.curvature * y.function * z.function + x.function * y.curvature * z.function + x.function * y.function * z.curvature);
            }
    }
    if (!system.singular) return;
    // Solutions have no mean there.
    const double mean = mean_of_grid(exact);
    for (double& value : exact) value -= mean;
}

// By planes, so that it does not know how many ranks there are.
double PoissonCase::mean_of_grid(const std::vector<double>& cells) const {
    std::vector<double> own(static_cast<std::size_t>(planes.cells())), all(static_cast<std::size_t>(settings.planes));
    auto plane = cells.begin();
    for (double& sum : own) {
        const auto next = plane + static_cast<std::ptrdiff_t>(cells_of_plane());
        sum = std::accumulate(plane, next, 0.0);
        plane = next;
    }
    ranks.all_gather(own, planes_of_ranks(partition), all);
    return std::accumulate(all.begin(), all.end(), 0.0) / cells_of_grid();
}

double PoissonCase::largest_error(const std::vector<double>& u) const {
    double error = 0;
    for (std::size_t cell = 0; cell < u.size(); ++cell) error = std::max(error, std::abs(u[cell] - exact[cell]));
    return all_reduce(ranks, Reduction::largest, error);
}

}  // namespace hone::inline v0_1::solvers
