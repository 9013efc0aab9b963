#include "examples/taylor_green/flow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "generator/error.hpp"

namespace hone::examples {
namespace {

constexpr std::array<FlowKernels::Stage, FlowKernels::stages> williamson{{{0, 1.0 / 3}, {-5.0 / 9, 15.0 / 16}, {-153.0 / 128, 8.0 / 15}}};

double cell_width(const FlowSettings& settings) {
    return 2 * std::numbers::pi / settings.cells;
}

// -Laplace on the periodic box; a single layer of cells has no neighbours along z.
PoissonSystem pressure_system(const FlowSettings& settings) {
    const int n = settings.cells, layers = settings.dimension == 2 ? 1 : n;
    PoissonSystem system = PoissonSystem::laplacian("scalar", "periodic", settings.precision, n, n, layers, cell_width(settings));
    if (layers > 1) return system;
    system.diagonal[0] += 2 * system.cz[0];
    system.cz[0] = 0;
    return system;
}

FlowKernels::Mesh mesh_of(const FlowSettings& settings, std::int64_t pitch) {
    const int n = settings.cells;
    return {n, n, settings.dimension == 2 ? 1 : n, pitch, cell_width(settings), settings.precision == "f32" ? Precision::f32 : Precision::f64};
}

template <typename Real>
void to_rows(const std::vector<double>& cells, const FlowKernels::Mesh& mesh, std::span<Real> words) {
    std::fill(words.begin(), words.end(), Real(0));
    for (std::size_t n = 0; n < cells.size(); ++n) {
        const auto row = n / static_cast<std::size_t>(mesh.nx), i = n % static_cast<std::size_t>(mesh.nx);
        words[row * static_cast<std::size_t>(mesh.pitch) + i] = static_cast<Real>(cells[n]);
    }
}

template <typename Real>
void from_rows(std::span<const Real> words, const FlowKernels::Mesh& mesh, std::vector<double>& cells) {
    for (std::size_t n = 0; n < cells.size(); ++n) {
        const auto row = n / static_cast<std::size_t>(mesh.nx), i = n % static_cast<std::size_t>(mesh.nx);
        cells[n] = words[row * static_cast<std::size_t>(mesh.pitch) + i];
    }
}

}  // namespace

FlowSums sums_of(const Velocity& velocity, double viscosity) {
    FlowSums sums;
    for (int k = 0; k < velocity.nz; ++k)
        for (int j = 0; j < velocity.ny; ++j)
            for (int i = 0; i < velocity.nx; ++i) {
                double divergence = 0;
                for (const std::size_t c : {0U, 1U, 2U}) {
                    const double here = velocity.at(c, i, j, k);
                    const std::array beyond{velocity.at(c, i + 1, j, k), velocity.at(c, i, j + 1, k), velocity.at(c, i, j, k + 1)};
                    sums.energy += here * here / 2;
                    sums.momentum[c] += here;
                    divergence += beyond[c] - here;
                    for (const double value : beyond) sums.dissipation += (value - here) * (value - here);
                }
                sums.divergence += divergence * divergence;
            }
    const auto cells = static_cast<double>(velocity.cells());
    sums.energy /= cells;
    sums.dissipation *= viscosity / (velocity.h * velocity.h * cells);
    sums.divergence = std::sqrt(sums.divergence / cells);
    for (double& mean : sums.momentum) mean /= cells;
    return sums;
}

Flow::Flow(Backend& backend, KernelLibrary& library, const FlowSettings& settings)
    : backend_(backend),
      settings_(settings),
      solver_(backend, library, pressure_system(settings)),
      mesh_(mesh_of(settings, solver_.pitch())),
      kernels_(backend, mesh_) {
    for (auto* arrays : {&velocity_, &change_, &last_pressure_})
        for (auto& array : *arrays) {
            array = DeviceArray(backend, mesh_.words() * bytes_per_word(mesh_.precision));
            backend.fill(array.data(), 0, array.bytes());
        }
}

void Flow::set(const Velocity& velocity) {
    for (std::size_t c = 0; c < velocity_.size(); ++c) {
        HostArray words(mesh_.precision, mesh_.words());
        if (mesh_.precision == Precision::f32)
            to_rows(velocity.component[c], mesh_, words.values<float>());
        else
            to_rows(velocity.component[c], mesh_, words.values<double>());
        backend_.copy(velocity_[c].data(), words.data(), words.bytes());
        backend_.synchronise();
    }
    for (auto& pressure : last_pressure_) backend_.fill(pressure.data(), 0, pressure.bytes());
}

Velocity Flow::velocity() const {
    Velocity result{mesh_.nx, mesh_.ny, mesh_.nz, mesh_.h, {}};
    for (std::size_t c = 0; c < velocity_.size(); ++c) {
        HostArray words(mesh_.precision, mesh_.words());
        backend_.copy(words.data(), velocity_[c].data(), words.bytes());
        backend_.synchronise();
        result.component[c].resize(static_cast<std::size_t>(mesh_.nx) * static_cast<std::size_t>(mesh_.ny) * static_cast<std::size_t>(mesh_.nz));
        if (mesh_.precision == Precision::f32)
            from_rows<float>(words.values<float>(), mesh_, result.component[c]);
        else
            from_rows<double>(words.values<double>(), mesh_, result.component[c]);
    }
    return result;
}

void Flow::step(double dt) {
    if (dt != dt_) kernels_.set_numbers(williamson, dt, settings_.viscosity);
    dt_ = dt;
    FlowKernels::Fields fields;
    for (std::size_t c = 0; c < velocity_.size(); ++c) fields.velocity[c] = velocity_[c].data(), fields.change[c] = change_[c].data();
    // What rounding of the first residual leaves cannot be undercut, and what was small to begin with needs no more.
    const double unit = mesh_.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    const SolverSettings to{.tolerance = 16 * unit, .small = settings_.divergence / mesh_.h, .most_iterations = 2000, .check_every = 5};
    for (int stage = 0; stage < FlowKernels::stages; ++stage) {
        const DeviceArray& guess = last_pressure_[static_cast<std::size_t>(stage)];
        kernels_.momentum(fields, stage);
        fields.cells = solver_.right_hand_side();
        kernels_.divergence(fields, stage);
        backend_.copy(solver_.solution(), guess.data(), guess.bytes());
        const Solve solve = solver_.solve(to);
        iterations_ += solve.executed;
        failures_ += solve.ending == Ending::converged ? 0 : 1;
        backend_.copy(guess.data(), solver_.solution(), guess.bytes());
        fields.cells = solver_.solution();
        kernels_.project(fields, stage);
    }
}

}  // namespace hone::examples
