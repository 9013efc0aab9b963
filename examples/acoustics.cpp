// Acoustic waves in layered ground: a Ricker source, receivers, absorbing boundaries; in 2D or 3D,
// with the kernels of family acoustics_staggered.
//
//     acoustics [--model FILE | --homogeneous 2000] [--dimension 2|3] [--output FOLDER] ...
//     acoustics --generate FILE [--seed 1] ...          writes a Marmousi-like model and ends
//     acoustics --reflection ...                        measures what the absorbing layer sends back
//     mpirun -n 4 acoustics ...                         ranks in processes, each with a part of the layers (docs/many-devices.md)
//     acoustics --device cuda:0,cuda:1 ...              ranks in threads of this process
//
// Without a model it makes one. Exit code 0: the checks printed at the end hold.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "examples/options/checks.hpp"
#include "examples/options/exchange.hpp"
#include "examples/options/on_ranks.hpp"
#include "examples/options/options.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;
using namespace hone::solvers::seismic;
using hone::Communicator;

struct Options {
    std::string device = "best", records;
    std::string model_file, generate_file;
    ModelReading reading;
    int dimension = 2;
    std::vector<int> cells;
    double spacing = 0, homogeneous = 0;
    std::uint64_t seed = 1;
    std::string top = "free", sides = "absorbing";
    double tune = 0, wavelength = 12;
    LineSurvey line{.ricker = {0}};
    std::string levels = "auto";
    bool reflection = false;
    bool exchanges_as_asked = false;  // by --exchange-every
    ExchangeOptions exchange;
    WaveSettings waves;
    RunSettings wanted;
};

void declare_model(CLI::App& app, Options& options) {
    app.add_option("--model", options.model_file,
                   "speeds: a .segy or .sgy file, or a .json file that describes raw floats (docs/model-acoustic-waves.md)");
    app.add_option("--generate", options.generate_file, "write the generated Marmousi-like model to this file, and stop");
    app.add_option("--homogeneous", options.homogeneous, "use this speed everywhere, m/s, and compare with the exact solution")
        ->check(between(sound_speeds().lowest, sound_speeds().highest));
    app.add_option("--byte-order", options.reading.byte_order,
                   "byte order of the model files; default: big for SEG-Y, otherwise what the .json file says, or little")
        ->check(CLI::IsMember({"big", "little"}));
    app.add_option("--speed-unit", options.reading.speed_unit, "unit of the speeds; default: what the .json file says, or m/s")
        ->check(CLI::IsMember(sound_speeds().unit_names()));
    app.add_option("--density-unit", options.reading.density_unit, "unit of the densities; default: what the .json file says, or kg/m^3")
        ->check(CLI::IsMember(rock_densities().unit_names()));
    app.add_option("--dimension", options.dimension, "dimension of the generated model")->capture_default_str()->check(CLI::Range(2, 3));
    app.add_option("--cells", options.cells, "cells of the generated model along x, [y,] and depth; default 736 240, in 3D 120 100 80")
        ->check(CLI::Range(1, 65536));
    app.add_option("--spacing", options.spacing, "width of a cell, m; default: that of the file, otherwise 12.5, in 3D 25")
        ->check(between(1e-3, 1e6));
    app.add_option("--seed", options.seed, "seed of the generated model")->capture_default_str();
}

void declare_waves(CLI::App& app, Options& options) {
    app.add_option("--order", options.waves.order, "order of accuracy in space")->capture_default_str()->check(CLI::IsMember({4, 8, 16}));
    add_precision(app, options.waves.precision, "of the waves");
    app.add_option("--kernels", options.waves.kernels,
                   "step: one pass over memory per time step; in_place: the same with half the memory (in 3D on processors); sweeps: one pass for "
                   "the velocities and one for the pressure; auto: step or sweeps, the faster one according to the records in --db")
        ->capture_default_str()
        ->check(CLI::IsMember({"step", "in_place", "sweeps", "auto"}));
    app.add_option("--levels", options.levels, "time steps per pass over memory; auto: the fastest according to the records in --db")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "1", "2", "3", "4"}));
    app.add_option("--exchange-every", options.waves.exchange_every,
                   "time steps between exchanges of ranks: more steps mean fewer, longer messages, and more cells that two ranks both compute")
        ->capture_default_str()
        ->check(CLI::Range(1, 64));
    app.add_option("--courant", options.waves.courant, "time step as a fraction of the stability limit")
        ->capture_default_str()
        ->check(between(0.01, 1.0));
    app.add_option("--top", options.top, "boundary at the top of the model")
        ->capture_default_str()
        ->check(CLI::IsMember({"free", "rigid", "absorbing"}));
    app.add_option("--sides", options.sides, "boundary at the sides and the bottom")
        ->capture_default_str()
        ->check(CLI::IsMember({"rigid", "absorbing"}));
    app.add_option("--layer", options.waves.layer, "width of the absorbing layer, cells")->capture_default_str()->check(CLI::Range(1, 1000));
    app.add_option("--frequency", options.line.ricker.frequency,
                   "peak frequency of the Ricker wavelet, Hz; default: the highest that the grid resolves")
        ->check(positive());
    app.add_option("--source", options.line.source, "position of the source: x, [y,] and depth, m; default: the middle, 4 cells deep");
    app.add_option("--receivers", options.line.receivers, "number of receivers, on a line along x through the source; default: one per four cells")
        ->check(CLI::Range(1, 30000));
    app.add_option("--receiver-depth", options.line.receiver_depth, "depth of the receivers, cells")->capture_default_str()->check(not_negative());
    app.add_option("--time", options.wanted.seconds, "simulated time, s; default: a wave reaches the bottom and comes back")->check(positive());
}

void declare_rest(CLI::App& app, Options& options) {
    add_device(app, options.device, options.records, device_list);
    add_exchange(app, options.exchange);
    add_tune(app, options.tune);
    app.add_option("--output", options.wanted.folder, "folder for model.png, recording.segy, .csv and .png, and pressure_*.png");
    app.add_option("--snapshots", options.wanted.snapshots, "number of pictures of the pressure")->capture_default_str()->check(CLI::Range(0, 1000));
    app.add_flag("--vti", options.wanted.volumes, "also write the snapshots for ParaView");
    add_checkpoint(app, options.wanted.checkpoint, options.wanted.checkpoint_every, options.wanted.restart, "; --time may be longer");
    app.add_option("--interval", options.wanted.interval, "sample interval of the recording, microseconds")
        ->capture_default_str()
        ->check(CLI::Range(1, 32767));
    app.add_flag("--reflection", options.reflection, "measure the reflection from the absorbing layer, and stop");
    app.add_option("--wavelength", options.wavelength, "wavelength for --reflection, cells")->capture_default_str()->check(between(4.0, 100.0));
}

Model made_model(const Options& options) {
    const bool flat = options.dimension == 2;
    const std::vector<int> cells = !options.cells.empty() ? options.cells : flat ? std::vector{736, 240} : std::vector{120, 100, 80};
    if (static_cast<int>(cells.size()) != options.dimension)
        throw hone::Error("--cells", fmt::format("{} numbers", cells.size()), fmt::format("give {}, one per dimension", options.dimension));
    const std::array<int, 3> extents{cells[0], cells[1], flat ? 1 : cells[2]};
    const double spacing = options.spacing > 0 ? options.spacing : flat ? 12.5 : 25;
    if (options.homogeneous > 0) {
        const auto speed = static_cast<float>(options.homogeneous);
        return homogeneous_model(options.dimension, extents, spacing, speed, gardner_density(speed));
    }
    return synthetic_model({.dimension = options.dimension, .cells = extents, .spacing = spacing, .seed = options.seed});
}

bool report_reflection(hone::Backend& backend, hone::KernelLibrary& library, const Options& options) {
    fmt::print("A layer of {} cells, order {}, waves of {:.3g} cells at the wavelet's strongest frequency, {}D:\n", options.waves.layer,
               options.waves.order, options.wavelength, options.dimension);
    const auto reflections = measure_reflection(backend, library, options.waves, options.dimension, options.wavelength);
    for (const auto& [angle, part] : reflections)
        fmt::print("  {:2.0f} degrees: {:7.3f} % come back ({:.0f} dB)\n", angle, 100 * part, 20 * std::log10(part));
    return report({check_reflection(reflections)});
}

void describe(const Model& model, const Options& options, const Survey& survey, const std::string& device) {
    fmt::print("{} x {}{} cells of {:.4g} m, speeds {:.0f} to {:.0f} m/s, order {}, {}, on {}\n", model.cells[0], model.cells[1],
               model.dimension == 3 ? fmt::format(" x {}", model.cells[2]) : "", model.spacing, model.slowest(), model.fastest(), options.waves.order,
               options.waves.precision, device);
    fmt::print("top {}, sides and bottom {}; wavelet of {:.3g} Hz, {} receivers, steps of {}\n",
               to_string(options.waves.walls[static_cast<std::size_t>(model.depth_axis())][0]), to_string(options.waves.walls[0][0]),
               survey.ricker.frequency, survey.receivers.size(), hone::text::duration(time_step(model, options.waves)));
}

void print_speed(const RunReport& report, const hone::Counts& step, double copy) {
    const double per_step = report.seconds / report.steps, rate = step.bytes / per_step;
    fmt::print("{} steps in {}: {:.1f} M cells/s, {:.1f} GB/s{}\n", report.steps, hone::text::duration(report.seconds),
               step.updates / per_step * 1e-6, rate * 1e-9, beside_copy(rate, copy));
}

void print_kernels(const hone::Session& session, const Model& model, const WaveSettings& waves) {
    for (const hone::Problem& problem : WaveSolver::problems(model, waves)) {
        const hone::Match match = session.database().best(problem, session.device().fingerprint, session.device().limits);
        const std::string part = waves.levels == 1                           ? ""
                                 : problem.integer("levels") == waves.levels ? fmt::format(", {} in a pass", waves.levels)
                                                                             : ", the others";
        fmt::print("{}{}: {}, {}\n", problem.word("kernel"), part, to_string(match.grade), match.config.key());
    }
}

// How often ranks exchange, and by what: where nobody says it.
void choose_exchange(Options& options, const Model& model, const Survey& survey, hone::Session& session, Communicator& ranks) {
    constexpr int steps = 1000;  // more than are measured
    hone::Backend& backend = session.backend();
    const auto waves_of = [&](int every) {
        WaveSettings waves = options.waves;
        if (every > 0 && !options.exchanges_as_asked && waves.levels == 1) waves.exchange_every = every;
        return waves;
    };
    std::unique_ptr<WaveSolver> solver;
    int every_of_solver = 0;
    StepTimer timer(ranks, backend);
    const auto run = [&] {
        const int every = ranks.exchange_settings().every;
        if (solver == nullptr || every != every_of_solver) {
            solver.reset();
            solver = std::make_unique<WaveSolver>(ranks, backend, session.library(), model, waves_of(every), survey, steps);
            every_of_solver = every;
        }
        solver->begin_anew();
        const auto take = [&](int count) { return seconds_together(ranks, backend, [&] { solver->advance(count); }); };
        return timer(take, [&] {
            double sum = 0;
            for (const auto& trace : solver->recording()) sum = std::accumulate(trace.begin(), trace.end(), sum);
            return sum;
        });
    };
    ExchangedStep step{"acoustics", WaveSolver::problems(model, options.waves).front(), {}};
    step.space.edges = {hone::EdgePlace::ahead, hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
    if (model.dimension == 3) std::swap(step.space.edges[0], step.space.edges[2]);
    step.space.depth = {1, 2, 4};
    const auto serves = [&](int every) { return WaveSolver::most_ranks(model, waves_of(every)) >= ranks.size(); };
    if (!options.exchanges_as_asked && options.waves.levels == 1)
        for (const int every : {1, 2, 4})
            if (serves(every)) step.space.every.push_back(every);
    choose_exchange(options.exchange, ranks, backend, session.database(), options.records, step, run);
    if (const int every = ranks.exchange_settings().every; serves(every)) options.waves = waves_of(every);
}

int run_survey(Options options, const Model& model, hone::Session& session, Communicator& ranks) {
    const bool speaks = ranks.rank() == 0;
    if (options.line.ricker.frequency == 0) options.line.ricker.frequency = suitable_frequency(model, options.waves);
    const Survey survey = survey_of(options.line, model, "--source");
    if (options.levels == "auto") options.waves.levels = fastest_levels(ranks, session.database(), session.backend(), model, options.waves, survey);
    choose_exchange(options, model, survey, session, ranks);
    if (options.wanted.seconds == 0) options.wanted.seconds = suitable_seconds(model, survey.ricker);
    if (speaks) describe(model, options, survey, session.device().fingerprint.name), print_kernels(session, model, options.waves);
    const RunReport report = run_survey(ranks, session.backend(), session.library(), model, options.waves, survey, options.wanted);
    const double copy = copy_rate(session.backend(), ranks, report.seconds);
    bool good = true;
    if (speaks) {
        if (ranks.size() > 1) fmt::print("{} ranks, by {}; the first one sends {} bytes at a time\n", ranks.size(), ranks.transport(), report.sent);
        print_speed(report, WaveSolver::counts_of_step(model, options.waves), copy);
        if (!report.files.empty()) fmt::print("{} files in {}\n", report.files.size(), options.wanted.folder.string());
        good = hone::solvers::report(report.checks);
    }
    return all_reduce(ranks, hone::Reduction::smallest, good ? 1 : 0) > 0 ? 0 : 1;
}

// What ranks would otherwise do one for the other, or all for themselves.
void expect_one_rank(const std::string& what, const Communicator& ranks) {
    if (ranks.size() > 1) throw hone::Error(what, fmt::format("there are {} ranks", ranks.size()), "start one process, with one device");
}

int run(Options options, Communicator& ranks) {
    options.reading.spacing = options.spacing;
    const Model model = options.model_file.empty() ? made_model(options) : read_model(options.model_file, options.reading);
    if (!options.generate_file.empty()) {
        expect_one_rank("--generate", ranks);
        write_model(options.generate_file, model);
        fmt::print("{}: {} cells, speeds {:.0f} to {:.0f} m/s\n", options.generate_file, model.count(), model.slowest(), model.fastest());
        return 0;
    }
    options.waves.set_walls(model.dimension, parse_wall(options.top), parse_wall(options.sides));
    if (options.levels != "auto") options.waves.levels = std::stoi(options.levels);
    if (options.reflection) options.waves.levels = 1;
    const std::string device = hone::device_of_rank(options.device, ranks);
    if (options.tune > 0) {
        expect_one_rank("--tune", ranks);
        hone::DiskCache cache(hone::DiskCache::default_folder());
        const auto backend = hone::make_backend(device, cache);
        const auto problems = problems_to_choose_from(*backend, model, options.waves, options.waves.kernels == "auto", options.levels == "auto");
        tune_first(*backend, problems, hone::own_records(options.records), options.tune, tell_tuned);
    }
    hone::Session session(device, session_settings(options.records, ranks));
    if (options.waves.kernels == "auto") options.waves.kernels = fastest_kernels(ranks, session.database(), session.backend(), model, options.waves);
    if (options.reflection) {
        expect_one_rank("--reflection", ranks);
        return report_reflection(session.backend(), session.library(), options) ? 0 : 1;
    }
    // Files may differ between hosts; what is made of the same options does not.
    if (ranks.size() > 1 && !options.model_file.empty()) {
        const WaveIdentity identity = identity_of(model, options.waves, {});
        expect_same_on_all_ranks(ranks, "model", identity[0].second + ", SHA-256 " + identity[1].second);
    }
    return run_survey(options, model, session, ranks);
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{"Acoustic waves in layered ground: a Ricker source, receivers, absorbing boundaries, with tuned kernels."};
    app.footer(
        "Examples:\n"
        "  acoustics --output waves                                 a model of its own, 9.2 km x 3 km; look at waves/*.png\n"
        "  acoustics --generate hills.segy --seed 7                 write a model\n"
        "  acoustics --model hills.segy --top rigid --output hills  waves in it\n"
        "  acoustics --dimension 3 --vti --output volume            for ParaView: volume/pressure.pvd\n"
        "  acoustics --homogeneous 2000 --order 16                  compared with the exact solution\n"
        "  acoustics --reflection --layer 20                        how well the boundary absorbs\n"
        "  mpirun -n 4 acoustics --dimension 3                      four ranks, each with a part of the planes");
    declare_model(app, options);
    declare_waves(app, options);
    declare_rest(app, options);
    app.callback([&] { options.exchanges_as_asked = app.count("--exchange-every") > 0; });
    return run_on_ranks("acoustics", app, argc, argv, options.device, [&](Communicator& ranks) { return run(options, ranks); });
} catch (const std::exception& error) {
    fmt::print(stderr, "acoustics: {}\n", error.what());
    return 2;
}
