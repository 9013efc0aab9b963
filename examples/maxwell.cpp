// Electromagnetic waves (or sound) on an unstructured mesh, by nodal discontinuous Galerkin with
// the kernels of the dg families, and how fast.
//
//     maxwell [--equation maxwell_3d|maxwell_2d_tm|acoustics_3d] [--order 3] [--cells 8 | --mesh FILE.msh] [--time 0.5] ...
//
//     mpirun -n 4 maxwell --cells 32              ranks in processes, each with a part of the mesh (docs/many-devices.md)
//     maxwell --device cuda:0,cuda:1              ranks in threads of this process
//
// docs/solve-maxwell.md tells what can be done with it. Exit code 0: the checks printed at the end
// hold; 1: one does not; 2: wrong input.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "examples/options/checks.hpp"
#include "examples/options/exchange.hpp"
#include "examples/options/on_ranks.hpp"
#include "examples/options/options.hpp"
#include "examples/options/sharing.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;
using namespace hone::solvers::maxwell;
using hone::Communicator;
using hone::Reduction;
namespace text = hone::text;

struct Options {
    std::string equation = "maxwell_3d", orders = "3", precision = "f64", form = "auto", device = "best", records;
    std::string mesh, walls = "reflecting", first = "automatic";
    std::vector<std::string> materials, groups;
    int cells = 0, timed_steps = 3;
    double tune = 0;
    bool renumber = true;
    std::string energy_file, chart_file, rates_file, rates_chart, arithmetic = "strict";
    std::vector<std::string> charted_rates;
    SharingOptions sharing;
    ExchangeOptions exchange;
    Balancing balancing;
    WaveRunSettings run;
};

void declare_problem(CLI::App& app, Options& o) {
    app.add_option("--equation", o.equation, "what is solved")->capture_default_str()->check(CLI::IsMember(wave_equation_names()));
    app.add_option("--order", o.orders, "polynomial order, 1 to 10; with a range such as 1..7 the speed of each is measured, and nothing else")
        ->capture_default_str();
    add_precision(app, o.precision, "of fields and operators");
    app.add_option("--arithmetic", o.arithmetic,
                   "strict, or f32_accurate: products of f32 may be made of three products of a GPU's TF32 matrix units, to the same bound on errors")
        ->capture_default_str()
        ->check(CLI::IsMember({"strict", "f32_accurate"}));
    app.add_option("--cells", o.cells, "cells along each axis of the box [-1, 1]^d, each cut into simplices; 0: 32 on a GPU, 8 on the processor")
        ->capture_default_str()
        ->check(CLI::Range(0, 500));
    app.add_option("--walls", o.walls, "of the box")->capture_default_str()->check(CLI::IsMember({"reflecting", "absorbing", "periodic"}));
    app.add_option("--mesh", o.mesh, "Gmsh file (2.2 or 4.1) in place of the box; examples/mesh/cylinder.msh is one");
    app.add_option("--group", o.groups, "NAME=reflecting, absorbing or periodic: what a group of the mesh's boundary is; may be given several times");
    app.add_option("--material", o.materials,
                   "NAME=A,B: what a group of elements is filled with: permittivity and permeability, or density and speed of sound; may be given "
                   "several times");
    app.add_option(
           "--initial", o.first,
           "first fields: cavity (the box's lowest oscillation), cylinder (of a cylinder or disc of radius 1; both have exact solutions, from which "
           "the error is told), pulse, or automatic: cavity in a reflecting box, else pulse")
        ->capture_default_str()
        ->check(CLI::IsMember({"automatic", "cavity", "cylinder", "pulse"}));
    app.add_option("--time", o.run.time, "at the end")->capture_default_str()->check(positive());
    app.add_option("--cfl", o.run.step_part, "the time step times (largest Fscale N^2 c)")->capture_default_str()->check(positive());
    app.add_flag("!--no-renumber", o.renumber, "keep the mesh's order of elements; else neighbours are brought together");
}

void declare_results(CLI::App& app, Options& o) {
    app.add_option("--frames", o.run.frames_folder, "folder for .vtu files with all of each element's nodes, and fields.pvd, which ParaView opens");
    app.add_option("--frame-count", o.run.frames, "how many, besides the first")->capture_default_str()->check(positive());
    app.add_option("--energy", o.energy_file, "file for the energy over time, as two columns (CSV)");
    app.add_option("--energy-chart", o.chart_file, "the same as a picture (SVG)");
    app.add_option("--energy-samples", o.run.energy_samples, "how often it is looked at")->capture_default_str()->check(positive());
    app.add_option("--checkpoint", o.run.checkpoint, "file from which --restart can go on");
    app.add_option("--checkpoint-every", o.run.checkpoint_every, "time steps from one to the next; 0: at the end only")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--restart", o.run.restart, "go on from this checkpoint, with the same options, to the same bits");
    app.add_option("--stop-after", o.run.stop_after, "end after so many time steps, as if interrupted; 0: do not")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--rates", o.rates_file, "file to which the speed of every kernel and of the whole step is added (CSV)");
    app.add_option("--rates-chart", o.rates_chart, "with a range of orders: GFLOP/s over order as a picture (SVG)");
    app.add_option("--rates-from", o.charted_rates, "only draw --rates-chart, of --equation and --precision, from files that --rates wrote anywhere");
    app.add_option("--timed-steps", o.timed_steps, "time steps after the run in which each kernel is timed; 0: none")
        ->capture_default_str()
        ->check(not_negative());
}

void declare_kernels(CLI::App& app, Options& o) {
    add_device(app, o.device, o.records, "; several by commas: for the ranks of a host, or for as many in one process");
    add_sharing(app, o.sharing);
    add_exchange(app, o.exchange);
    app.add_option("--balance-every", o.balancing.every,
                   "time steps of a period, after which ranks' devices are asked how long a step took them, and the mesh is shared anew where that "
                   "gains 5 %; 0: never")
        ->capture_default_str()
        ->check(not_negative());
    add_tune(app, o.tune);
    app.add_option(
           "--form", o.form,
           "of a Runge-Kutta stage: kernels (volume, surface, update), fused (one problem; its configuration says what is fused), or auto: what "
           "is faster by the records in --db, fused where these do not tell")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "kernels", "fused"}));
}

std::pair<std::string, std::string> halves(const std::string& option, const std::string& word) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos) throw hone::Error(option, "\"" + word + "\" has no =", "write " + option + " NAME=...");
    return {word.substr(0, at), word.substr(at + 1)};
}

double number(const std::string& option, const std::string& word) {
    std::size_t used = 0;
    const double value = hone::number_at_head(word, &used).value_or(0);
    if (word.empty() || used != word.size()) throw hone::Error(option, "\"" + word + "\" is not a number", "write a number");
    return value;
}

std::map<std::string, Material> materials(const Options& options) {
    std::map<std::string, Material> result;
    for (const auto& word : options.materials) {
        const auto [name, values] = halves("--material", word);
        const std::size_t comma = values.find(',');
        if (comma == std::string::npos) throw hone::Error("--material " + word, "one number is missing", "write NAME=A,B");
        result[name] = {number("--material " + word, values.substr(0, comma)), number("--material " + word, values.substr(comma + 1))};
    }
    return result;
}

Boundary boundary(const std::string& option, const std::string& word) {
    if (word == "reflecting") return Boundary::reflecting;
    if (word == "absorbing") return Boundary::absorbing;
    if (word == "periodic") return Boundary::periodic;
    throw hone::Error(option, "\"" + word + "\" is not a kind of boundary", "use reflecting, absorbing or periodic");
}

Mesh make_mesh(const Options& options) {
    if (!options.mesh.empty()) {
        GmshGroups groups;
        for (const auto& word : options.groups) {
            const auto [name, kind] = halves("--group", word);
            groups.boundary[name] = boundary("--group " + word, kind);
        }
        return read_gmsh(options.mesh, groups);
    }
    Box box{{options.cells, options.cells, options.cells}};
    box.boundary.fill(boundary("--walls", options.walls));
    return wave_equation(options.equation).dimension == 3 ? kuhn_box(box) : triangle_box(box);
}

// What a run is about, the same on all ranks.
struct Case {
    std::string where;
    Mesh mesh;
    std::map<std::string, Material> materials;
};

Case make_case(const Options& options) {
    Case result{options.mesh.empty() ? "box" : options.mesh, make_mesh(options), materials(options)};
    for (const auto& [name, material] : result.materials)
        if (std::find(result.mesh.materials.begin(), result.mesh.materials.end(), name) == result.mesh.materials.end())
            throw hone::Error("--material " + name, result.where + " has no such group of elements",
                              hone::did_you_mean(name, result.mesh.materials) + fmt::format("it has {}", fmt::join(result.mesh.materials, ", ")));
    if (options.renumber) result.mesh = reordered(result.mesh, cuthill_mckee(result.mesh, match_faces(result.mesh, result.where)));
    return result;
}

// The first fields, and whether they are an exact solution's.
std::pair<Discretisation::Solution, bool> first_fields(const Options& options, const Mesh& mesh) {
    const WaveEquation& equation = wave_equation(options.equation);
    std::string first = options.first;
    if (first == "automatic") first = options.mesh.empty() && options.walls == "reflecting" ? "cavity" : "pulse";
    if (first == "cavity") return {cavity(equation), true};
    if (first == "cylinder") return {cylinder_mode(equation), true};
    return {pulse(equation, mesh), false};
}

std::vector<int> orders(const Options& options) {
    const std::size_t dots = options.orders.find("..");
    const int low = static_cast<int>(number("--order", options.orders.substr(0, dots)));
    const int high = dots == std::string::npos ? low : static_cast<int>(number("--order", options.orders.substr(dots + 2)));
    if (low < 1 || high > 10 || high < low) throw hone::Error("--order", "it is " + options.orders, "use 1 to 10, or a range such as 1..7");
    std::vector<int> result(static_cast<std::size_t>(high - low) + 1);
    for (int order = low; order <= high; ++order) result[static_cast<std::size_t>(order - low)] = order;
    return result;
}

void write_energy(const Options& options, const WaveRunResult& result) {
    if (!options.energy_file.empty()) {
        std::ofstream stream(options.energy_file);
        stream << "time,energy\n";
        for (const auto& [time, energy] : result.energy) stream << fmt::format("{},{}\n", time, energy);
        stream.close();
        if (!stream) throw hone::Error(options.energy_file, "it cannot be written", "choose another file for --energy");
    }
    if (!options.chart_file.empty())
        write_chart(options.chart_file, {"Energy of " + options.equation, "time", "energy", false, {{"energy", result.energy}}});
}

// Upwind fluxes take energy, and the time stepper takes a little; rounding alone may add, in
// proportion to the sums behind a sample.
bool check_energy(const Options& options, const WaveRunResult& result) {
    const double unit = options.precision == "f32" ? 0x1p-24 : 0x1p-53;
    const double allowed = 64 * unit;
    const double growth = result.largest_growth();
    const bool good = growth <= allowed;
    fmt::print("check: energy {:.6g} at first, {:.6g} at the end, never grew by more than {:.1e} of the first: {}\n", result.energy.front().second,
               result.energy.back().second, allowed, good ? "good" : fmt::format("BAD, by {:.2e}", growth));
    return good;
}

bool check_error(const Options& options, double error, const WaveRunResult& result) {
    fmt::print("L2 error over all fields at time {:.6g}: {:.4e}\n", result.time(), error);
    constexpr double part_of_table = 0.5;
    const bool box = options.mesh.empty() && options.precision == "f64" && options.run.step_part == part_of_table;
    for (const KnownError& known : known_errors) {
        if (!box || known.equation != options.equation || std::to_string(known.order) != options.orders || known.cells != options.cells) continue;
        if (std::abs(known.time - result.time()) > 1e-9) continue;
        return report(std::abs(error / known.error - 1) < 0.01, fmt::format("known to be {:.3e}, within 1 %", known.error));
    }
    return true;
}

// What all runs of a rank share.
struct Machine {
    Machine(const Options& options, Communicator& all)
        : ranks(all),
          cache(hone::DiskCache::default_folder()),
          backend(hone::make_backend(hone::device_of_rank(options.device, all), cache)),
          records(options.records) {}

    hone::Database database() const { return hone::known_records(hone::built_in_families(), records); }
    std::unique_ptr<hone::KernelLibrary> library() const {
        return std::make_unique<hone::KernelLibrary>(*backend, database(), hone::built_in_families());
    }
    const std::string& name() const { return backend->device().fingerprint.name; }
    bool speaks() const { return ranks.rank() == 0; }

    Communicator& ranks;
    hone::DiskCache cache;
    std::unique_ptr<hone::Backend> backend;
    std::filesystem::path records;
};

hone::Precision precision_of(const Options& options) {
    return options.precision == "f32" ? hone::Precision::f32 : hone::Precision::f64;
}

// That of the options or, where nobody says, the fastest by this rank's records.
StageForm own_form(const Options& options, const Machine& machine, const Case& of, int order) {
    if (options.form != "auto") return parse_form(options.form);
    const Box box{{1, 1, 1}};
    Discretisation sample(options.equation, order, of.mesh.dimension == 3 ? kuhn_box(box) : triangle_box(box));
    sample.uniform = std::all_of(of.materials.begin(), of.materials.end(), [](const auto& named) { return named.second == Material{}; });
    return fastest_form(machine.database(), *machine.backend, sample, precision_of(options), options.arithmetic, of.mesh.size());
}

// That of the first rank, on all.
StageForm form_of_ranks(const Options& options, const Machine& machine, const Case& of, int order) {
    bool kernels = own_form(options, machine, of, order) == StageForm::kernels;
    machine.ranks.broadcast(std::as_writable_bytes(std::span(&kernels, 1)), 0);
    return kernels ? StageForm::kernels : StageForm::fused;
}

// Elements a second of time steps on a box of this rank's own.
double measured_speed(const Options& options, const Machine& machine, const Case& of, int order) {
    constexpr int steps = 3, largest_box = 32;
    const int dimension = of.mesh.dimension, simplices = dimension == 3 ? 6 : 2;
    const double share = static_cast<double>(of.mesh.size()) / machine.ranks.size() / simplices;
    const int cells = std::clamp(static_cast<int>(std::pow(share, 1.0 / dimension)), 2, largest_box);
    const Box box{{cells, cells, cells}};
    const Discretisation own(options.equation, order, dimension == 3 ? kuhn_box(box) : triangle_box(box));
    const auto library = machine.library();
    WaveSolver solver(*machine.backend, *library, own, precision_of(options), own_form(options, machine, of, order), {}, options.arithmetic);
    solver.set_fields(own.interpolated(cavity(*own.equation), 0));
    solver.set_step(own.stable_step());
    const auto seconds = [&] {
        return machine.backend->seconds({}, [&] {
            for (int i = 0; i < steps; ++i) solver.step();
        });
    };
    return own.size() / std::min({seconds(), seconds(), seconds()});
}

double speed_of_rank(const Options& options, const Machine& machine, const Case& of, int order) {
    return speed_of_rank(options.sharing, machine.ranks, machine.name(), [&] { return measured_speed(options, machine, of, order); });
}

WavePart part_of(const Options& options, const Machine& machine, const Case& of, int order, double speed) {
    return {machine.ranks, options.equation, order, of.mesh, of.materials, of.where, speed, hone::parse_cutter(options.sharing.cutter)};
}

// Rank 0, for its part: kernels of the other sizes are found from there.
void tune_if_asked(const Options& options, const Machine& machine, const WavePart& part, StageForm form) {
    if (options.tune <= 0) return;
    if (machine.speaks())
        tune_first(*machine.backend, stage_problems(part.here(), precision_of(options), form, options.arithmetic), hone::own_records(machine.records),
                   options.tune, tell_tuned);
    machine.ranks.barrier();
}

// `step_seconds`: of a whole step; 0 where none was made.
void report(const Options& options, const WavePart& part, const WaveSolver& solver, const Machine& machine, double step_seconds) {
    const double operations = all_reduce(machine.ranks, Reduction::sum, solver.operations_per_step());
    if (!machine.speaks()) return;
    if (machine.ranks.size() > 1 && step_seconds > 0)
        fmt::print("\n{} ranks: {:.4g} ms a step, {:.1f} GFLOP/s, {:.1f} M unknowns/s in all; of rank 0:", machine.ranks.size(), 1e3 * step_seconds,
                   operations / step_seconds * 1e-9,
                   static_cast<double>(part.whole()) * part.here().equation->field_count() * part.here().nodes() / step_seconds * 1e-6);
    fmt::print("\n{}", rates_table(solver, step_seconds));
    if (!options.rates_file.empty()) append_rates(options.rates_file, machine.name(), part.here(), options.precision, solver, step_seconds);
}

void print_parts(const WavePart& part) {
    std::vector<double> all(static_cast<std::size_t>(2 * part.ranks().size()));
    const std::array<double, 2> own{static_cast<double>(part.own()), static_cast<double>(part.boundary())};
    part.ranks().all_gather(own, hone::equal_counts(part.ranks(), 2), all);
    if (part.ranks().rank() > 0 || part.ranks().size() == 1) return;
    fmt::print("{} ranks, by {}; elements of each (those at others):", part.ranks().size(), part.ranks().transport());
    for (std::size_t at = 0; at < all.size(); at += 2) fmt::print(" {} ({})", all[at], all[at + 1]);
    fmt::print("\n");
}

void print_beginning(const Options& options, const WavePart& part, const Machine& machine) {
    const auto [steps, dt] = planned_steps(part.here(), options.run);
    if (machine.speaks())
        fmt::print("{} of order {} on {} elements ({} unknowns), {}, {} steps of {:.4g}, on {}\n", options.equation, part.here().element->order,
                   part.whole(), text::grouped(part.whole() * part.here().equation->field_count() * part.here().nodes()), options.precision, steps,
                   dt, machine.name());
    print_parts(part);
}

// A solver of a part with the exchange that is chosen for all, by measuring where that is asked
// for.
std::unique_ptr<WaveSolver> make_solver(const Options& options, const Machine& machine, hone::KernelLibrary& library, const WavePart& part,
                                        StageForm form, const std::map<std::string, std::string>& configurations,
                                        const Discretisation::Solution& first, bool chooses) {
    StepTimer timer(machine.ranks, *machine.backend);
    std::vector<double> fields;
    const auto make = [&] {
        return std::make_unique<WaveSolver>(*machine.backend, library, part, precision_of(options), form, configurations, options.arithmetic);
    };
    const auto measure = [&](WaveSolver& solver) {
        if (fields.empty()) fields = part.here().interpolated(first, 0);
        solver.set_fields(fields);
        solver.set_step(planned_steps(part.here(), options.run).second);
        const auto take = [&](int steps) {
            return seconds_together(machine.ranks, *machine.backend, [&] {
                for (int step = 0; step < steps; ++step) solver.step();
            });
        };
        return timer(take, [&] {
            const std::vector<double> after = solver.fields();
            return std::accumulate(after.begin(), after.end(), 0.0);
        });
    };
    const auto choose = [&](const auto& run) {
        if (!chooses) return;
        const hone::Problem problem = stage_problems(part.here(), precision_of(options), form, options.arithmetic, part.whole()).front();
        ExchangedStep step{"maxwell", problem, {}};
        step.space.edges = {hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
        choose_exchange(options.exchange, machine.ranks, *machine.backend, library.database(), machine.records, step, run);
    };
    return solver_with_exchange(make, choose, measure);
}

int run(Options options, const Machine& machine, const Case& of, int order) {
    std::map<std::string, std::string> configurations;
    StageForm form = form_of_ranks(options, machine, of, order);
    if (!options.run.restart.empty()) {
        const Checkpoint checkpoint = read_checkpoint(options.run.restart);
        configurations = checkpoint.configurations;
        form = parse_form(checkpoint.form);
    }
    std::unique_ptr<hone::KernelLibrary> library;
    const auto [solution, exact] = first_fields(options, of.mesh);
    const auto share_of = [&, &first = solution](double speed) {
        auto part = std::make_unique<const WavePart>(part_of(options, machine, of, order, speed));
        const bool is_first = library == nullptr;
        if (is_first) {
            tune_if_asked(options, machine, *part, form);
            library = machine.library();
            print_beginning(options, *part, machine);
        }
        auto solver = make_solver(options, machine, *library, *part, form, configurations, first, is_first);
        return WaveShare{std::move(part), std::move(solver)};
    };
    WaveRunSettings settings = options.run;
    std::optional<Progress> progress;
    if (machine.speaks())
        settings.progress = [&](std::int64_t done, std::int64_t steps, double energy) {
            if (!progress) progress.emplace("time steps", steps);
            progress->at(done, fmt::format("energy {:.6g}", energy));
        };
    const auto [result, share, moves] = run_balanced(machine.ranks, speed_of_rank(options, machine, of, order), share_of, precision_of(options), form,
                                                     solution, settings, options.balancing);
    progress.reset();
    const WavePart& part = *share.part;
    if (moves > 0) {
        if (machine.speaks()) fmt::print("the mesh was shared anew {} times:\n", moves);
        print_parts(part);
    }
    if (machine.speaks()) write_energy(options, result);
    const double step_seconds = result.done > result.first ? result.seconds / static_cast<double>(result.done - result.first) : 0;
    for (int i = 0; i < options.timed_steps; ++i) share.solver->timed_step();
    report(options, part, *share.solver, machine, step_seconds);
    const double error = exact ? part.error(result.fields, solution, result.time()) : 0;
    if (!machine.speaks()) return 0;
    fmt::print("\n");
    bool good = check_energy(options, result);
    if (exact) good = check_error(options, error, result) && good;
    return good ? 0 : 1;
}

// A few steps of each order, for their speed alone.
int sweep(const Options& options, const Machine& machine, const Case& of, const std::vector<int>& all) {
    constexpr int warm_up = 2;
    std::vector<RateRow> rows;
    for (const int order : all) {
        const WavePart part = part_of(options, machine, of, order, speed_of_rank(options, machine, of, order));
        const StageForm form = form_of_ranks(options, machine, of, order);
        tune_if_asked(options, machine, part, form);
        const auto library = machine.library();
        WaveSolver solver(*machine.backend, *library, part, precision_of(options), form, {}, options.arithmetic);
        solver.set_fields(part.here().interpolated(first_fields(options, of.mesh).first, 0));
        solver.set_step(part.here().stable_step(options.run.step_part));
        for (int i = 0; i < warm_up + options.timed_steps; ++i) solver.timed_step();
        const double seconds = machine.backend->seconds({}, [&] {
            for (int i = 0; i < options.timed_steps; ++i) solver.step();
        });
        const double step_seconds = seconds / std::max(options.timed_steps, 1);
        if (machine.speaks())
            fmt::print("\n{} of order {} on {} elements, {}, on {}", options.equation, order, part.whole(), options.precision, machine.name());
        report(options, part, solver, machine, step_seconds);
        for (const KernelRate& rate : solver.rates())
            rows.push_back({machine.name(), options.equation, options.precision, rate.name, order, rate.gflops()});
        rows.push_back({machine.name(), options.equation, options.precision, "step", order, solver.operations_per_step() / step_seconds * 1e-9});
    }
    if (machine.speaks() && !options.rates_chart.empty()) write_chart(options.rates_chart, rates_chart(rows, options.equation, options.precision));
    return 0;
}

// A picture of what was measured elsewhere: no device is needed.
int draw(const Options& options) {
    if (options.rates_chart.empty()) throw hone::Error("--rates-from", "there is no file for the picture", "name one with --rates-chart");
    std::vector<RateRow> rows;
    for (const std::string& file : options.charted_rates)
        for (RateRow& row : read_rates(file)) rows.push_back(std::move(row));
    write_chart(options.rates_chart, rates_chart(rows, options.equation, options.precision));
    return 0;
}

int run_rank(Options options, Communicator& ranks) {
    if (!options.charted_rates.empty()) return ranks.rank() == 0 ? draw(options) : 0;
    const Machine machine(options, ranks);
    const bool cuda = !hone::traits_of(machine.backend->device().fingerprint.target).shares_processors;
    if (options.cells == 0) options.cells = static_cast<int>(all_reduce(ranks, Reduction::smallest, cuda ? 32 : 8));
    const std::vector<int> all = orders(options);
    if (all.size() > 1 && options.timed_steps == 0)
        throw hone::Error("--timed-steps", "it is 0, and several orders are run for their speed alone", "time at least 1, or name one --order");
    const Case of = make_case(options);
    return all.size() == 1 ? run(options, machine, of, all.front()) : sweep(options, machine, of, all);
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{"Electromagnetic waves or sound on an unstructured mesh, by discontinuous Galerkin with tuned kernels."};
    declare_problem(app, options);
    declare_results(app, options);
    declare_kernels(app, options);
    app.footer(
        "Examples:\n"
        "  maxwell                                                        the cavity, with its error\n"
        "  maxwell --equation acoustics_3d --cells 4 --order 5            sound in a box\n"
        "  maxwell --mesh examples/mesh/cylinder.msh --initial cylinder --time 2 --frames waves\n"
        "  maxwell --order 1..7 --rates rates.csv                         speed over order\n"
        "  mpirun -n 4 maxwell --cells 16                                 four ranks, each with a part of the mesh");
    return run_on_ranks("maxwell", app, argc, argv, options.device, [&](Communicator& ranks) { return run_rank(options, ranks); });
} catch (const std::exception& error) {
    fmt::print(stderr, "maxwell: {}\n", error.what());
    return 2;
}
