// Solves -Laplace u = 3 pi^2 sin(pi x) sin(pi y) sin(pi z) on the unit cube with the Gauss-Seidel
// sweeps of family gauss_seidel_27: by sweeps alone, whose errors are known exactly, and as the
// smoother of multigrid.
//
//     multigrid_smoother [--size 63] [--stencil all|constant|semi_constant|variable|symmetric] [--operator trilinear|seven_point] ...
//
// Exit code 0: the checks printed at the end hold.
//
//     mpirun -n 4 multigrid_smoother              ranks in processes, each with a part of the planes (docs/many-devices.md)
//     multigrid_smoother --device cuda:0,cuda:1   ranks in threads of this process
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
#include <optional>
#include <vector>

#include "examples/options/checks.hpp"
#include "examples/options/exchange.hpp"
#include "examples/options/on_ranks.hpp"
#include "examples/options/options.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;

struct Options {
    std::string device = "best", records, stencil = "all", operator_name = "trilinear", precision = "f64", output;
    int size = 0, sweeps = 32, cycles = 30;
    Multigrid::Settings settings;
    ExchangeOptions exchange;
};

void declare(CLI::App& app, Options& options) {
    add_device(app, options.device, options.records, device_list);
    add_exchange(app, options.exchange);
    app.add_option("--size", options.size, "interior points along each axis, 2^k - 1; 0: 255 on a GPU, 63 on a processor")
        ->capture_default_str()
        ->check(CLI::Range(0, 1023));
    app.add_option("--stencil", options.stencil,
                   "storage of the operator: constant (one stencil), semi_constant (one per row), variable (one per point), symmetric (half a "
                   "stencil per point), or all")
        ->capture_default_str()
        ->check(CLI::IsMember({"all", "constant", "semi_constant", "variable", "symmetric"}));
    app.add_option("--operator", options.operator_name, "trilinear: 27-point finite elements; seven_point: 7-point differences")
        ->capture_default_str()
        ->check(CLI::IsMember({"trilinear", "seven_point"}));
    add_precision(app, options.precision, "of everything on the device");
    app.add_option("--sweeps", options.sweeps, "Gauss-Seidel sweeps without multigrid")->capture_default_str()->check(CLI::Range(1, 100000));
    app.add_option("--cycles", options.cycles, "maximum number of multigrid V-cycles")->capture_default_str()->check(positive());
    app.add_option("--before", options.settings.sweeps_before, "sweeps of a V-cycle before the coarse grid")
        ->capture_default_str()
        ->check(CLI::Range(0, 10));
    app.add_option("--after", options.settings.sweeps_after, "sweeps of a V-cycle after the coarse grid")
        ->capture_default_str()
        ->check(CLI::Range(1, 10));
    app.add_option("--output", options.output, "folder for a chart of the convergence, and a picture and a .vti file of the error");
}

struct Run {
    const Options& options;
    hone::Communicator& ranks;
    hone::Backend& backend;
    hone::KernelLibrary& library;
    std::vector<Chart::Curve> curves = {};
    bool good = true;

    hone::Precision precision() const { return options.precision == "f32" ? hone::Precision::f32 : hone::Precision::f64; }
    double unit() const { return options.precision == "f32" ? 0x1p-24 : 0x1p-53; }

    bool speaks() const { return ranks.rank() == 0; }
    void check(bool holds, const std::string& what) { good = report(holds, what, ranks) && good; }
};

// Sweeps from u = 0, beside the exact recurrence of the errors.
void sweep(Run& run, SmoothedGrid& grid, const std::string& stencil) {
    ColourErrors theory(grid.problem());
    Chart::Curve computed_curve{"sweeps, computed (" + stencil + ")", {}}, theory_curve{"sweeps, theory", {}};
    std::optional<Progress> progress;
    if (run.speaks()) progress.emplace("sweeps", run.options.sweeps);
    if (run.speaks()) fmt::print("{:>8}  {:>14}  {:>14}  {:>20}\n", "sweeps", "largest error", "theory", "largest difference");
    double difference = 0, seconds = 0;
    grid.sweep();  // unmeasured: the first one of a kernel is not like the others
    grid.clear_u();
    run.backend.synchronise();
    for (int number = 1; number <= run.options.sweeps; ++number) {
        seconds += run.backend.seconds({}, [&] { grid.sweep(); });
        theory.sweep();
        if (progress) progress->at(number);
        if ((number & (number - 1)) != 0 && number != run.options.sweeps) continue;
        const auto errors = grid.colour_errors();
        const double computed = *std::max_element(errors.begin(), errors.end());
        const double distance = grid.distance(&theory);
        difference = std::max(difference, distance);
        if (progress) progress->clear();
        if (run.speaks()) fmt::print("{:8}  {:14.8f}  {:14.8f}  {:20.2e}\n", number, computed, theory.largest(), distance);
        computed_curve.points.emplace_back(number, computed);
        theory_curve.points.emplace_back(number, theory.largest());
    }
    progress.reset();
    const double updates = std::pow(grid.problem().n, 3) * run.options.sweeps;
    seconds = all_reduce(run.ranks, hone::Reduction::largest, seconds);
    if (run.speaks()) fmt::print("{:.4g} M updates/s\n", updates / seconds * 1e-6);
    // Thirty roundings of numbers below 2 per update, each colour inherits those of the ones before
    // it, and no sweep makes an error larger.
    const double allowed = 8 * 60 * run.unit() * run.options.sweeps;
    run.check(difference <= allowed, fmt::format("{} sweeps follow the theory within {:.1e}, allowed {:.1e}", stencil, difference, allowed));
    run.curves.push_back(computed_curve);
    if (run.curves.size() == 1) run.curves.push_back(theory_curve);
}

void cycle(Run& run, Multigrid& multigrid, const std::string& stencil) {
    SmoothedGrid& grid = multigrid.finest();
    const ModelProblem& problem = grid.problem();
    // What rounded numbers can reach, relative to the right-hand side.
    const double floor = 16 * run.unit() * problem.weights[0] * problem.amplitude / problem.source;
    const double tolerance = std::max(1e-10, floor);
    grid.clear_u();
    const double first = multigrid.residual();
    Chart::Curve curve{"V-cycles, residual (" + stencil + ")", {}};
    std::optional<Progress> progress;
    if (run.speaks()) progress.emplace("V-cycles", run.options.cycles);
    if (run.speaks()) fmt::print("{:>8}  {:>14}  {:>8}  {:>24}\n", "V-cycles", "residual", "factor", "sweeps for as much");
    double residual = 1;
    int number = 0;
    while (residual > tolerance && number < run.options.cycles) {
        multigrid.cycle();
        const double before = residual;
        residual = multigrid.residual() / first;
        ++number;
        if (progress) progress->at(number), progress->clear();
        // Sweeps alone leave cos^2(pi h) of the smoothest error (7-point operator).
        if (run.speaks())
            fmt::print("{:8}  {:14.2e}  {:8.3f}  {:24.0f}\n", number, residual, residual / before,
                       std::log(residual) / (2 * std::log(problem.cosine)));
        curve.points.emplace_back(number, residual);
    }
    const double factor = std::pow(residual, 1.0 / number);
    constexpr double slowest = 0.5;
    run.check(residual <= tolerance && factor <= slowest,
              fmt::format("{} V-cycles on {} grids leave {:.3f} of the residual each, at most {:.2f}", number, multigrid.grids(), factor, slowest));
    // No residual r makes an error above |r| / 8 on the unit cube.
    const double distance = grid.distance(), allowed = (residual + floor) * problem.source / problem.volume / 8;
    run.check(distance <= allowed, fmt::format("distance from the discrete solution {:.1e}, allowed {:.1e}", distance, allowed));
    run.curves.push_back(curve);
}

// The error of the plain sweeps in the middle plane, and everywhere: what multigrid leaves to
// coarse grids is smooth but for the colours. Of each rank its planes, with the one above, which
// both parts of an image have that meet there.
void write_files(const Run& run, const SmoothedGrid& grid) {
    const std::filesystem::path folder = run.options.output;
    std::filesystem::create_directories(folder);
    const int n = grid.problem().n, first = static_cast<int>(grid.slab().own.first), last = static_cast<int>(grid.slab().own.last);
    std::vector<double> error = grid.values(grid.u(), true);
    const int planes = static_cast<int>(error.size()) / (n * n);
    std::size_t point = 0;
    for (int z = 1; z <= planes; ++z)
        for (int y = 1; y <= n; ++y)
            for (int x = 1; x <= n; ++x, ++point) error[point] = grid.problem().mode(x, y, first + z) - error[point] / grid.problem().amplitude;
    if (first <= n / 2 && n / 2 < last) {
        const auto middle = [&](int x, int y) { return error[static_cast<std::size_t>(((n / 2 - first) * n + y) * n + x)]; };
        write_png(folder / "error.png", n, n, middle, {.map = ColourMap::sequential, .magnify = std::max(1, 512 / n)});
    }
    const double h = grid.problem().h;
    VtkImage image({n - 1, n - 1, planes - 1}, {h, h, h}, {h, h, h}, {0, 0, first});
    image.point_field("error", 1, std::span<const double>(error));
    write_rank_image(run.ranks, folder, "error", image, {n - 1, n - 1, n - 1});
}

// Its grids with the exchange that is chosen for a sweep of the finest, by measuring where that is
// asked for.
std::unique_ptr<Multigrid> make_multigrid(const Run& run, const hone::Database& database, const std::string& stencil) {
    const Options& options = run.options;
    StepTimer timer(run.ranks, run.backend);
    const auto make = [&] {
        return std::make_unique<Multigrid>(run.ranks, run.backend, run.library, options.operator_name, options.size, stencil, run.precision(),
                                           options.settings);
    };
    const auto measure = [&](Multigrid& multigrid) {
        SmoothedGrid& grid = multigrid.finest();
        grid.clear_u();
        grid.set_source();
        const auto take = [&](int sweeps) {
            return seconds_together(run.ranks, run.backend, [&] {
                for (int number = 0; number < sweeps; ++number) grid.sweep();
            });
        };
        return timer(take, [&] { return grid.distance(); });
    };
    ExchangedStep step{"multigrid_smoother",
                       hone::built_in_families().parse_problem(
                           fmt::format("gauss_seidel_27 stencil={0} precision={1} nx={2} ny={2} nz={2}", stencil, options.precision, options.size)),
                       {}};
    step.space.edges = {hone::EdgePlace::ahead, hone::EdgePlace::serial};
    step.space.depth = {1, 2, 4, 8};
    const auto choose = [&](const auto& runs) { choose_exchange(options.exchange, run.ranks, run.backend, database, options.records, step, runs); };
    auto multigrid = solver_with_exchange(make, choose, measure);
    multigrid->finest().clear_u();
    return multigrid;
}

int solve(Options options, hone::Communicator& ranks) {
    hone::Session session(hone::device_of_rank(options.device, ranks), session_settings(options.records, ranks));
    hone::Backend& backend = session.backend();
    if (options.size == 0) options.size = hone::traits_of(backend.device().fingerprint.target).shares_processors ? 63 : 255;
    expect_same_on_all_ranks(ranks, "number of points along an axis", fmt::format("{}", options.size));
    hone::KernelLibrary& library = session.library();
    Run run{options, ranks, backend, library};
    if (run.speaks()) {
        fmt::print("-Laplace u = 3 pi^2 sin sin sin on {0} x {0} x {0} points, {1} operator, {2}, on {3}\n", options.size, options.operator_name,
                   options.precision, backend.device().fingerprint.name);
        if (ranks.size() > 1) fmt::print("{} ranks, by {}\n", ranks.size(), ranks.transport());
    }
    std::vector<std::string> stencils{options.stencil};
    if (options.stencil == "all") stencils = {"constant", "semi_constant", "variable", "symmetric"};
    for (const auto& stencil : stencils) {
        const std::unique_ptr<Multigrid> made = make_multigrid(run, session.database(), stencil);
        Multigrid& multigrid = *made;
        SmoothedGrid& grid = multigrid.finest();
        if (run.speaks()) fmt::print("\n{} stencil\n  {}\n", stencil, grid.kernel().match().config.key());
        grid.set_source();
        sweep(run, grid, stencil);
        if (!options.output.empty()) write_files(run, grid);
        cycle(run, multigrid, stencil);
    }
    if (!run.speaks()) return run.good ? 0 : 1;
    const double discretisation = std::abs(ModelProblem(options.operator_name, options.size).amplitude - 1);
    fmt::print("\nThe discrete solution is {:.1e} from the continuous one.\n", discretisation);
    if (!options.output.empty())
        write_chart(std::filesystem::path(options.output) / "convergence.svg",
                    {"Error of sweeps, residual of V-cycles", "sweeps or V-cycles", "part of the first", true, run.curves});
    return run.good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{"Gauss-Seidel sweeps with tuned kernels: alone, beside their exact theory, and as the smoother of multigrid."};
    declare(app, options);
    app.footer(
        "Examples:\n"
        "  multigrid_smoother                                    sweeps and V-cycles with every kind of stencil\n"
        "  multigrid_smoother --stencil constant --size 127      one kind, on a finer grid\n"
        "  multigrid_smoother --operator seven_point --output pictures   differences; look at pictures/convergence.svg\n"
        "  mpirun -n 4 multigrid_smoother --size 127             four ranks, each with a part of the planes");
    return run_on_ranks("multigrid_smoother", app, argc, argv, options.device, [&](hone::Communicator& ranks) { return solve(options, ranks); });
} catch (const std::exception& error) {
    fmt::print(stderr, "multigrid_smoother: {}\n", error.what());
    return 2;
}
