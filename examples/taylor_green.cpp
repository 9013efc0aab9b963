// Incompressible flow in a periodic box: the Taylor-Green vortex, in two dimensions an exact
// solution, in three the classic way into turbulence. A small fractional-step solver on a staggered
// mesh around solvers/poisson's pressure solver.
//
//     taylor_green [--dimension 2|3] [--cells 32] [--viscosity 0.01] [--time 4] [--output FOLDER] ...
//
// Exit code 0: the checks printed at the end hold.
//
//     mpirun -n 4 taylor_green --cells 64   ranks in processes, each with a part of the planes (docs/many-devices.md)
//     taylor_green --device cuda:0,cuda:1   ranks in threads of this process
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <optional>

#include "examples/options/checks.hpp"
#include "examples/options/exchange.hpp"
#include "examples/options/on_ranks.hpp"
#include "examples/options/options.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;
using hone::Communicator;

struct Options {
    std::string device = "best", records;
    std::filesystem::path folder;
    FlowSettings flow{.cells = 0};
    double time = 4, courant = 0.5;
    int frames = 5;
    ExchangeOptions exchange;
};

void declare(CLI::App& app, Options& options) {
    add_device(app, options.device, options.records, device_list);
    add_exchange(app, options.exchange);
    app.add_option("--dimension", options.flow.dimension, "2: the exact solution is known; 3: vortices stretch and break up")
        ->capture_default_str()
        ->check(CLI::Range(2, 3));
    app.add_option("--cells", options.flow.cells, "cells along each axis; 0: in 3D 128 on a GPU and 32 on a processor, in 2D 256 and 64")
        ->capture_default_str()
        ->check(CLI::Range(0, 1024));
    app.add_option("--viscosity", options.flow.viscosity, "one over the Reynolds number; 0: the energy is conserved")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--time", options.time, "end time; a vortex turns once in about 6")->capture_default_str()->check(positive());
    app.add_option("--courant", options.courant, "time step times the largest speed, as a fraction of the cell width")
        ->capture_default_str()
        ->check(between(0.01, 0.8));
    add_precision(app, options.flow.precision, "of the flow and of the pressure solver");
    app.add_option("--output", options.folder, "folder for energy.csv, energy.svg, pictures of the vorticity and a series for ParaView (flow.pvd)");
    app.add_option("--frames", options.frames, "number of pictures")->capture_default_str()->check(CLI::Range(2, 1000));
}

// What is kept of a run.
struct History {
    std::vector<double> times;
    std::vector<FlowSums> sums;
    double seconds = 0;  ///< of all steps, without looking at them
};

// Pictures, and files of the velocity with their times. Each rank writes its planes; the first one,
// which has the lowest, the pictures.
class Frames {
  public:
    Frames(const Options& options, Communicator& ranks) : options_(options), ranks_(ranks) {
        if (!options.folder.empty()) std::filesystem::create_directories(options.folder);
    }

    void take(double time, const Velocity& velocity, int all_planes) {
        if (options_.folder.empty()) return;
        const std::string number = fmt::format("{:03}", series_.size());
        const int magnify = std::max(1, 512 / velocity.nx);
        if (ranks_.rank() == 0)
            write_png(options_.folder / ("vorticity_" + number + ".png"), velocity.nx, velocity.ny,
                      [&](int x, int y) { return vorticity_z(velocity, x, velocity.ny - 1 - y, 0); }, {.low = -2, .high = 2, .magnify = magnify});
        const std::vector<float> words = at_centres(velocity);
        VtkImage image({velocity.nx, velocity.ny, velocity.nz}, {0, 0, 0}, {velocity.h, velocity.h, velocity.h}, {0, 0, velocity.first});
        image.cell_field("velocity", 3, std::span<const float>(words));
        series_.emplace_back(time, write_rank_image(ranks_, options_.folder, "flow_" + number, image, {velocity.nx, velocity.ny, all_planes}));
        if (ranks_.rank() == 0) write_vtk_series(options_.folder / "flow.pvd", series_);
    }

  private:
    const Options& options_;
    Communicator& ranks_;
    std::vector<std::pair<double, std::string>> series_;
};

History simulate(Flow& flow, hone::Backend& backend, const Options& options, const TimeSteps& steps, Communicator& ranks) {
    constexpr int rows = 100;  // of the history, at least where there are as many steps
    const int every = std::max(1, steps.count / rows);
    History history;
    Frames frames(options, ranks);
    int frame = 0;
    std::optional<Progress> progress;
    if (ranks.rank() == 0) progress.emplace("time steps", steps.count);
    for (int step = 0; step <= steps.count; ++step) {
        const bool shown = step * (options.frames - 1) >= frame * steps.count;
        if (step % every == 0 || shown || step == steps.count) {
            const Velocity velocity = flow.velocity();
            history.times.push_back(step * steps.dt);
            history.sums.push_back(sums_of(velocity, options.flow.viscosity, ranks));
            if (shown) frames.take(step * steps.dt, velocity, flow.mesh().all_planes), ++frame;
        }
        if (progress) progress->at(step, [&] { return fmt::format("energy {:.5f}", history.sums.back().energy); });
        if (step == steps.count) break;
        const auto begun = std::chrono::steady_clock::now();
        flow.step(steps.dt);
        backend.synchronise();
        history.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    }
    return history;
}

void print_history(const History& history) {
    fmt::print("{:>8}  {:>10}  {:>12}  {:>22}\n", "time", "energy", "dissipation", "divergence times width");
    const std::size_t last = history.times.size() - 1, rows = std::min<std::size_t>(last, 8);
    for (std::size_t row = 0; row <= rows; ++row) {
        const std::size_t n = row * last / std::max<std::size_t>(rows, 1);
        const FlowSums& sums = history.sums[n];
        fmt::print("{:8.3f}  {:10.6f}  {:12.6f}  {:22.2e}\n", history.times[n], sums.energy, sums.dissipation, sums.divergence);
    }
}

void write_history(const std::filesystem::path& folder, const History& history) {
    Table table{{"time", "energy", "dissipation", "divergence"}, {}};
    for (std::size_t n = 0; n < history.times.size(); ++n) {
        const FlowSums& sums = history.sums[n];
        table.rows.push_back({history.times[n], sums.energy, sums.dissipation, sums.divergence});
    }
    write_csv(folder / "energy.csv", table);
    write_chart(folder / "energy.svg", {"Taylor-Green vortex", "time", "per unit mass", false, table.curves("time", {"energy", "dissipation"})});
}

bool check_run(const Flow& flow, const History& history, const Options& options, double allowed_divergence) {
    double divergence = 0;
    for (const FlowSums& sums : history.sums) divergence = std::max(divergence, sums.divergence);
    bool good = report(flow.failures() == 0 && divergence <= allowed_divergence,
                       fmt::format("mass: divergence times width at most {:.1e}, allowed {:.1e}; {} pressure solves did not converge", divergence,
                                   allowed_divergence, flow.failures()));
    if (history.sums.size() > 2) {
        const Budget budget = energy_budget(history.times, history.sums);
        // The time steps take a little energy too, by their third power, and so does rounding.
        const double of_steps = 1e-4 * std::pow(options.courant / 0.5, 3), of_rounding = options.flow.precision == "f32" ? 1e-4 : 0;
        const double allowed = 2 * budget.uncertainty + (of_steps + of_rounding) * history.sums[0].energy;
        good = report(std::abs(budget.lost - budget.dissipated) <= allowed,
                      fmt::format("energy: {:.6f} lost, {:.6f} dissipated, allowed difference {:.1e}", budget.lost, budget.dissipated, allowed)) &&
               good;
    }
    return good;
}

bool check_method(hone::Backend& backend, hone::KernelLibrary& library) {
    const Convergence decay = measure_convergence(backend, library, "f64", 32);
    bool good = report(
        std::abs(decay.order - 2) < 0.2,
        fmt::format("two-dimensional decay: error {:.2e} on 32 x 32 cells, {:.2e} on 64 x 64, order {:.2f}", decay.coarse, decay.fine, decay.order));
    const EnergyDrift drift = measure_energy_drift(backend, library, 16);
    good = report(std::abs(drift.half_step) < 1e-3 && drift.order > 2.5,
                  fmt::format("energy without viscosity: change {:.1e}, with half the time step {:.1e}, order {:.2f}", drift.whole_step,
                              drift.half_step, drift.order)) &&
           good;
    return report(drift.momentum < 1e-12, fmt::format("momentum: mean velocity {:.1e} after 3D runs", drift.momentum)) && good;
}

void print_beginning(const Options& options, const Flow& flow, const TimeSteps& steps, const hone::Session& session, const Communicator& ranks) {
    fmt::print("Taylor-Green vortex on {} x {} x {} cells, {}, viscosity {:g}, {} time steps of {:.4f}, on {}\n{}\n", flow.mesh().nx, flow.mesh().ny,
               flow.mesh().all_planes, options.flow.precision, options.flow.viscosity, steps.count, steps.dt, session.device().fingerprint.name,
               flow.kernels());
    if (ranks.size() > 1) fmt::print("{} ranks, by {}\n", ranks.size(), ranks.transport());
}

// The method is checked by runs of their own, on one rank: others have nothing to add.
bool check_all(const Flow& flow, const History& history, const Options& options, hone::Session& session, const Communicator& ranks) {
    // The solver's tolerance, and what rounding makes of velocities of order one.
    const bool single = options.flow.precision == "f32";
    bool good = check_run(flow, history, options, 2 * options.flow.divergence + 16 * (single ? 0x1p-24 : 0x1p-53));
    if (options.flow.dimension == 2) {
        const double error = largest_difference(flow.velocity(), taylor_green(flow.mesh(), options.time, options.flow.viscosity));
        // The discrete Laplacian of this field decays too slowly by the factor (sin(h/2) / (h/2))^2
        // = 1 - h^2 / 12 + ...
        const double h = flow.mesh().h, allowed = 2 * options.flow.viscosity * options.time * h * h / 12 * 1.1 + (single ? 1e-5 : 1e-8);
        good = report(error <= allowed, fmt::format("exact solution: largest error {:.2e}, allowed {:.2e}", error, allowed)) && good;
    }
    if (ranks.size() > 1) return good;
    return check_method(session.backend(), session.library()) && good;
}

// How ranks exchange, in the flow and in its pressure solver.
void choose_exchange(const Options& options, hone::Session& session, Communicator& ranks) {
    if (ranks.size() == 1) return;
    hone::Backend& backend = session.backend();
    StepTimer timer(ranks, backend);
    const auto run = [&] {
        Flow flow(ranks, backend, session.library(), options.flow);
        flow.set(taylor_green(flow.mesh(), 0, options.flow.viscosity));
        const double dt = time_steps(flow.mesh(), options.time, 2, options.flow.viscosity, 2 * options.courant).dt;
        return timer.steps([&] { flow.step(dt); }, [&] { return sums_of(flow.velocity(), options.flow.viscosity, ranks).energy; });
    };
    const int n = options.flow.cells;
    const std::string size = fmt::format("nx={0} ny={0} nz={0}", n);
    const hone::Problem problem = hone::built_in_families().parse_problem(
        "poisson7 kernel=direction coefficients=scalar boundary=periodic precision=" + options.flow.precision + " " + size);
    ExchangedStep step{"taylor_green", problem, {}};
    step.space.edges = {hone::EdgePlace::ahead, hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
    step.space.depth = {1, 2};
    choose_exchange(options.exchange, ranks, backend, session.database(), options.records, step, run);
}

int run(Options options, Communicator& ranks) {
    hone::Session session(hone::device_of_rank(options.device, ranks), session_settings(options.records, ranks));
    const bool cuda = !hone::traits_of(session.device().fingerprint.target).shares_processors, speaks = ranks.rank() == 0;
    if (options.flow.cells == 0) options.flow.cells = (cuda ? 128 : 32) * (options.flow.dimension == 2 ? 2 : 1);
    expect_same_on_all_ranks(ranks, "number of cells along an axis", fmt::format("{}", options.flow.cells));
    if (options.flow.precision == "f32") options.flow.divergence = 1e-6;
    choose_exchange(options, session, ranks);
    Flow flow(ranks, session.backend(), session.library(), options.flow);
    const TimeSteps steps = time_steps(flow.mesh(), options.time, 2, options.flow.viscosity, 2 * options.courant);
    if (speaks) print_beginning(options, flow, steps, session, ranks);
    flow.set(taylor_green(flow.mesh(), 0, options.flow.viscosity));
    const History history = simulate(flow, session.backend(), options, steps, ranks);
    bool good = true;
    if (speaks) {
        print_history(history);
        fmt::print("{:.1f} iterations of the pressure solver per stage\n",
                   static_cast<double>(flow.iterations()) / steps.count / hone::solvers::FlowKernels::stages);
        fmt::print("{} steps in {:.4g} s, {:.4g} ms each\n", steps.count, history.seconds, 1e3 * history.seconds / steps.count);
        if (!options.folder.empty()) write_history(options.folder, history);
        good = check_all(flow, history, options, session, ranks);
    }
    return all_reduce(ranks, hone::Reduction::smallest, good ? 1 : 0) > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{
        "Incompressible flow in a periodic box: the Taylor-Green vortex.\n\n"
        "Three Runge-Kutta stages a time step, each followed by a pressure equation that makes the velocity free of divergence; its solver's "
        "kernels\n"
        "come from the database of tuned results. At the end the program checks itself against exact solutions and conservation laws."};
    declare(app, options);
    app.footer(
        "Examples:\n"
        "  taylor_green                                        the vortex in 3D, with its checks\n"
        "  taylor_green --dimension 2 --cells 128              compared with the exact solution\n"
        "  taylor_green --viscosity 0.01 --output pictures     then open pictures/flow.pvd in ParaView\n"
        "  mpirun -n 4 taylor_green --cells 64                 four ranks, each with a part of the planes");
    return run_on_ranks("taylor_green", app, argc, argv, options.device, [&](Communicator& ranks) { return run(options, ranks); });
} catch (const std::exception& error) {
    fmt::print(stderr, "taylor_green: {}\n", error.what());
    return 2;
}
