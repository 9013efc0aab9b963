#include "solvers/taylor_green/flow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "foundation/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::inline v0_1::solvers {
namespace {

constexpr std::array<FlowKernels::Stage, FlowKernels::stages> williamson{{{0, 1.0 / 3}, {-5.0 / 9, 15.0 / 16}, {-153.0 / 128, 8.0 / 15}}};

double cell_width(const FlowSettings& settings) {
    return 2 * std::numbers::pi / settings.cells;
}

int layers_of(const FlowSettings& settings) {
    return settings.dimension == 2 ? 1 : settings.cells;
}

// -Laplace on so many planes of the periodic box; a single layer of cells has no neighbours along
// z.
PoissonSystem pressure_system(const FlowSettings& settings, const CellRange& planes) {
    const int n = settings.cells;
    PoissonSystem system =
        PoissonSystem::laplacian("scalar", "periodic", settings.precision, n, n, static_cast<int>(planes.cells()), cell_width(settings));
    if (settings.dimension == 3) return system;
    system.diagonal[0] += 2 * system.cz[0];
    system.cz[0] = 0;
    return system;
}

FlowKernels::Mesh mesh_of(const FlowSettings& settings, const CellRange& planes, std::int64_t pitch) {
    const int n = settings.cells;
    const Precision precision = settings.precision == "f32" ? Precision::f32 : Precision::f64;
    return {n, n, static_cast<int>(planes.cells()), pitch, cell_width(settings), precision, static_cast<int>(planes.first), layers_of(settings)};
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

namespace {

constexpr int sums_of_plane = 6;

// Sums over each plane: energy, square of differences, square of the divergence, momentum.
std::vector<double> plane_sums(const Velocity& velocity) {
    std::vector<double> all(static_cast<std::size_t>(sums_of_plane * velocity.nz));
    for (int k = 0; k < velocity.nz; ++k) {
        double* const sums = all.data() + static_cast<std::ptrdiff_t>(sums_of_plane * k);
        for (int j = 0; j < velocity.ny; ++j)
            for (int i = 0; i < velocity.nx; ++i) {
                double divergence = 0;
                for (const std::size_t c : {0U, 1U, 2U}) {
                    const double here = velocity.at(c, i, j, k);
                    const std::array beyond{velocity.at(c, i + 1, j, k), velocity.at(c, i, j + 1, k), velocity.at(c, i, j, k + 1)};
                    sums[0] += here * here / 2;
                    sums[3 + c] += here;
                    divergence += beyond[c] - here;
                    for (const double value : beyond) sums[1] += (value - here) * (value - here);
                }
                sums[2] += divergence * divergence;
            }
    }
    return all;
}

FlowSums total(const std::vector<double>& of_planes, const Velocity& velocity, double viscosity) {
    std::array<double, sums_of_plane> sums{};
    for (std::size_t n = 0; n < of_planes.size(); ++n) sums[n % sums_of_plane] += of_planes[n];
    const double cells = static_cast<double>(of_planes.size()) / sums_of_plane * velocity.nx * velocity.ny;
    return {sums[0] / cells,
            sums[1] * viscosity / (velocity.h * velocity.h * cells),
            std::sqrt(sums[2] / cells),
            {sums[3] / cells, sums[4] / cells, sums[5] / cells}};
}

}  // namespace

FlowSums sums_of(const Velocity& velocity, double viscosity) {
    return total(plane_sums(velocity), velocity, viscosity);
}

FlowSums sums_of(const Velocity& velocity, double viscosity, Communicator& ranks) {
    const std::vector<double> own = plane_sums(velocity);
    const auto words = static_cast<double>(own.size());
    std::vector<double> words_of_ranks(static_cast<std::size_t>(ranks.size()));
    ranks.all_gather({&words, 1}, equal_counts(ranks, 1), words_of_ranks);
    const std::vector<int> counts(words_of_ranks.begin(), words_of_ranks.end());
    std::vector<double> all(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0)));
    ranks.all_gather(own, counts, all);
    return total(all, velocity, viscosity);
}

Flow::Flow(Backend& backend, KernelLibrary& library, const FlowSettings& settings) : Flow(nullptr, backend, library, settings) {
}

Flow::Flow(Communicator* ranks, Backend& backend, KernelLibrary& library, const FlowSettings& settings)
    : alone_(ranks == nullptr ? self_communicator() : nullptr),
      ranks_(ranks == nullptr ? *alone_ : *ranks),
      backend_(backend),
      settings_(settings),
      partition_(partition_planes("periodic", settings.cells, settings.cells, layers_of(settings), ranks_.size())),
      solver_(ranks_, partition_, backend, library, pressure_system(settings, partition_.block(ranks_.rank())[2])),
      mesh_(mesh_of(settings, partition_.block(ranks_.rank())[2], solver_.pitch())) {
    for (auto* arrays : {&velocity_, &change_, &last_pressure_})
        for (auto& array : *arrays) {
            const bool has_neighbours = arrays != &last_pressure_;
            array = DeviceArray(backend, (has_neighbours ? mesh_.stored_words() : mesh_.words()) * bytes_per_word(mesh_.precision));
            backend.fill(array.data(), 0, array.bytes());
        }
    FlowKernels::Fields fields{.right_hand_side = solver_.right_hand_side(), .pressure = solver_.solution()};
    for (std::size_t c = 0; c < velocity_.size(); ++c) fields.velocity.at(c) = own(velocity_.at(c)), fields.change.at(c) = own(change_.at(c));
    kernels_ = std::make_unique<FlowKernels>(backend, library, mesh_, fields);
    if (!mesh_.is_cut()) return;
    // Whole planes are sent, with what lies behind their rows. Fields are named by their first own
    // plane.
    GridPartition words = partition_;
    words.cells[0] = mesh_.plane(), words.cells[1] = 1;
    halo_ = std::make_unique<HaloExchange>(ranks_, backend, words,
                                           HaloLayout{.strides = {1, 0, mesh_.plane()}, .word_bytes = bytes_per_word(mesh_.precision)});
}

void* Flow::own(const DeviceArray& field) const {
    return static_cast<char*>(field.data()) + mesh_.before() * bytes_per_word(mesh_.precision);
}

// Calls compute(planes): first for the planes that neighbours read of these fields, which travel
// while the others are computed.
template <typename Compute>
void Flow::compute_and_exchange(std::span<void* const> fields, const Compute& compute) const {
    const CellRange all{0, mesh_.nz};
    if (halo_ == nullptr) return compute(all);
    const int edge = std::min(ranks_.exchange_settings().depth, (mesh_.nz + 1) / 2);
    const CellRange interior{edge, mesh_.nz - edge};
    compute(CellRange{0, edge});
    if (mesh_.nz > 1) compute(CellRange{std::max(edge, mesh_.nz - edge), mesh_.nz});
    halo_->begin(fields);
    if (interior.cells() > 0) compute(interior);
    halo_->end();
}

void Flow::set(const Velocity& velocity) {
    for (std::size_t c = 0; c < velocity_.size(); ++c) {
        HostArray words(mesh_.precision, mesh_.stored_words());
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
    Velocity result{mesh_.nx, mesh_.ny, mesh_.nz, mesh_.h, {}, mesh_.first, mesh_.is_cut()};
    for (std::size_t c = 0; c < velocity_.size(); ++c) {
        HostArray words(mesh_.precision, mesh_.stored_words());
        backend_.copy(words.data(), velocity_[c].data(), words.bytes());
        backend_.synchronise();
        result.component[c].resize(static_cast<std::size_t>(mesh_.stored_words() / mesh_.pitch * mesh_.nx));
        if (mesh_.precision == Precision::f32)
            from_rows<float>(words.values<float>(), mesh_, result.component[c]);
        else
            from_rows<double>(words.values<double>(), mesh_, result.component[c]);
    }
    return result;
}

void Flow::step(double dt) {
    if (dt != dt_) kernels_->set_numbers(williamson, dt, settings_.viscosity);
    dt_ = dt;
    std::array<void*, 3> velocities{};
    for (std::size_t c = 0; c < velocity_.size(); ++c) velocities.at(c) = own(velocity_.at(c));
    void* const vertical_change = own(change_[2]);
    // What rounding of the first residual leaves cannot be undercut, and what was small to begin
    // with needs no more.
    const double unit = mesh_.precision == Precision::f32 ? 0x1p-24 : 0x1p-53;
    const SolverSettings to{.tolerance = 16 * unit, .small = settings_.divergence / mesh_.h, .most_iterations = 2000, .check_every = 5};
    for (int stage = 0; stage < FlowKernels::stages; ++stage) {
        const DeviceArray& guess = last_pressure_[static_cast<std::size_t>(stage)];
        // Of the changes the divergence takes the vertical one from the plane above.
        compute_and_exchange({&vertical_change, 1}, [&](const CellRange& planes) { kernels_->momentum(stage, planes); });
        kernels_->divergence(stage, {0, mesh_.nz});
        backend_.copy(solver_.solution(), guess.data(), guess.bytes());
        const Solve solve = solver_.solve(to);
        iterations_ += solve.executed;
        failures_ += solve.ending == Ending::converged ? 0 : 1;
        backend_.copy(guess.data(), solver_.solution(), guess.bytes());
        // The solver leaves the neighbours' planes beside the own ones.
        compute_and_exchange(velocities, [&](const CellRange& planes) { kernels_->project(stage, planes); });
    }
}

}  // namespace hone::inline v0_1::solvers
