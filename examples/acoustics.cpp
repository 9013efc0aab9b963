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
    double frequency = 0, tune = 0, wavelength = 12;
    std::vector<double> source;
    int receivers = 0, receiver_depth = 4;
    std::string levels = "auto";
    bool reflection = false;
    bool exchanges_as_asked = false;  // by --exchange-every
    ExchangeOptions exchange;
    WaveSettings waves;
    RunSettings wanted;
};

void declare_model(CLI::App& app, Options& options) {
    app.add_option("--model", options.model_file, "speeds: a .segy or .sgy file, or a .json file beside raw floats (docs/model-acoustic-waves.md)");
    app.add_option("--generate", options.generate_file, "write the Marmousi-like model into such a file (and floats beside it), and end");
    app.add_option("--homogeneous", options.homogeneous, "no layers but this speed everywhere, m/s; the exact solution is compared")
        ->check(between(sound_speeds().lowest, sound_speeds().highest));
    app.add_option("--byte-order", options.reading.byte_order,
                   "of the model's files; default big for SEG-Y, and what the .json file says, else little")
        ->check(CLI::IsMember({"big", "little"}));
    app.add_option("--speed-unit", options.reading.speed_unit, "of the model; default m/s, or what the .json file says")
        ->check(CLI::IsMember(sound_speeds().unit_names()));
    app.add_option("--density-unit", options.reading.density_unit, "of the model; default kg/m^3, or what the .json file says")
        ->check(CLI::IsMember(rock_densities().unit_names()));
    app.add_option("--dimension", options.dimension, "of a model that is made")->capture_default_str()->check(CLI::Range(2, 3));
    app.add_option("--cells", options.cells, "of a model that is made, along x, [y,] and depth; default 736 240, and 120 100 80 in 3D")
        ->check(CLI::Range(1, 65536));
    app.add_option("--spacing", options.spacing, "width of a cell, m; default the file's, 12.5, or 25 in 3D")->check(between(1e-3, 1e6));
    app.add_option("--seed", options.seed, "another seed, another landscape")->capture_default_str();
}

void declare_waves(CLI::App& app, Options& options) {
    app.add_option("--order", options.waves.order, "of accuracy in space")->capture_default_str()->check(CLI::IsMember({4, 8, 16}));
    add_precision(app, options.waves.precision, "of the waves");
    app.add_option("--kernels", options.waves.kernels,
                   "a step in one pass; the same in place, with half of the fields (in 3D on processors); in one sweep for velocities and one for "
                   "pressure; or auto: step or sweeps, what is faster by the records in --db")
        ->capture_default_str()
        ->check(CLI::IsMember({"step", "in_place", "sweeps", "auto"}));
    app.add_option("--levels", options.levels, "time steps of one pass over memory; auto: the fastest by the records in --db")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "1", "2", "3", "4"}));
    app.add_option("--exchange-every", options.waves.exchange_every,
                   "time steps from one exchange between ranks to the next: messages are fewer and longer, and what lies between is computed twice")
        ->capture_default_str()
        ->check(CLI::Range(1, 64));
    app.add_option("--courant", options.waves.courant, "time step, as a part of the stability limit")
        ->capture_default_str()
        ->check(between(0.01, 1.0));
    app.add_option("--top", options.top, "of the model")->capture_default_str()->check(CLI::IsMember({"free", "rigid", "absorbing"}));
    app.add_option("--sides", options.sides, "and its bottom")->capture_default_str()->check(CLI::IsMember({"rigid", "absorbing"}));
    app.add_option("--layer", options.waves.layer, "width of the absorbing layer, cells")->capture_default_str()->check(CLI::Range(1, 1000));
    app.add_option("--frequency", options.frequency, "of the Ricker wavelet, Hz; default what the grid carries")->check(positive());
    app.add_option("--source", options.source, "x, [y,] and depth, m; default the middle, 4 cells deep");
    app.add_option("--receivers", options.receivers, "how many, along x through the source; default one in four cells")->check(CLI::Range(1, 30000));
    app.add_option("--receiver-depth", options.receiver_depth, "cells")->capture_default_str()->check(not_negative());
    app.add_option("--time", options.wanted.seconds, "of the waves, s; default from top to bottom and back")->check(positive());
}

void declare_rest(CLI::App& app, Options& options) {
    add_device(app, options.device, options.records, device_list);
    add_exchange(app, options.exchange);
    add_tune(app, options.tune);
    app.add_option("--output", options.wanted.folder, "folder for model.png, recording.segy, .csv and .png, and pressure_*.png");
    app.add_option("--snapshots", options.wanted.snapshots, "pictures of the pressure")->capture_default_str()->check(CLI::Range(0, 1000));
    app.add_flag("--vti", options.wanted.volumes, "snapshots for ParaView, too");
    app.add_option("--checkpoint", options.wanted.checkpoint, "file from which --restart can go on, on any number of ranks");
    app.add_option("--checkpoint-every", options.wanted.checkpoint_every, "time steps from one to the next; 0: at the end only")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--restart", options.wanted.restart, "go on from this checkpoint, with the same options, to the same bits; --time may be longer");
    app.add_option("--interval", options.wanted.interval, "from one sample of the recording to the next, microseconds")
        ->capture_default_str()
        ->check(CLI::Range(1, 32767));
    app.add_flag("--reflection", options.reflection, "measure what the absorbing layer sends back, and end");
    app.add_option("--wavelength", options.wavelength, "of the waves that --reflection sends, cells")
        ->capture_default_str()
        ->check(between(4.0, 100.0));
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

Wall wall_of(const std::string& word) {
    return word == "free" ? Wall::free_surface : word == "rigid" ? Wall::rigid : Wall::absorbing;
}

Survey survey_of(const Options& options, const Model& model, double frequency) {
    const auto down = static_cast<std::size_t>(model.depth_axis());
    Survey survey{{frequency}, {model.cells[0] / 2, model.dimension == 3 ? model.cells[1] / 2 : 0, 0}, {}};
    survey.source[down] = std::min(4, model.cells[down] - 1);
    if (!options.source.empty()) {
        if (static_cast<int>(options.source.size()) != model.dimension)
            throw hone::Error("--source", fmt::format("{} numbers", options.source.size()), fmt::format("give {}: x and depth", model.dimension));
        for (std::size_t axis = 0; axis < options.source.size(); ++axis) {
            const double cell = std::floor(options.source[axis] / model.spacing);
            if (!(cell >= 0 && cell < model.cells[axis]))
                throw hone::Error("--source", fmt::format("{} m lie outside of the model", options.source[axis]),
                                  fmt::format("give 0 m to below {} m there", model.cells[axis] * model.spacing));
            survey.source[axis] = static_cast<int>(cell);
        }
    }
    const int count = options.receivers > 0 ? options.receivers : std::max(1, model.cells[0] / 4);
    for (int i = 0; i < count; ++i) {
        Cell cell = survey.source;
        cell[0] = static_cast<int>((std::int64_t{2} * i + 1) * model.cells[0] / (std::int64_t{2} * count));
        cell[down] = options.receiver_depth;
        survey.receivers.push_back(cell);
    }
    return survey;
}

bool report_reflection(hone::Backend& backend, hone::KernelLibrary& library, const Options& options) {
    fmt::print("A layer of {} cells, order {}, waves of {:.3g} cells at the wavelet's strongest frequency, {}D:\n", options.waves.layer,
               options.waves.order, options.wavelength, options.dimension);
    bool good = true;
    for (const Reflection& reflection : measure_reflection(backend, library, options.waves, options.dimension, options.wavelength)) {
        fmt::print("  {:2.0f} degrees: {:7.3f} % come back ({:.0f} dB)\n", reflection.angle, 100 * reflection.part, 20 * std::log10(reflection.part));
        // What layers of the default width keep to, at wavelengths below half of it.
        good = good && reflection.part < (reflection.angle < 40 ? 0.02 : 0.1);
    }
    return report(good, "below 2 % up to 30 degrees and 10 % up to 60");
}

// What to tune: of --kernels auto and --levels auto all that may turn out to be the fastest.
std::vector<hone::Problem> problems_to_tune(const hone::Backend& backend, const Model& model, const Options& options) {
    WaveSettings waves = options.waves;
    std::vector<hone::Problem> problems;
    if (options.waves.kernels == "auto") {
        waves.kernels = "sweeps";
        problems = WaveSolver::problems(model, waves);
        waves.kernels = "step";
    }
    for (const hone::Problem& problem : WaveSolver::problems(model, waves)) problems.push_back(problem);
    if (options.levels == "auto")
        for (waves.levels = 2; waves.levels <= most_levels(model, waves); ++waves.levels) {
            const hone::Problem pass = WaveSolver::problems(model, waves).front();
            if (can_run(backend, pass)) problems.push_back(pass);
        }
    return problems;
}

void describe(const Model& model, const Options& options, const Survey& survey, const std::string& device) {
    fmt::print("{} x {}{} cells of {:.4g} m, speeds {:.0f} to {:.0f} m/s, order {}, {}, on {}\n", model.cells[0], model.cells[1],
               model.dimension == 3 ? fmt::format(" x {}", model.cells[2]) : "", model.spacing, model.slowest(), model.fastest(), options.waves.order,
               options.waves.precision, device);
    fmt::print("top {}, sides and bottom {}; wavelet of {:.3g} Hz, {} receivers, steps of {}\n",
               to_string(options.waves.walls[static_cast<std::size_t>(model.depth_axis())][0]), to_string(options.waves.walls[0][0]),
               survey.ricker.frequency, survey.receivers.size(), hone::text::duration(time_step(model, options.waves)));
}

// Where nobody says how many steps a pass has: the fastest by the first rank's records, as far as
// ranks have layers for it.
int chosen_levels(const hone::Database& database, const hone::Backend& backend, const Model& model, const WaveSettings& settings,
                  const Survey& survey, Communicator& ranks) {
    int levels = settings.exchange_every > 1 ? 1 : fastest_levels(database, backend, model, settings, survey);
    ranks.broadcast(std::as_writable_bytes(std::span(&levels, 1)), 0);
    WaveSettings with = settings;
    for (with.levels = levels; with.levels > 1 && WaveSolver::most_ranks(model, with) < ranks.size();) --with.levels;
    return with.levels;
}

// Where nobody says which kernels: the fastest by the first rank's records.
std::string chosen_kernels(const hone::Database& database, const hone::Backend& backend, const Model& model, const WaveSettings& settings,
                           Communicator& ranks) {
    bool sweeps = fastest_kernels(database, backend, model, settings) == "sweeps";
    ranks.broadcast(std::as_writable_bytes(std::span(&sweeps, 1)), 0);
    return sweeps ? "sweeps" : "step";
}

void print_speed(const RunReport& report, double cells, double bytes, double copy) {
    const double per_step = report.seconds / report.steps;
    fmt::print("{} steps in {}: {:.1f} M cells/s, {:.1f} GB/s", report.steps, hone::text::duration(report.seconds), cells / per_step * 1e-6,
               bytes / per_step * 1e-9);
    if (copy > 0) fmt::print(", {:.0f} % of what a copy moves here ({:.1f} GB/s)", 100 * bytes / per_step / copy, copy * 1e-9);
    fmt::print("\n");
}

// Of one time step.
struct Work {
    double cells = 0, bytes = 0;
};

// What does a time step of the whole grid; rank 0 says which kernels these are.
Work describe_kernels(hone::Session& session, const Model& model, const Options& options, const Communicator& ranks) {
    Work work;
    const int levels = options.waves.levels;
    for (const hone::Problem& problem : WaveSolver::problems(model, options.waves)) {
        const bool all_steps = problem.integer("levels") == levels;
        if (ranks.rank() == 0) {
            const hone::Match match = session.database().best(problem, session.device().fingerprint, session.device().limits);
            fmt::print("{}{}: {}, {}\n", problem.word("kernel"),
                       levels == 1 ? ""
                       : all_steps ? fmt::format(", {} in a pass", levels)
                                   : ", the others",
                       to_string(match.grade), match.config.key());
        }
        const hone::Counts counts = session.families().of(problem).counts(problem);
        if (all_steps) work.cells = counts.updates / levels, work.bytes += counts.bytes / levels;
    }
    return work;
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
    const Survey survey = survey_of(options, model, options.frequency > 0 ? options.frequency : suitable_frequency(model, options.waves));
    if (options.levels == "auto") options.waves.levels = chosen_levels(session.database(), session.backend(), model, options.waves, survey, ranks);
    choose_exchange(options, model, survey, session, ranks);
    if (options.wanted.seconds == 0) options.wanted.seconds = suitable_seconds(model, survey.ricker);
    if (speaks) describe(model, options, survey, session.device().fingerprint.name);
    const Work work = describe_kernels(session, model, options, ranks);
    const RunReport report = run_survey(ranks, session.backend(), session.library(), model, options.waves, survey, options.wanted);
    const double copy = copy_rate(session.backend(), ranks, report.seconds);
    bool good = true;
    if (speaks) {
        if (ranks.size() > 1) fmt::print("{} ranks, by {}; the first one sends {} bytes at a time\n", ranks.size(), ranks.transport(), report.sent);
        print_speed(report, work.cells, work.bytes, copy);
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
    for (auto& axis : options.waves.walls) axis = {wall_of(options.sides), wall_of(options.sides)};
    options.waves.walls[static_cast<std::size_t>(model.depth_axis())][0] = wall_of(options.top);
    if (options.levels != "auto") options.waves.levels = std::stoi(options.levels);
    if (options.reflection) options.waves.levels = 1;
    const std::string device = hone::device_of_rank(options.device, ranks);
    if (options.tune > 0) {
        expect_one_rank("--tune", ranks);
        hone::DiskCache cache(hone::DiskCache::default_folder());
        const auto backend = hone::make_backend(device, cache);
        tune_first(*backend, problems_to_tune(*backend, model, options), hone::own_records(options.records), options.tune, tell_tuned);
    }
    hone::Session session(device, session_settings(options.records, ranks));
    if (options.waves.kernels == "auto") options.waves.kernels = chosen_kernels(session.database(), session.backend(), model, options.waves, ranks);
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
