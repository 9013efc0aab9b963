// An application with a kernel family of its own: heat in a cube, computed by a kernel that hone
// tunes like one of its own families.
//
//     heat --size 128 --tune 5 --db tuned
//
// It tunes unless the database knows its problem, looks the kernel up, takes some time steps, and
// compares them with the exact solution of the scheme.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <hone/foundation/error.hpp>
#include <hone/foundation/text.hpp>
#include <hone/runtime/library.hpp>
#include <hone/tuner/tuning_run.hpp>
#include <hone/tuner/worker/worker.hpp>
#include <hone/tuner/worker/worker_evaluator.hpp>
#include <hone/tuning_db/places.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "examples/heat/heat_7.hpp"

namespace {

constexpr double rate = 0.15;  // kappa dt / h^2; above 1/6 the scheme is unstable

struct Settings {
    std::int64_t size = 96;
    int steps = 100;
    double tune = 3;
    std::string device = "best";
    std::filesystem::path database;  // empty: the default
};

/// Tunes the problem in worker processes, which are this program again (see main), and keeps what
/// was found.
void tune(const hone::Families& families, const hone::Problem& problem, const hone::Device& device, const hone::DiskCache& cache,
          const std::filesystem::path& folder, const Settings& settings) {
    hone::WorkerEvaluator evaluator({.device = device, .cache = cache.folder()});
    hone::TuningOptions options;
    options.seconds = settings.tune;
    options.folder = folder;
    hone::TuningHooks hooks;
    hooks.progress = [](const hone::TuningProgress& run, const hone::Candidate&, const hone::Outcome&) {
        const std::string best = run.best ? hone::text::duration(run.best->outcome.step.median) : "none yet";
        fmt::print(stderr, "\r{} candidates, best {} a step   ", run.evaluations, best);
    };
    const hone::TuningResult result = hone::tune(families.of(problem), problem, device, evaluator, options, hooks);
    fmt::print(stderr, "\n");
    if (!result.record) throw hone::Error("tuning " + problem.key(), result.why_none, "look at the journal in " + folder.string());
    fmt::print("tuned: {} candidates, the safe one takes {}, the best {} a step\n", result.progress.evaluations,
               hone::text::duration(result.progress.safe->step.median), hone::text::duration(result.record->step.median));
    if (const std::string why_not = hone::keep_result(result, families, folder); !why_not.empty()) fmt::print("not kept: {}\n", why_not);
}

/// sin(pi x) sin(pi y) sin(pi z) at the points, 0 on the boundary. The scheme multiplies it by 1 -
/// 12 rate sin^2(pi h / 2) in each step.
std::vector<double> first_temperature(std::int64_t size) {
    const std::int64_t row = size + 2;
    std::vector<double> u(static_cast<std::size_t>(row * row * row), 0.0);
    const auto sine = [&](std::int64_t i) { return std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(size + 1)); };
    for (std::int64_t z = 1; z <= size; ++z)
        for (std::int64_t y = 1; y <= size; ++y)
            for (std::int64_t x = 1; x <= size; ++x) u[static_cast<std::size_t>((z * row + y) * row + x)] = sine(x) * sine(y) * sine(z);
    return u;
}

/// Takes the time steps and returns whether they are right.
bool run(hone::Backend& backend, const std::shared_ptr<const hone::Kernel>& kernel, const Settings& settings) {
    std::vector<double> u = first_temperature(settings.size);
    const auto bytes = static_cast<std::int64_t>(u.size() * sizeof(double));
    std::array<hone::DeviceArray, 3> memory{hone::DeviceArray(backend, bytes), hone::DeviceArray(backend, sizeof rate),
                                            hone::DeviceArray(backend, bytes)};
    for (const int i : {0, 2}) backend.copy(memory[static_cast<std::size_t>(i)].data(), u.data(), bytes);
    backend.copy(memory[1].data(), &rate, sizeof rate);

    // Two kernels that go back and forth between the two arrays.
    const std::array<hone::BoundKernel, 2> step{hone::BoundKernel(kernel, std::array{memory[0].data(), memory[1].data(), memory[2].data()}),
                                                hone::BoundKernel(kernel, std::array{memory[2].data(), memory[1].data(), memory[0].data()})};
    backend.synchronise();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < settings.steps; ++i) step[static_cast<std::size_t>(i % 2)].launch();
    backend.synchronise();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

    std::vector<double> computed(u.size());
    backend.copy(computed.data(), memory[settings.steps % 2 == 0 ? 0 : 2].data(), bytes);
    backend.synchronise();
    const double half = std::sin(std::numbers::pi / static_cast<double>(settings.size + 1) / 2);
    const double decay = std::pow(1 - 12 * rate * half * half, settings.steps);
    double error = 0;
    for (std::size_t i = 0; i < u.size(); ++i) error = std::max(error, std::abs(computed[i] - decay * u[i]));
    const double allowed = (settings.steps + 10) * 16 * 0x1p-53;  // 13 roundings a step at most, and those of the sines
    const double points = std::pow(static_cast<double>(settings.size), 3) * settings.steps;
    fmt::print("{} steps: {:.3g} G updates/s, {:.3g} GB/s; the highest temperature fell to {:.6f}\n", settings.steps, 1e-9 * points / seconds,
               16e-9 * points / seconds, decay);
    fmt::print("difference from the exact solution of the scheme: {:.2g}, allowed {:.2g}\n", error, allowed);
    return error <= allowed;
}

}  // namespace

int main(int argc, char** argv) try {
    const hone::Families families({heat::heat_7()});
    // Tuning starts this program as its worker; a candidate that crashes or hangs takes that
    // process with it and nothing else.
    if (argc > 1 && std::string(argv[1]) == "worker") return hone::worker_main(families);

    Settings settings;
    CLI::App app{"An application with a kernel family of its own: heat in a cube, with a kernel that is tuned when the database does not know it."};
    app.add_option("--size", settings.size, "points along each edge")->check(CLI::Range(1, 4096))->capture_default_str();
    app.add_option("--steps", settings.steps, "time steps")->check(CLI::Range(1, 1000000))->capture_default_str();
    app.add_option("--tune", settings.tune, "seconds for tuning where the database does not know the problem")
        ->check(CLI::Range(0.1, 1e6))
        ->capture_default_str();
    app.add_option("--device", settings.device, "best, cuda, cuda:1 or cpu")->capture_default_str();
    app.add_option("--db", settings.database, "folder of tuned results, alone; default all that is known, as hone doctor lists it");
    app.footer(
        "Examples:\n"
        "  heat                               96^3 points: tunes at the first start, and looks up at the second\n"
        "  heat --size 128 --tune 5 --db tuned");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& ending) {
        return app.exit(ending) == 0 ? 0 : 2;  // 2 for a wrong command line, as hone's commands
    }

    hone::DiskCache cache(hone::DiskCache::default_folder());
    const auto backend = hone::make_backend(settings.device, cache);
    const auto problem = families.parse_problem(fmt::format("heat_7 precision=f64 nx={0} ny={0} nz={0}", settings.size));
    const auto& device = backend->device();
    // The first run makes the folder.
    const std::filesystem::path own = hone::own_records(settings.database);
    if (!std::filesystem::exists(own) ||
        hone::known_records(families, settings.database).best(problem, device.fingerprint, device.limits).grade != hone::Grade::exact)
        tune(families, problem, device, cache, own, settings);

    hone::KernelLibrary library(*backend, hone::known_records(families, settings.database), families);
    const auto kernel = library.kernel(problem);
    fmt::print("{} on {}: {} ({})\n", problem.key(), device.fingerprint.name, kernel->match().config.key(), to_string(kernel->match().grade));
    return run(*backend, kernel, settings) ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "heat: {}\n", error.what());
    return 2;
}
