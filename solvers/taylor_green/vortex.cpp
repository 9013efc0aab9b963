#include "solvers/taylor_green/vortex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {

Velocity taylor_green(const FlowKernels::Mesh& mesh, double time, double viscosity, const std::array<double, 2>& drift) {
    Velocity result{mesh.nx, mesh.ny, mesh.nz, mesh.h, {}, mesh.first, mesh.is_cut()};
    const double decay = std::exp(-2 * viscosity * time);
    const int beside = mesh.is_cut() ? 1 : 0;
    for (int plane = -beside; plane < mesh.nz + beside; ++plane) {
        const int k = mesh.is_cut() ? (mesh.first + plane + mesh.all_planes) % mesh.all_planes : plane;
        const double in_z = mesh.is_flat() ? 1 : std::cos((k + 0.5) * mesh.h);
        for (int j = 0; j < mesh.ny; ++j)
            for (int i = 0; i < mesh.nx; ++i) {
                const double x = i * mesh.h - drift[0] * time, y = j * mesh.h - drift[1] * time, half = mesh.h / 2;
                result.component[0].push_back(drift[0] + decay * std::sin(x) * std::cos(y + half) * in_z);
                result.component[1].push_back(drift[1] - decay * std::cos(x + half) * std::sin(y) * in_z);
                result.component[2].push_back(0);
            }
    }
    return result;
}

double largest_difference(const Velocity& a, const Velocity& b) {
    double largest = 0;
    for (std::size_t c = 0; c < a.component.size(); ++c)
        for (std::size_t n = 0; n < a.component[c].size(); ++n) largest = std::max(largest, std::abs(a.component[c][n] - b.component[c][n]));
    return largest;
}

TimeSteps time_steps(const FlowKernels::Mesh& mesh, double time, double largest_speed, double viscosity, double courant) {
    // Third-order Runge-Kutta is stable up to 1.7 along the imaginary axis, where convection's
    // eigenvalues lie, up to sum of |velocity| / h, and up to 2.5 along the real one, where
    // diffusion's do, up to 4 viscosity / h^2 per axis.
    const double axes = mesh.is_flat() ? 2 : 3;
    const double diffusive = viscosity > 0 ? mesh.h * mesh.h / (2 * axes * viscosity) : time;
    const double longest = courant * std::min(mesh.h / largest_speed, diffusive);
    const double count = std::max(1.0, std::ceil(time / longest * (1 - 1e-12)));
    constexpr double most = 1e9;
    if (!(count <= most))
        throw Error("flow", fmt::format("it would take {:.3g} steps", count), "use a shorter time, a lower viscosity or larger cells");
    TimeSteps steps;
    steps.count = static_cast<int>(count);
    steps.dt = time / steps.count;
    return steps;
}

std::vector<float> at_centres(const Velocity& velocity) {
    std::vector<float> words;
    words.reserve(3 * velocity.cells());
    for (int k = 0; k < velocity.nz; ++k)
        for (int j = 0; j < velocity.ny; ++j)
            for (int i = 0; i < velocity.nx; ++i) {
                words.push_back(static_cast<float>((velocity.at(0, i, j, k) + velocity.at(0, i + 1, j, k)) / 2));
                words.push_back(static_cast<float>((velocity.at(1, i, j, k) + velocity.at(1, i, j + 1, k)) / 2));
                words.push_back(static_cast<float>((velocity.at(2, i, j, k) + velocity.at(2, i, j, k + 1)) / 2));
            }
    return words;
}

double vorticity_z(const Velocity& velocity, int i, int j, int k) {
    return (velocity.at(1, i, j, k) - velocity.at(1, i - 1, j, k) - velocity.at(0, i, j, k) + velocity.at(0, i, j - 1, k)) / velocity.h;
}

}  // namespace hone::inline v0_1::solvers
