// Electromagnetic waves (or sound) on an unstructured mesh, by nodal discontinuous Galerkin with the kernels of the dg families, and how fast.
//
//     maxwell [--equation maxwell_3d|maxwell_2d_tm|acoustics_3d] [--order 3] [--cells 8 | --mesh FILE.msh] [--time 0.5] ...
//
// docs/solve-maxwell.md tells what can be done with it. Exit code 0: the checks printed at the end hold; 1: one does not; 2: wrong input.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>

#include "examples/maxwell/rates.hpp"
#include "examples/maxwell/wave_run.hpp"
#include "examples/mesh/boxes.hpp"
#include "examples/mesh/gmsh.hpp"
#include "examples/mesh/renumber.hpp"
#include "examples/options/options.hpp"
#include "examples/output/chart.hpp"
#include "examples/output/check.hpp"
#include "examples/output/progress.hpp"
#include "examples/tuning/tune_first.hpp"
#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/text.hpp"
#include "generator/value.hpp"
#include "tuning_db/places.hpp"

namespace {

using namespace hone::examples;
namespace text = hone::text;

struct Options {
    std::string equation = "maxwell_3d", orders = "3", precision = "f64", form = "fused", device = "best", records;
    std::string mesh, walls = "reflecting", first = "automatic";
    std::vector<std::string> materials, groups;
    int cells = 0, timed_steps = 3;
    double tune = 0;
    bool renumber = true;
    std::string energy_file, chart_file, rates_file, rates_chart, arithmetic = "strict";
    std::vector<std::string> charted_rates;
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
    app.add_option("--time", o.run.time, "at the end")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--cfl", o.run.step_part, "the time step times (largest Fscale N^2 c)")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_flag("!--no-renumber", o.renumber, "keep the mesh's order of elements; else neighbours are brought together");
}

void declare_results(CLI::App& app, Options& o) {
    app.add_option("--frames", o.run.frames_folder, "folder for .vtu files with all of each element's nodes, and fields.pvd, which ParaView opens");
    app.add_option("--frame-count", o.run.frames, "how many, besides the first")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--energy", o.energy_file, "file for the energy over time, as two columns (CSV)");
    app.add_option("--energy-chart", o.chart_file, "the same as a picture (SVG)");
    app.add_option("--energy-samples", o.run.energy_samples, "how often it is looked at")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--checkpoint", o.run.checkpoint, "file from which --restart can go on");
    app.add_option("--checkpoint-every", o.run.checkpoint_every, "time steps from one to the next; 0: at the end only")->capture_default_str();
    app.add_option("--restart", o.run.restart, "go on from this checkpoint, with the same options, to the same bits");
    app.add_option("--stop-after", o.run.stop_after, "end after so many time steps, as if interrupted; 0: do not")->capture_default_str();
    app.add_option("--rates", o.rates_file, "file to which the speed of every kernel and of the whole step is added (CSV)");
    app.add_option("--rates-chart", o.rates_chart, "with a range of orders: GFLOP/s over order as a picture (SVG)");
    app.add_option("--rates-from", o.charted_rates, "only draw --rates-chart, of --equation and --precision, from files that --rates wrote anywhere");
    app.add_option("--timed-steps", o.timed_steps, "time steps after the run in which each kernel is timed")->capture_default_str();
}

void declare_kernels(CLI::App& app, Options& o) {
    add_device(app, o.device, o.records);
    add_tune(app, o.tune);
    app.add_option("--form", o.form,
                   "of a Runge-Kutta stage: kernels (volume, surface, update) or fused (one problem; its configuration says what is fused)")
        ->capture_default_str()
        ->check(CLI::IsMember({"kernels", "fused"}));
}

std::pair<std::string, std::string> halves(const std::string& option, const std::string& word) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos) throw hone::Error(option, "\"" + word + "\" has no =", "write " + option + " NAME=...");
    return {word.substr(0, at), word.substr(at + 1)};
}

double number(const std::string& option, const std::string& word) {
    std::size_t used = 0;
    double value = 0;
    try {
        value = std::stod(word, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (word.empty() || used != word.size()) throw hone::Error(option, "\"" + word + "\" is no number", "write a number");
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
    throw hone::Error(option, "\"" + word + "\" is no kind of boundary", "use reflecting, absorbing or periodic");
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

Discretisation discretise(const Options& options, int order) {
    const std::string where = options.mesh.empty() ? "box" : options.mesh;
    Mesh mesh = make_mesh(options);
    for (const auto& [name, material] : materials(options))
        if (std::find(mesh.materials.begin(), mesh.materials.end(), name) == mesh.materials.end())
            throw hone::Error("--material " + name, where + " has no such group of elements",
                              hone::did_you_mean(name, mesh.materials) + fmt::format("it has {}", fmt::join(mesh.materials, ", ")));
    if (options.renumber) mesh = reordered(mesh, cuthill_mckee(mesh, match_faces(mesh, where)));
    return {options.equation, order, std::move(mesh), materials(options), where};
}

// The first fields, and whether they are an exact solution's.
std::pair<Discretisation::Solution, bool> first_fields(const Options& options, const Discretisation& of) {
    std::string first = options.first;
    if (first == "automatic") first = options.mesh.empty() && options.walls == "reflecting" ? "cavity" : "pulse";
    if (first == "cavity") return {cavity(*of.equation), true};
    if (first == "cylinder") return {cylinder_mode(*of.equation), true};
    return {pulse(*of.equation, of.mesh), false};
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

// Upwind fluxes take energy, and the time stepper takes a little; rounding alone may add, in proportion to the sums behind a sample.
bool check_energy(const Options& options, const WaveRunResult& result) {
    const double unit = options.precision == "f32" ? 0x1p-24 : 0x1p-53;
    const double allowed = 64 * unit;
    const double growth = result.largest_growth();
    const bool good = growth <= allowed;
    fmt::print("check: energy {:.6g} at first, {:.6g} at the end, never grew by more than {:.1e} of the first: {}\n", result.energy.front().second,
               result.energy.back().second, allowed, good ? "good" : fmt::format("BAD, by {:.2e}", growth));
    return good;
}

bool check_error(const Options& options, const Discretisation& of, const Discretisation::Solution& solution, const WaveRunResult& result) {
    const double error = of.error(result.fields, solution, result.time());
    fmt::print("L2 error over all fields at time {:.6g}: {:.4e}\n", result.time(), error);
    constexpr double part_of_table = 0.5;
    const bool box = options.mesh.empty() && options.precision == "f64" && options.run.step_part == part_of_table;
    for (const KnownError& known : known_errors) {
        if (!box || known.equation != options.equation || known.order != of.element->order || known.cells != options.cells) continue;
        if (std::abs(known.time - result.time()) > 1e-9) continue;
        return report(std::abs(error / known.error - 1) < 0.01, fmt::format("known to be {:.3e}, within 1 %", known.error));
    }
    return true;
}

// What all runs on a device share.
struct Machine {
    explicit Machine(const Options& options)
        : cache(hone::DiskCache::default_folder()), backend(hone::make_backend(options.device, cache)), records(options.records) {}

    hone::KernelLibrary library() const { return {*backend, hone::known_records(hone::built_in_families(), records), hone::built_in_families()}; }

    hone::DiskCache cache;
    std::unique_ptr<hone::Backend> backend;
    std::filesystem::path records;
};

hone::Precision precision_of(const Options& options) {
    return options.precision == "f32" ? hone::Precision::f32 : hone::Precision::f64;
}

void tune_if_asked(const Options& options, const Machine& machine, const Discretisation& of) {
    if (options.tune <= 0) return;
    tune_first(*machine.backend, stage_problems(of, precision_of(options), parse_form(options.form), options.arithmetic),
               hone::own_records(machine.records), options.tune, tell_tuned);
}

// `step_seconds`: of a whole step; 0 where none was made.
void report(const Options& options, const Discretisation& of, const WaveSolver& solver, const Machine& machine, double step_seconds) {
    fmt::print("\n{}", rates_table(solver, step_seconds));
    if (!options.rates_file.empty())
        append_rates(options.rates_file, machine.backend->device().fingerprint.name, of, options.precision, solver, step_seconds);
}

int run(const Options& options, const Machine& machine, int order) {
    const Discretisation of = discretise(options, order);
    tune_if_asked(options, machine, of);
    std::map<std::string, std::string> configurations;
    StageForm form = parse_form(options.form);
    if (!options.run.restart.empty()) {
        const Checkpoint checkpoint = read_checkpoint(options.run.restart);
        configurations = checkpoint.configurations;
        form = parse_form(checkpoint.form);
    }
    hone::KernelLibrary library = machine.library();
    WaveSolver solver(*machine.backend, library, of, precision_of(options), form, configurations, options.arithmetic);
    const auto [steps, dt] = planned_steps(of, options.run);
    fmt::print("{} of order {} on {} elements ({} unknowns), {}, {} steps of {:.4g}, on {}\n", of.equation->name, order, of.size(),
               text::grouped(of.words()), options.precision, steps, dt, machine.backend->device().fingerprint.name);
    const auto [solution, exact] = first_fields(options, of);
    WaveRunSettings settings = options.run;
    Progress progress("time steps", steps);
    settings.progress = [&](std::int64_t done, std::int64_t, double energy) { progress.at(done, fmt::format("energy {:.6g}", energy)); };
    const WaveRunResult result = run_waves(solver, of, precision_of(options), form, of.interpolated(solution, 0), settings);
    progress.clear();
    write_energy(options, result);
    const double step_seconds = result.done > result.first ? result.seconds / static_cast<double>(result.done - result.first) : 0;
    for (int i = 0; i < options.timed_steps; ++i) solver.timed_step();
    report(options, of, solver, machine, step_seconds);
    fmt::print("\n");
    bool good = check_energy(options, result);
    if (exact) good = check_error(options, of, solution, result) && good;
    return good ? 0 : 1;
}

// A few steps of each order, for their speed alone.
int sweep(const Options& options, const Machine& machine, const std::vector<int>& all) {
    constexpr int warm_up = 2;
    std::vector<RateRow> rows;
    for (const int order : all) {
        const Discretisation of = discretise(options, order);
        tune_if_asked(options, machine, of);
        hone::KernelLibrary library = machine.library();
        WaveSolver solver(*machine.backend, library, of, precision_of(options), parse_form(options.form), {}, options.arithmetic);
        solver.set_fields(of.interpolated(first_fields(options, of).first, 0));
        solver.set_step(of.stable_step(options.run.step_part));
        for (int i = 0; i < warm_up + options.timed_steps; ++i) solver.timed_step();
        const double seconds = machine.backend->seconds({}, [&] {
            for (int i = 0; i < options.timed_steps; ++i) solver.step();
        });
        const double step_seconds = seconds / std::max(options.timed_steps, 1);
        fmt::print("\n{} of order {} on {} elements, {}, on {}", of.equation->name, order, of.size(), options.precision,
                   machine.backend->device().fingerprint.name);
        report(options, of, solver, machine, step_seconds);
        const std::string& device = machine.backend->device().fingerprint.name;
        for (const KernelRate& rate : solver.rates()) rows.push_back({device, options.equation, options.precision, rate.name, order, rate.gflops()});
        rows.push_back({device, options.equation, options.precision, "step", order, solver.operations_per_step() / step_seconds * 1e-9});
    }
    if (!options.rates_chart.empty()) write_chart(options.rates_chart, rates_chart(rows, options.equation, options.precision));
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
        "  maxwell --order 1..7 --rates rates.csv                         speed over order");
    CLI11_PARSE(app, argc, argv);
    if (!options.charted_rates.empty()) return draw(options);
    const Machine machine(options);
    if (options.cells == 0) options.cells = machine.backend->device().fingerprint.target == hone::Target::cuda ? 32 : 8;
    const std::vector<int> all = orders(options);
    return all.size() == 1 ? run(options, machine, all.front()) : sweep(options, machine, all);
} catch (const std::exception& error) {
    fmt::print(stderr, "maxwell: {}\n", error.what());
    return 2;
}
