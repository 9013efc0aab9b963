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
#include <fstream>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <memory>
#include <numbers>
#include <numeric>
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
using hone::CellRange;
using hone::Communicator;
using hone::GridPartition;
using hone::Reduction;

struct Options {
    std::string device = "best", records;
    std::filesystem::path folder;
    std::string method = "polynomial", coefficients = "axis", boundary = "dirichlet", precision = "f64", right_hand_side = "known";
    int size = 0, planes = 0;
    unsigned seed = 1;
    SolverSettings settings;
    ExchangeOptions exchange;
};

void declare(CLI::App& app, Options& options) {
    add_device(app, options.device, options.records, device_list);
    add_exchange(app, options.exchange);
    app.add_option("--size", options.size, "cells along each axis; 0: 512 on a GPU, 128 on the processor")
        ->capture_default_str()
        ->check(CLI::Range(0, 2048));
    app.add_option("--planes", options.planes, "cells along z, of a box that is as much longer or shorter there; 0: as --size")
        ->capture_default_str()
        ->check(CLI::Range(0, 8192));
    app.add_option("--method", options.method, "preconditioner")->capture_default_str()->check(CLI::IsMember({"none", "jacobi", "polynomial"}));
    app.add_option("--polynomial", options.settings.c, "c of the polynomial c Q - Q M Q")->capture_default_str()->check(positive());
    app.add_option("--coefficients", options.coefficients, "how the operator is stored")
        ->capture_default_str()
        ->check(CLI::IsMember({"scalar", "axis", "face"}));
    app.add_option("--boundary", options.boundary, "beyond the box")
        ->capture_default_str()
        ->check(CLI::IsMember({"periodic", "dirichlet", "neumann"}));
    add_precision(app, options.precision, "of the solver");
    app.add_option("--right-hand-side", options.right_hand_side, "of a known solution, which is compared, or random")
        ->capture_default_str()
        ->check(CLI::IsMember({"known", "random"}));
    app.add_option("--seed", options.seed, "of the random numbers")->capture_default_str();
    app.add_option("--tolerance", options.settings.tolerance, "of the residual, relative to the first")->capture_default_str()->check(positive());
    app.add_option("--iterations", options.settings.most_iterations, "at most")->capture_default_str()->check(positive());
    app.add_option("--check-every", options.settings.check_every, "iterations from one look at the residual to the next")->capture_default_str();
    app.add_option(
        "--output", options.folder,
        "folder for the residuals (history.csv, history.svg) and the solution (solution.vti, of several ranks a file each and solution.pvti, "
        "and its middle plane as solution.png)");
}

// A function of one coordinate from 0 to `length` that the boundary allows, and its second
// derivative, at the centre of cell number n.
struct Profile {
    std::string boundary;
    double width;  ///< of a cell, where all are 1 long. Walls of the dirichlet box are where the cells beyond have their centres.
    double length;

    Profile(std::string at_both_ends, int cells, double with_length = 1)
        : boundary(std::move(at_both_ends)), width(1.0 / (boundary == "dirichlet" ? cells + 1 : cells)), length(with_length) {}

    struct Value {
        double function, curvature;
    };
    Value operator()(int n) const {
        const double t = (boundary == "dirichlet" ? n + 1 : n + 0.5) * width;
        const double angle = std::numbers::pi * t * (boundary == "periodic" ? 2 : 1);
        const double s = std::sin(angle), c = std::cos(angle), pi = std::numbers::pi;
        const double square = length * length;
        if (boundary == "periodic") return {std::exp(s), 4 * pi * pi * std::exp(s) * (c * c - s) / square};
        if (boundary == "neumann") return {std::exp(c), pi * pi * std::exp(c) * (s * s - c) / square};
        return {std::exp(t) * s, std::exp(t) * ((1 - pi * pi) * s + 2 * pi * c) / square};
    }
};

// A rank's planes of the problem.
struct Case {
    GridPartition partition;
    CellRange planes;
    PoissonSystem system;
    std::vector<double> exact;  ///< empty where nobody knows it
    std::vector<double> right_hand_side;

    std::size_t cells_of_plane() const { return static_cast<std::size_t>(system.nx) * static_cast<std::size_t>(system.ny); }
    double cells_of_grid() const { return static_cast<double>(cells_of_plane()) * static_cast<double>(partition.cells[2]); }
};

// The mean over all ranks' cells, by planes, so that it does not know how many they are.
double mean_of(const Case& of, const std::vector<double>& cells, Communicator& ranks) {
    std::vector<double> own(static_cast<std::size_t>(of.planes.cells())), all(static_cast<std::size_t>(of.partition.cells[2]));
    auto plane = cells.begin();
    for (double& sum : own) {
        const auto next = plane + static_cast<std::ptrdiff_t>(of.cells_of_plane());
        sum = std::accumulate(plane, next, 0.0);
        plane = next;
    }
    ranks.all_gather(own, planes_of_ranks(of.partition), all);
    return std::accumulate(all.begin(), all.end(), 0.0) / of.cells_of_grid();
}

// With n cells along x and y, and nz along z.
Case make_case(const Options& options, int n, int nz, Communicator& ranks) {
    const Profile profile(options.boundary, n), along_z(options.boundary, nz, profile.width / Profile(options.boundary, nz).width);
    const GridPartition partition = partition_planes(options.boundary, n, n, nz, ranks.size());
    const CellRange planes = partition.block(ranks.rank())[2];
    const int own = static_cast<int>(planes.cells());
    Case result{
        partition, planes, PoissonSystem::laplacian(options.coefficients, options.boundary, options.precision, n, n, own, profile.width), {}, {}};
    std::vector<double>& b = result.right_hand_side;
    b.resize(static_cast<std::size_t>(result.system.cells()));
    if (options.right_hand_side == "random") {
        std::mt19937_64 random(options.seed);
        random.discard(static_cast<unsigned long long>(planes.first) * result.cells_of_plane());
        std::uniform_real_distribution<> uniform(-1, 1);
        std::generate(b.begin(), b.end(), [&] { return uniform(random); });
        return result;
    }
    std::vector<Profile::Value> along;
    along.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) along.push_back(profile(i));
    std::vector<double>& exact = result.exact;
    exact.resize(b.size());
#pragma omp parallel for schedule(static)
    for (int k = 0; k < own; ++k) {
        const auto z = along_z(static_cast<int>(planes.first) + k);
        std::size_t cell = static_cast<std::size_t>(k) * result.cells_of_plane();
        for (const auto& y : along)
            for (const auto& x : along) {
                exact[cell] = x.function * y.function * z.function;
                b[cell++] = -(x.curvature * y.function * z.function + x.function * y.curvature * z.function + x.function * y.function * z.curvature);
            }
    }
    if (!result.system.singular) return result;
    // Solutions have no mean there.
    const double mean = mean_of(result, result.exact, ranks);
    for (double& value : result.exact) value -= mean;
    return result;
}

void print_history(const std::vector<double>& history) {
    fmt::print("residual after iteration\n");
    for (std::size_t n = 1; n < history.size(); n *= 2) fmt::print("{:10}  {:.3e}\n", n, history[n - 1]);
    if (!history.empty()) fmt::print("{:10}  {:.3e}\n", history.size(), history.back());
}

void write_history(const std::filesystem::path& folder, const std::string& method, const std::vector<double>& history) {
    const std::filesystem::path file = folder / "history.csv";
    std::ofstream stream(file);
    stream << "iteration,residual\n";
    Chart chart{"Conjugate gradients, preconditioner: " + method, "iteration", "|r| / |first r|", true, {{method, {}}}};
    for (std::size_t n = 0; n < history.size(); ++n) {
        stream << fmt::format("{},{}\n", n + 1, history[n]);
        chart.curves[0].points.emplace_back(static_cast<double>(n + 1), history[n]);
    }
    stream.close();
    if (!stream) throw hone::Error(file.string(), "it cannot be written", "choose another folder for --output");
    write_chart(folder / "history.svg", chart);
}

// Each rank its planes; the one that has the grid's middle plane, the picture.
void write_solution(const std::filesystem::path& folder, const Case& of, const std::vector<double>& x, double width, Communicator& ranks) {
    const int n = of.system.nx, nz = static_cast<int>(of.partition.cells[2]);
    if (of.planes.first <= nz / 2 && nz / 2 < of.planes.last) {
        const auto middle = static_cast<std::size_t>(nz / 2 - of.planes.first) * of.cells_of_plane();
        write_png(folder / "solution.png", n, n, [&](int i, int j) { return x[middle + static_cast<std::size_t>((n - 1 - j) * n + i)]; },
                  {.magnify = std::max(1, 512 / n)});
    }
    const std::vector<float> words(x.begin(), x.end());
    VtkImage image({n, n, of.system.nz}, {0, 0, 0}, {width, width, width}, {0, 0, static_cast<int>(of.planes.first)});
    image.cell_field("u", 1, std::span<const float>(words));
    write_rank_image(ranks, folder, "solution", image, {n, n, nz});
}

// With a bar on the residual's logarithmic way to the tolerance.
Solve watched(PoissonSolver& solver, const Case& of, std::vector<double>& x, SolverSettings settings, Communicator& ranks) {
    if (ranks.rank() > 0) return solver.solve(of.right_hand_side, x, settings);
    constexpr int whole_way = 100;
    Progress progress("% of the way", whole_way);
    settings.progress = [&](std::span<const double> history) {
        const double done = std::clamp(std::log(history.back()) / std::log(settings.tolerance), 0.0, 1.0);
        progress.at(static_cast<int>(done * whole_way), [&] { return fmt::format("iteration {}, residual {:.2e}", history.size(), history.back()); });
    };
    return solver.solve(of.right_hand_side, x, settings);
}

void print_speed(const Solve& solve, const Case& of, double bytes, double copy) {
    const double per_iteration = solve.seconds / solve.executed;
    const double words = bytes / of.cells_of_grid() / (of.system.precision == "f32" ? 4 : 8);
    const double rate = bytes / per_iteration;
    fmt::print("{} iterations in {:.3g} s: {:.3g} ms each, {:.1f} M cell updates/s, {:.1f} GB/s of {:.2f} words per cell", solve.executed,
               solve.seconds, per_iteration * 1e3, of.cells_of_grid() / per_iteration * 1e-6, rate * 1e-9, words);
    if (copy > 0) fmt::print(", {:.0f} % of what a copy moves here ({:.1f} GB/s)", 100 * rate / copy, copy * 1e-9);
    fmt::print("\n");
}

double largest_error(const Case& of, const std::vector<double>& x, Communicator& ranks) {
    double error = 0;
    for (std::size_t cell = 0; cell < x.size(); ++cell) error = std::max(error, std::abs(x[cell] - of.exact[cell]));
    return all_reduce(ranks, Reduction::largest, error);
}

bool check_residual(PoissonSolver& solver, const Case& of, const std::vector<double>& x, const Options& options, Communicator& ranks) {
    const double unit = options.precision == "f32" ? 0x1p-24 : 0x1p-53;
    const double residual = solver.true_residual(of.right_hand_side, x);
    // What is computed in rounded numbers cannot follow the recurrence below unit roundoff times
    // the condition number, about the longest side's square.
    const double longest = std::max(options.size, options.planes);
    const double allowed = 2 * options.settings.tolerance + 10 * unit * longest * longest;
    return report(residual <= allowed, fmt::format("|b - M x| / |b| = {:.2e}, allowed {:.2e}", residual, allowed), ranks);
}

// Errors against the known solution here and with cells of twice the width: a quarter, where
// rounding does not hide it.
bool check_order(hone::Session& session, const Case& of, const std::vector<double>& x, const Options& options, Communicator& ranks) {
    const double fine = largest_error(of, x, ranks);
    const Case half = make_case(options, options.size / 2, options.planes / 2, ranks);
    PoissonSolver solver(ranks, half.partition, session.backend(), session.library(), half.system);
    std::vector<double> coarse_x(half.right_hand_side.size(), 0.0);
    SolverSettings settings = options.settings;
    settings.progress = {};
    solver.solve(half.right_hand_side, coarse_x, settings);
    const double order = std::log2(largest_error(half, coarse_x, ranks) / fine);
    return report(std::abs(order - 2) < 0.3, fmt::format("largest error {:.2e}, of order {:.2f} in the cells' width", fine, order), ranks);
}

// On the grid of cells of twice the width, each rank needs its chunk of planes, too.
bool order_can_be_checked(const Case& of, const Options& options, const Communicator& ranks) {
    // On fewer cells the fourth power of their width still counts.
    constexpr int cells_for_order = 32;
    if (of.exact.empty() || options.precision != "f64" || options.size < cells_for_order) return false;
    return options.planes / 2 >= ranks.size() * hone::poisson::chunk_planes;
}

void print_beginning(const Options& options, const PoissonSolver& solver, const hone::Session& session, const Communicator& ranks) {
    fmt::print("-Laplace u = f on {0} x {0} x {1} cells, {2}, {3}, {4} coefficients, on {5}\n{6}\n", options.size, options.planes, options.boundary,
               options.precision, options.coefficients, session.device().fingerprint.name, solver.kernels());
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

std::unique_ptr<PoissonSolver> make_solver(const Options& options, hone::Session& session, const Case& of, Communicator& ranks) {
    hone::Backend& backend = session.backend();
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
    ExchangedStep step{"poisson", direction_problem(of.system, static_cast<int>(of.partition.cells[2])), {}};
    step.space.edges = {hone::EdgePlace::ahead, hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
    std::iter_swap(step.space.edges.begin(), std::find(step.space.edges.begin(), step.space.edges.end(), PoissonSolver::usual_edges(backend)));
    step.space.depth = {1, 2, 4};
    const auto choose = [&](const auto& run) { choose_exchange(options.exchange, ranks, backend, session.database(), options.records, step, run); };
    return solver_with_exchange(make, choose, measure);
}

int run(Options options, Communicator& ranks) {
    hone::Session session(hone::device_of_rank(options.device, ranks), session_settings(options.records, ranks));
    const bool cuda = !hone::traits_of(session.device().fingerprint.target).shares_processors;
    if (options.size == 0) options.size = cuda ? 512 : 128;
    if (options.planes == 0) options.planes = options.size;
    hone::expect_same_on_all_ranks(ranks, "number of cells along an axis", fmt::format("{}", options.size));
    const Case of = make_case(options, options.size, options.planes, ranks);
    options.settings.preconditioner = options.method == "none"     ? Preconditioner::none
                                      : options.method == "jacobi" ? Preconditioner::jacobi
                                                                   : Preconditioner::polynomial;
    const bool speaks = ranks.rank() == 0;
    const std::unique_ptr<PoissonSolver> made = make_solver(options, session, of, ranks);
    PoissonSolver& solver = *made;
    if (speaks) print_beginning(options, solver, session, ranks);
    std::vector<double> x(of.right_hand_side.size(), 0.0);
    const Solve solve = watched(solver, of, x, options.settings, ranks);
    if (speaks) print_history(solve.history);
    if (!options.folder.empty()) {
        std::filesystem::create_directories(options.folder);
        if (speaks) write_history(options.folder, options.method, solve.history);
        write_solution(options.folder, of, x, Profile(options.boundary, options.size).width, ranks);
    }
    const double bytes = all_reduce(ranks, Reduction::sum, solve.bytes);
    const double copy = copy_rate(session.backend(), ranks, solve.seconds);
    if (speaks) {
        fmt::print("{} after {} iterations\n", to_string(solve.ending), solve.iterations);
        print_speed(solve, of, bytes, copy);
    }
    if (solve.ending != Ending::converged) return 1;
    bool good = check_residual(solver, of, x, options, ranks);
    if (order_can_be_checked(of, options, ranks)) good = check_order(session, of, x, options, ranks) && good;
    return good ? 0 : 1;
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
