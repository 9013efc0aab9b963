// Solves a Poisson equation on a box: -Laplace u = f, by conjugate gradients with the kernels of
// family poisson7, and says how fast.
//
//     poisson [--size 128] [--method polynomial|jacobi|none] [--boundary periodic|dirichlet|neumann] [--precision f32|f64] ...
//
// The right-hand side is that of a known solution, or random. Exit code 0: it converged, and the
// checks printed at the end hold.
//
//     mpirun -n 4 poisson --size 256              ranks in processes, each with a part of the planes (docs/many-devices.md)
//     poisson --size 512 --device cuda:0,cuda:1   ranks in threads of this process
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <memory>
#include <random>
#include <span>
#include <type_traits>

#include "examples/options/checks.hpp"
#include "examples/options/exchange.hpp"
#include "examples/options/on_ranks.hpp"
#include "examples/options/options.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;
using hone::Communicator;
using hone::Reduction;

struct Options {
    std::string device = "best", records;
    std::filesystem::path folder;
    std::string method = "polynomial";
    PoissonCaseSettings equation{.size = 0, .planes = 0};
    SolverSettings settings;
    ExchangeOptions exchange;
};

void declare(CLI::App& app, Options& options) {
    add_device(app, options.device, options.records, device_list);
    add_exchange(app, options.exchange);
    app.add_option("--size", options.equation.size, "cells along each axis; 0: 512 on a GPU, 128 on a processor")
        ->capture_default_str()
        ->check(CLI::Range(0, 2048));
    app.add_option("--planes", options.equation.planes, "cells along z, if the box is longer or shorter there; 0: the same as --size")
        ->capture_default_str()
        ->check(CLI::Range(0, 8192));
    app.add_option("--method", options.method, "preconditioner")->capture_default_str()->check(CLI::IsMember({"none", "jacobi", "polynomial"}));
    app.add_option("--polynomial", options.settings.c, "c of the polynomial preconditioner c Q - Q M Q")->capture_default_str()->check(positive());
    app.add_option("--coefficients", options.equation.coefficients,
                   "storage of the operator: four numbers (scalar), vectors along each axis (axis), or one number per face (face)")
        ->capture_default_str()
        ->check(CLI::IsMember({"scalar", "axis", "face"}));
    app.add_option("--boundary", options.equation.boundary, "boundary condition")
        ->capture_default_str()
        ->check(CLI::IsMember({"periodic", "dirichlet", "neumann"}));
    add_precision(app, options.equation.precision, "of the solver");
    app.add_option("--right-hand-side", options.equation.right_hand_side, "known: of a known solution, which the result is compared with; or random")
        ->capture_default_str()
        ->check(CLI::IsMember({"known", "random"}));
    app.add_option("--seed", options.equation.seed, "seed of the random right-hand side")->capture_default_str();
    app.add_option("--tolerance", options.settings.tolerance, "residual to reach, relative to the first")->capture_default_str()->check(positive());
    app.add_option("--iterations", options.settings.most_iterations, "maximum number of iterations")->capture_default_str()->check(positive());
    app.add_option("--check-every", options.settings.check_every, "iterations between checks of the residual")->capture_default_str();
    app.add_option("--output", options.folder,
                   "folder for the residuals (history.csv, history.svg), the solution (solution.vti; on several ranks one file per rank and "
                   "solution.pvti) and its middle plane (solution.png)");
}

void print_history(const std::vector<double>& history) {
    fmt::print("residual after iteration\n");
    for (std::size_t n = 1; n < history.size(); n *= 2) fmt::print("{:10}  {:.3e}\n", n, history[n - 1]);
    if (!history.empty()) fmt::print("{:10}  {:.3e}\n", history.size(), history.back());
}

void write_history(const std::filesystem::path& folder, const std::string& method, const std::vector<double>& history) {
    Table table{{"iteration", "residual"}, {}};
    for (std::size_t n = 0; n < history.size(); ++n) table.rows.push_back({static_cast<double>(n + 1), history[n]});
    write_csv(folder / "history.csv", table);
    Chart chart{"Conjugate gradients, preconditioner: " + method, "iteration", "|r| / |first r|", true, table.curves("iteration", {"residual"})};
    chart.curves.front().name = method;
    write_chart(folder / "history.svg", chart);
}

// Each rank its planes; the one that has the grid's middle plane, the picture.
void write_solution(const std::filesystem::path& folder, const PoissonCase& of, const std::vector<double>& x) {
    const int n = of.settings.size, nz = of.settings.planes;
    if (of.planes.first <= nz / 2 && nz / 2 < of.planes.last) {
        const auto middle = static_cast<std::size_t>(nz / 2 - of.planes.first) * of.cells_of_plane();
        write_png(folder / "solution.png", n, n, [&](int i, int j) { return x[middle + static_cast<std::size_t>((n - 1 - j) * n + i)]; },
                  {.magnify = std::max(1, 512 / n)});
    }
    const std::vector<float> words(x.begin(), x.end());
    VtkImage image({n, n, of.system.nz}, {0, 0, 0}, {of.width, of.width, of.width}, {0, 0, static_cast<int>(of.planes.first)});
    image.cell_field("u", 1, std::span<const float>(words));
    write_rank_image(of.ranks, folder, "solution", image, {n, n, nz});
}

// With a bar on the residual's logarithmic way to the tolerance.
Solve watched(PoissonSolver& solver, const PoissonCase& of, std::vector<double>& x, SolverSettings settings) {
    if (of.ranks.rank() > 0) return solver.solve(of.right_hand_side, x, settings);
    constexpr int whole_way = 100;
    Progress progress("% of the way", whole_way);
    settings.progress = [&](std::span<const double> history) {
        const double done = std::clamp(std::log(history.back()) / std::log(settings.tolerance), 0.0, 1.0);
        progress.at(static_cast<int>(done * whole_way), [&] { return fmt::format("iteration {}, residual {:.2e}", history.size(), history.back()); });
    };
    return solver.solve(of.right_hand_side, x, settings);
}

void print_speed(const Solve& solve, const PoissonCase& of, double bytes, double copy) {
    const double per_iteration = solve.seconds / solve.executed;
    const double words = bytes / of.cells_of_grid() / (of.settings.precision == "f32" ? 4 : 8);
    const double rate = bytes / per_iteration;
    fmt::print("{} iterations in {:.3g} s: {:.3g} ms each, {:.1f} M cell updates/s, {:.1f} GB/s of {:.2f} words per cell{}\n", solve.executed,
               solve.seconds, per_iteration * 1e3, of.cells_of_grid() / per_iteration * 1e-6, rate * 1e-9, words, beside_copy(rate, copy));
}

void print_beginning(const Options& options, const PoissonSolver& solver, const hone::Session& session, const Communicator& ranks) {
    fmt::print("-Laplace u = f on {0} x {0} x {1} cells, {2}, {3}, {4} coefficients, on {5}\n{6}\n", options.equation.size, options.equation.planes,
               options.equation.boundary, options.equation.precision, options.equation.coefficients, session.device().fingerprint.name,
               solver.kernels());
    if (ranks.size() > 1) fmt::print("{} ranks, by {}\n", ranks.size(), ranks.transport());
}

// The same random plane again and again, and zeros to begin with.
void set_repeated(hone::Backend& backend, const PoissonSolver& solver, const PoissonSystem& of) {
    const auto precision = of.precision == "f32" ? hone::Precision::f32 : hone::Precision::f64;
    hone::HostArray plane(precision, solver.pitch() * of.ny);
    std::mt19937_64 random(1);
    std::uniform_real_distribution<> uniform(-1, 1);
    const auto fill = [&](auto words) {
        for (std::size_t at = 0; at < words.size(); ++at)
            words[at] =
                static_cast<std::int64_t>(at) % solver.pitch() < of.nx ? static_cast<std::remove_cvref_t<decltype(words[0])>>(uniform(random)) : 0;
    };
    precision == hone::Precision::f32 ? fill(plane.values<float>()) : fill(plane.values<double>());
    auto* const b = static_cast<char*>(solver.right_hand_side());
    backend.copy(b, plane.data(), plane.bytes());
    for (int k = 1; k < of.nz; ++k) backend.copy(b + k * plane.bytes(), b, plane.bytes());
    backend.fill(solver.solution(), 0, of.nz * plane.bytes());
    backend.synchronise();
}

std::unique_ptr<PoissonSolver> make_solver(const Options& options, hone::Session& session, const PoissonCase& of) {
    hone::Backend& backend = session.backend();
    Communicator& ranks = of.ranks;
    StepTimer timer(ranks, backend);
    const auto make = [&] { return std::make_unique<PoissonSolver>(ranks, of.partition, backend, session.library(), of.system); };
    const auto measure = [&](PoissonSolver& solver) {
        set_repeated(backend, solver, of.system);
        double residual = 0;
        const auto take = [&](int steps) {
            SolverSettings settings = options.settings;
            settings.most_iterations = steps, settings.tolerance = 0, settings.progress = {};
            const Solve solve = solver.solve(settings);
            residual = solve.history.back();
            return solve.seconds / solve.executed * steps;
        };
        return timer(take, [&] { return residual; });
    };
    ExchangedStep step{"poisson", direction_problem(of.system, of.settings.planes), {}};
    step.space.edges = {hone::EdgePlace::ahead, hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
    std::iter_swap(step.space.edges.begin(), std::find(step.space.edges.begin(), step.space.edges.end(), PoissonSolver::usual_edges(backend)));
    step.space.depth = {1, 2, 4};
    const auto choose = [&](const auto& run) { choose_exchange(options.exchange, ranks, backend, session.database(), options.records, step, run); };
    return solver_with_exchange(make, choose, measure);
}

int run(Options options, Communicator& ranks) {
    hone::Session session(hone::device_of_rank(options.device, ranks), session_settings(options.records, ranks));
    const bool cuda = !hone::traits_of(session.device().fingerprint.target).shares_processors;
    if (options.equation.size == 0) options.equation.size = cuda ? 512 : 128;
    if (options.equation.planes == 0) options.equation.planes = options.equation.size;
    hone::expect_same_on_all_ranks(ranks, "number of cells along an axis", fmt::format("{}", options.equation.size));
    const PoissonCase of(options.equation, ranks);
    options.settings.preconditioner = options.method == "none"     ? Preconditioner::none
                                      : options.method == "jacobi" ? Preconditioner::jacobi
                                                                   : Preconditioner::polynomial;
    const bool speaks = ranks.rank() == 0;
    const std::unique_ptr<PoissonSolver> made = make_solver(options, session, of);
    PoissonSolver& solver = *made;
    if (speaks) print_beginning(options, solver, session, ranks);
    std::vector<double> x(of.right_hand_side.size(), 0.0);
    const Solve solve = watched(solver, of, x, options.settings);
    if (speaks) print_history(solve.history);
    if (!options.folder.empty()) {
        std::filesystem::create_directories(options.folder);
        if (speaks) write_history(options.folder, options.method, solve.history);
        write_solution(options.folder, of, x);
    }
    const double bytes = all_reduce(ranks, Reduction::sum, solve.bytes);
    const double copy = copy_rate(session.backend(), ranks, solve.seconds);
    if (speaks) {
        fmt::print("{} after {} iterations\n", to_string(solve.ending), solve.iterations);
        print_speed(solve, of, bytes, copy);
    }
    if (solve.ending != Ending::converged) return 1;
    std::vector<Check> checks{check_residual(solver, of, x, options.settings.tolerance)};
    if (auto order = check_order(session.backend(), session.library(), of, x, options.settings)) checks.push_back(std::move(*order));
    return report(checks, ranks) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{"Solves a Poisson equation on a box with tuned kernels."};
    declare(app, options);
    app.footer(
        "Examples:\n"
        "  poisson                                            -Laplace u = f with zeros beyond the box, with its error\n"
        "  poisson --boundary periodic --coefficients scalar  walls that are no walls, and the operator as four numbers\n"
        "  poisson --size 64 --method none --output pictures  without a preconditioner; look at pictures/history.svg\n"
        "  mpirun -n 4 poisson --size 256                     four ranks, each with a part of the planes");
    return run_on_ranks("poisson", app, argc, argv, options.device, [&](Communicator& ranks) { return run(options, ranks); });
} catch (const std::exception& error) {
    fmt::print(stderr, "poisson: {}\n", error.what());
    return 2;
}
