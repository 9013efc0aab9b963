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

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "examples/maxwell/options.hpp"
#include "examples/options/machine.hpp"
#include "examples/options/on_ranks.hpp"
#include "examples/options/words.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;
using namespace hone::solvers::maxwell;
using hone::Communicator;
using hone::Reduction;
namespace text = hone::text;

using Options = MaxwellOptions;

void write_energy(const Options& options, const WaveRunResult& result) {
    Table table{{"time", "energy"}, {}};
    for (const auto& [time, energy] : result.energy) table.rows.push_back({time, energy});
    if (!options.energy.csv.empty()) write_csv(options.energy.csv, table);
    if (options.energy.chart.empty()) return;
    write_chart(options.energy.chart, {"Energy of " + options.waves.equation, "time", "energy", false, table.curves("time", {"energy"})});
}

// A rank with its device.
struct Place : Machine {
    Place(const Options& options, Communicator& all) : Machine(hone::device_of_rank(options.device, all), options.records), ranks(all) {}
    bool speaks() const { return ranks.rank() == 0; }

    Communicator& ranks;
};

// That of the options or, where nobody says, the fastest.
StageForm form_of(const Options& options, const Place& place, const WaveCase& of) {
    return options.form == "auto" ? fastest_form(place.ranks, of, place.database(), *place.backend) : parse_form(options.form);
}

double speed_of_rank(const Options& options, const Place& place, const WaveCase& of, StageForm form) {
    return speed_of_rank(options.sharing, place.ranks, place.name(),
                         [&] { return measured_speed(of, form, *place.backend, *place.library(), place.ranks.size()); });
}

WavePart part_of(const Options& options, const Place& place, const WaveCase& of, double speed) {
    return {place.ranks, of.equation, of.order, of.mesh, of.materials, of.where, speed, hone::parse_cutter(options.sharing.cutter)};
}

// Rank 0, for its part: kernels of the other sizes are found from there.
void tune_if_asked(const Options& options, const Place& place, const WaveCase& of, const WavePart& part, StageForm form) {
    if (options.tune <= 0) return;
    if (place.speaks()) place.tune(of.problems(part.here(), form), options.tune);
    place.ranks.barrier();
}

// `step_seconds`: of a whole step; 0 where none was made.
void report_speed(const Options& options, const WavePart& part, const WaveSolver& solver, const Place& place, double step_seconds) {
    const double operations = all_reduce(place.ranks, Reduction::sum, solver.operations_per_step());
    if (!place.speaks()) return;
    if (place.ranks.size() > 1 && step_seconds > 0)
        fmt::print("\n{} ranks: {:.4g} ms a step, {:.1f} GFLOP/s, {:.1f} M unknowns/s in all; of rank 0:", place.ranks.size(), 1e3 * step_seconds,
                   operations / step_seconds * 1e-9, static_cast<double>(part.unknowns()) / step_seconds * 1e-6);
    fmt::print("\n{}", rates_table(solver, step_seconds));
    if (!options.rates_file.empty()) append_rates(options.rates_file, place.name(), part.here(), options.precision, solver, step_seconds);
}

void print_parts(const WavePart& part) {
    hone::examples::print_parts(part.ranks(), "elements of each (those at others)", part.own(), part.boundary());
}

void print_beginning(const Options& options, const WaveCase& of, const WavePart& part, const Place& place) {
    const auto [steps, dt] = planned_steps(part.here(), options.run);
    if (place.speaks())
        fmt::print("{} of order {} on {} elements ({} unknowns), {}, {} steps of {:.4g}, on {}\n", of.equation, of.order, part.whole(),
                   text::grouped(part.unknowns()), options.precision, steps, dt, place.name());
    print_parts(part);
}

// A solver of a part with the exchange that is chosen for all, by measuring where that is asked
// for.
std::unique_ptr<WaveSolver> make_solver(const Options& options, const Place& place, const WaveCase& of, hone::KernelLibrary& library,
                                        const WavePart& part, StageForm form, const std::map<std::string, std::string>& configurations,
                                        const Discretisation::Solution& first, bool chooses) {
    StepTimer timer(place.ranks, *place.backend);
    std::vector<double> fields;
    const auto make = [&] { return std::make_unique<WaveSolver>(*place.backend, library, part, of.precision, form, configurations, of.arithmetic); };
    const auto measure = [&](WaveSolver& solver) {
        if (fields.empty()) fields = part.here().interpolated(first, 0);
        solver.set_fields(fields);
        solver.set_step(planned_steps(part.here(), options.run).second);
        return timer.steps([&] { solver.step(); },
                           [&] {
                               const std::vector<double> after = solver.fields();
                               return std::accumulate(after.begin(), after.end(), 0.0);
                           });
    };
    const auto choose = [&](const auto& run) {
        if (!chooses) return;
        ExchangedStep step{"maxwell", of.problems(part.here(), form, part.whole()).front(), {}};
        step.space.edges = {hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
        choose_exchange(options.exchange, place.ranks, *place.backend, library.database(), place.records, step, run);
    };
    return solver_with_exchange(make, choose, measure);
}

// With a bar of rank 0.
BalancedRun watched(const Options& options, const Place& place, const std::function<BalancedRun(const WaveRunSettings&)>& run) {
    WaveRunSettings settings = options.run;
    std::optional<Progress> progress;
    if (place.speaks())
        settings.progress = [&](std::int64_t done, std::int64_t steps, double energy) {
            if (!progress) progress.emplace("time steps", steps);
            progress->at(done, fmt::format("energy {:.6g}", energy));
        };
    return run(settings);
}

int run(const Options& options, const Place& place, const WaveCase& of) {
    std::map<std::string, std::string> configurations;
    StageForm form = form_of(options, place, of);
    if (!options.run.restart.empty()) {
        const Checkpoint checkpoint = read_checkpoint(options.run.restart);
        configurations = checkpoint.configurations;
        form = parse_form(checkpoint.form);
    }
    std::unique_ptr<hone::KernelLibrary> library;
    const FirstFields first = first_fields(options, of);
    const auto share_of = [&](double speed) {
        auto part = std::make_unique<const WavePart>(part_of(options, place, of, speed));
        const bool is_first = library == nullptr;
        if (is_first) {
            tune_if_asked(options, place, of, *part, form);
            library = place.library();
            print_beginning(options, of, *part, place);
        }
        auto solver = make_solver(options, place, of, *library, *part, form, configurations, first.solution, is_first);
        return WaveShare{std::move(part), std::move(solver)};
    };
    const double speed = speed_of_rank(options, place, of, form);
    const auto [result, share, moves] = watched(options, place, [&](const WaveRunSettings& settings) {
        return run_balanced(place.ranks, speed, share_of, of.precision, form, first.solution, settings, options.balancing);
    });
    const WavePart& part = *share.part;
    if (moves > 0) {
        if (place.speaks()) fmt::print("the mesh was shared anew {} times:\n", moves);
        print_parts(part);
    }
    if (place.speaks()) write_energy(options, result);
    const double step_seconds = result.done > result.first ? result.seconds / static_cast<double>(result.done - result.first) : 0;
    for (int i = 0; i < options.timed_steps; ++i) share.solver->timed_step();
    report_speed(options, part, *share.solver, place, step_seconds);
    const double error = first.exact ? part.error(result.fields, first.solution, result.time()) : 0;
    if (!place.speaks()) return 0;
    fmt::print("\n");
    bool good = report({check_energy(result, of.precision)});
    if (first.exact) {
        fmt::print("L2 error over all fields at time {:.6g}: {:.4e}\n", result.time(), error);
        if (const auto known = check_known_error(error, of, options.cells, options.run, result); known && options.mesh.empty())
            good = report({*known}) && good;
    }
    return good ? 0 : 1;
}

// A few steps of each order, for their speed alone.
int sweep(const Options& options, const Place& place, WaveCase of, const std::vector<int>& orders) {
    constexpr int warm_up = 2;
    std::vector<RateRow> rows;
    for (const int order : orders) {
        of.order = order;
        const StageForm form = form_of(options, place, of);
        const WavePart part = part_of(options, place, of, speed_of_rank(options, place, of, form));
        tune_if_asked(options, place, of, part, form);
        const auto library = place.library();
        WaveSolver solver(*place.backend, *library, part, of.precision, form, {}, of.arithmetic);
        solver.set_fields(part.here().interpolated(first_fields(options, of).solution, 0));
        solver.set_step(part.here().stable_step(options.run.step_part));
        for (int i = 0; i < warm_up + options.timed_steps; ++i) solver.timed_step();
        const double seconds = place.backend->seconds({}, [&] {
            for (int i = 0; i < options.timed_steps; ++i) solver.step();
        });
        const double step_seconds = seconds / std::max(options.timed_steps, 1);
        if (place.speaks())
            fmt::print("\n{} of order {} on {} elements, {}, on {}", of.equation, order, part.whole(), options.precision, place.name());
        report_speed(options, part, solver, place, step_seconds);
        for (const KernelRate& rate : solver.rates()) rows.push_back({place.name(), of.equation, options.precision, rate.name, order, rate.gflops()});
        rows.push_back({place.name(), of.equation, options.precision, "step", order, solver.operations_per_step() / step_seconds * 1e-9});
    }
    if (place.speaks() && !options.rates_chart.empty()) write_chart(options.rates_chart, rates_chart(rows, of.equation, options.precision));
    return 0;
}

// A chart of what was measured elsewhere: no device is needed.
int draw(const Options& options) {
    if (options.rates_chart.empty()) throw hone::Error("--rates-from", "there is no file for the picture", "name one with --rates-chart");
    std::vector<RateRow> rows;
    for (const std::string& file : options.charted_rates)
        for (RateRow& row : read_rates(file)) rows.push_back(std::move(row));
    write_chart(options.rates_chart, rates_chart(rows, options.waves.equation, options.precision));
    return 0;
}

int run_rank(Options options, Communicator& ranks) {
    if (!options.charted_rates.empty()) return ranks.rank() == 0 ? draw(options) : 0;
    const Place place(options, ranks);
    if (options.cells == 0) options.cells = static_cast<int>(all_reduce(ranks, Reduction::smallest, place.shares_processors() ? 8 : 32));
    const std::vector<int> orders = range_of("--order", options.orders, 1, 10);
    if (orders.size() > 1 && options.timed_steps == 0)
        throw hone::Error("--timed-steps", "it is 0, and several orders are run for their speed alone", "time at least 1, or name one --order");
    const WaveCase of = make_case(options, orders.front());
    return orders.size() == 1 ? run(options, place, of) : sweep(options, place, of, orders);
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{"Electromagnetic waves or sound on an unstructured mesh, by discontinuous Galerkin with tuned kernels."};
    declare(app, options);
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
