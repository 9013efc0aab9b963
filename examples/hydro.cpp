// Shocks and vortices in gases on meshes that move with them: high-order Lagrangian hydrodynamics
// with the corner_force kernels.
//
//     hydro [--problem sedov|triple-point|taylor-green|sod|noh] [--dimension 2|3] [--order 2] [--zones 16,16 | --mesh FILE.mesh] ...
//
//     mpirun -n 4 hydro --zones 64,64                        ranks in processes, each with a part of the mesh (docs/many-devices.md)
//     hydro --device cuda:0,cuda:1 --split mesh              ranks in threads of this process
//
// docs/simulate-shocks.md tells what can be done with it. Exit code 0: the checks printed at the
// end hold; 1: one does not; 2: wrong input.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <limits>
#include <memory>
#include <vector>

#include "examples/hydro/options.hpp"
#include "examples/options/machine.hpp"
#include "examples/options/on_ranks.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;
using namespace hone::solvers::hydro;
using hone::Communicator;
namespace text = hone::text;

using Options = HydroOptions;

// One device, or two that share corner forces, with their kernels.
struct Side : Machine {
    using Machine::Machine;
    void look_up() { kernels = library(); }

    std::unique_ptr<hone::KernelLibrary> kernels;
};

std::deque<Side> sides_of(const Options& options, const Communicator& ranks) {
    const std::string device = ranks.size() > 1 ? hone::device_of_rank(options.device, ranks) : options.device;
    const std::size_t comma = device.find(',');
    std::deque<Side> sides;
    sides.emplace_back(device.substr(0, comma), options.records);
    if (comma != std::string::npos)
        sides.emplace_back(device.substr(comma + 1), options.records);
    else if (options.share)
        throw hone::Error("--share", "there is one device", "name two: --device cuda:0,cpu");
    return sides;
}

MassForm other_form(MassForm form) {
    return form == MassForm::rows ? MassForm::elements : MassForm::rows;
}

void tune_if_asked(const Options& options, const std::deque<Side>& sides, const Discretisation& of) {
    if (options.tune <= 0) return;
    const TimeScheme scheme = options.run.scheme;
    const Assembly assembly = parse_assembly(options.assembly);
    std::vector<hone::Problem> of_first = problems_to_tune(of, scheme, assembly, options.run.mass);
    if (options.mass == "tuned") of_first.push_back(product_problem(of.velocity_mass, other_form(usual_mass_form(of.velocity_mass))));
    for (std::size_t i = 0; i < sides.size(); ++i)
        sides[i].tune(i == 0 ? of_first : zone_problems(of, scheme, assembly), options.tune / static_cast<double>(sides.size()));
}

void write_energies(const Options& options, const RunResult& result) {
    hone::solvers::Table table{{"step", "time", "internal", "kinetic", "total"}, {}};
    for (const EnergySample& sample : result.energies)
        table.rows.push_back({static_cast<double>(sample.step), sample.time, sample.internal, sample.kinetic, sample.total()});
    if (!options.energy.csv.empty()) write_csv(options.energy.csv, table);
    if (options.energy.chart.empty()) return;
    write_chart(options.energy.chart,
                {"Energy of " + options.problem, "time", "energy", false, table.curves("time", {"internal", "kinetic", "total"})});
}

// With a bar of rank 0.
RunResult watched(const Options& options, bool speaks, const std::function<RunResult(const RunSettings&)>& run) {
    RunSettings settings = options.run;
    if (!speaks) return run(settings);
    constexpr std::int64_t parts = 1000;
    Progress progress("thousandths of the time", parts);
    settings.progress = [&](const Clock& clock) {
        progress.at(static_cast<std::int64_t>(static_cast<double>(parts) * clock.time / settings.time),
                    [&] { return fmt::format("step {}, time {:.4g}, dt {:.2e}", clock.steps, clock.time, clock.dt); });
    };
    return run(settings);
}

// Says where the balance ended, and keeps it for the next run.
void report_balance(const Options& options, const KernelOperator& on) {
    const auto balance = on.balance();
    if (!balance) return;
    fmt::print("{:.1f} % of the zones on the first device, {}\n", 100 * balance->share,
               options.share      ? "as asked for"
               : balance->settled ? fmt::format("settled, after {} periods", balance->periods)
                                  : fmt::format("not settled in {} periods", balance->periods));
    if (const auto record = on.share_record()) {
        hone::Database found(hone::built_in_families());
        found.add(*record);
        const std::filesystem::path folder = hone::own_records(options.records);
        found.merge_into(folder);
        fmt::print("kept in {}\n", folder.string());
    }
}

void print_iterations(const KernelOperator& on) {
    fmt::print("{:.1f} iterations of conjugate gradients a solve\n",
               static_cast<double>(on.iterations()) / static_cast<double>(std::max<std::int64_t>(on.solves(), 1)));
}

void print_kernels(const std::string& device, const KernelOperator& on) {
    fmt::print("On {}:\n", device);
    for (const KernelFound& kernel : on.kernels()) fmt::print("  {:<29} {}\n", kernel.name, kernel.found);
}

KernelOperator::Settings operator_settings(const Options& options) {
    KernelOperator::Settings settings{.cfl = options.run.cfl,
                                      .tolerance = options.run.tolerance,
                                      .assembly = parse_assembly(options.assembly),
                                      .mass = options.run.mass,
                                      .updates = parse_vector_updates(options.vector_updates),
                                      .recorded = options.recorded};
    if (!options.run.restart.empty()) settings.configurations = checkpoint_configurations(options.run.restart);
    return settings;
}

RunResult run_kernels(Options& options, const Discretisation& of, const Communicator& ranks) {
    std::deque<Side> sides = sides_of(options, ranks);
    tune_if_asked(options, sides, of);
    for (Side& side : sides) side.look_up();
    Side& first = sides.front();
    if (options.mass == "tuned") options.run.mass = tuned_mass_form(first.kernels->database(), first.side(), of.velocity_mass);
    KernelOperator::Settings settings = operator_settings(options);
    if (sides.size() > 1) {
        settings.partner = {.backend = sides[1].backend.get(), .library = sides[1].kernels.get(), .share = options.share};
        if (options.run.restart.empty())
            begin_balanced(first.kernels->database(), shared_problem(of, options.run.scheme, settings.assembly), first.side(), sides[1].side(),
                           settings);
    }
    KernelOperator on(*first.backend, *first.kernels, of, options.run.scheme, settings);
    options.run.configurations = on.configurations();
    print_kernels(first.name() + (sides.size() > 1 ? ", with " + sides[1].name() : ""), on);
    RunResult result = watched(options, true, [&](const RunSettings& how) { return run_hydro(on, of, how); });
    print_iterations(on);
    report_balance(options, on);
    return result;
}

void print_case(const Options& options, const HydroProblem& problem, std::int64_t zones, std::int64_t nodes) {
    fmt::print("{} in {} dimensions, Q{}-Q{} on {} zones ({} nodes), {} until time {}\n", problem.name, problem.dimension, options.order,
               options.order - 1, text::grouped(zones), text::grouped(nodes), options.scheme, options.run.time);
}

int report_run(const Options& options, const Discretisation& of, const RunResult& result, bool usual_mesh) {
    write_energies(options, result);
    const auto made = static_cast<double>(std::max<std::int64_t>(result.clock.steps - result.first_step, 1));
    fmt::print("{} steps, {} repeated, dt {:.6f}, norm of the energies {:.10e}\n", result.clock.steps, result.clock.rejections, result.clock.dt,
               result.norm);
    fmt::print("{:.2f} s, {:.3f} ms a step\n\n", result.seconds, 1e3 * result.seconds / made);
    return report(checks_of(of, options.run, result, usual_mesh)) ? 0 : 1;
}

// The whole of a mesh, on one device or two.
int run_alone(Options& options, HydroCase about, const Communicator& ranks) {
    const Discretisation of(std::move(about.problem), options.order, std::move(about.mesh), about.where);
    suit_threads(of);
    print_case(options, of.problem, static_cast<std::int64_t>(of.zones()), static_cast<std::int64_t>(of.nodes()));
    RunResult result;
    if (options.corner_force == "reference") {
        const auto on = make_reference_operator(of, options.run.cfl, options.run.tolerance);
        result = watched(options, true, [&](const RunSettings& how) { return run_hydro(*on, of, how); });
    } else {
        result = run_kernels(options, of, ranks);
    }
    return report_run(options, of, result, options.mesh.empty());
}

void print_parts(const ZonePart& part) {
    hone::examples::print_parts(part.ranks(), "nodes of each (and zones around them)", static_cast<double>(part.own_nodes()),
                                static_cast<double>(part.here().zones()));
}

// An operator of a part with the exchange that is chosen for all, by measuring where that is asked
// for.
std::unique_ptr<KernelOperator> make_operator(const Options& options, Side& side, const ZonePart& part, const KernelOperator::Settings& settings,
                                              bool chooses) {
    StepTimer timer(part.ranks(), *side.backend);
    bool measured = false;
    const auto make = [&] { return std::make_unique<KernelOperator>(*side.backend, *side.kernels, part.here(), options.run.scheme, settings); };
    const auto measure = [&](KernelOperator& on) {
        measured = true;
        Stepper stepper(on, options.run.scheme, part.here().first);
        return timer.steps([&] { stepper.step(std::numeric_limits<double>::max()); }, [&] { return stepper.clock().dt; });
    };
    const auto choose = [&](const auto& run) {
        if (!chooses) return;
        ExchangedStep step{"hydro", shared_problem(part, options.run.scheme, settings.assembly), {}};
        // Processors have one array for the direction: it is sent when all of it is there.
        if (!side.has_host_memory()) step.space.edges = {hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
        choose_exchange(options.exchange, part.ranks(), *side.backend, side.kernels->database(), options.records, step, run);
    };
    auto on = solver_with_exchange(make, choose, measure);
    return measured ? make() : std::move(on);  // the state of one that measured is that of a run which went on
}

// A rank's part of the mesh, on a device of its own. What is known of places is checked by runs on
// one rank; total energy here, too.
int run_part(Options& options, const HydroCase& about, Communicator& ranks) {
    if (options.corner_force == "reference")
        throw hone::Error("--corner-force reference", fmt::format("there are {} ranks", ranks.size()), "start one, or use kernels");
    if (options.share) throw hone::Error("--share", "there are several ranks", "give them parts by --speeds");
    if (options.mass == "tuned") throw hone::Error("--mass tuned", "there are several ranks", "name rows or elements, the same for all");
    std::deque<Side> sides = sides_of(options, ranks);
    Side& side = sides.front();
    side.look_up();
    const double speed = speed_of_rank(options.sharing, ranks, side.name(), [&] {
        return measured_speed(about.problem, options.order, options.run.scheme, operator_settings(options), *side.backend, *side.kernels);
    });
    const bool speaks = ranks.rank() == 0;
    bool is_first = true;
    const auto share_of = [&](double of_rank) {
        auto part = std::make_unique<const ZonePart>(ranks, about.problem, options.order, about.mesh, about.where, of_rank,
                                                     hone::parse_cutter(options.sharing.cutter));
        if (is_first && options.tune > 0) {
            // Rank 0, for its part: kernels of the other sizes are found from there.
            if (ranks.rank() == 0) tune_if_asked(options, sides, part->here());
            ranks.barrier();
            side.look_up();
        }
        KernelOperator::Settings settings = operator_settings(options);
        settings.part = part.get();
        // What suits a mesh is decided by the whole of it.
        if (!settings.mass) settings.mass = usual_mass_form(part->here().velocity_mass, part->whole_nodes());
        auto on = make_operator(options, side, *part, settings, is_first);
        if (is_first) suit_threads(part->here());
        if (is_first && speaks) {
            print_case(options, about.problem, part->whole_zones(), part->whole_nodes());
            print_kernels(side.name(), *on);
        }
        if (is_first) print_parts(*part);
        is_first = false;
        return ZoneShare{std::move(part), std::move(on)};
    };
    BalancedRun run;
    watched(options, speaks, [&](const RunSettings& how) {
        run = run_balanced(ranks, speed, share_of, how, options.balancing);
        return run.result;
    });
    if (run.moves > 0) {
        if (speaks) fmt::print("the mesh was shared anew {} times:\n", run.moves);
        print_parts(*run.share.part);
    }
    if (!speaks) return 0;
    print_iterations(*run.share.on);
    return report_run(options, run.share.part->here(), run.result, false);
}

int run_rank(Options options, Communicator& ranks) {
    options.run.scheme = parse_scheme(options.scheme);
    if (options.mass != "best" && options.mass != "tuned") options.run.mass = parse_mass_form(options.mass);
    HydroCase about = make_case(options);
    options.run.time = options.time > 0 ? options.time : about.problem.time;
    return ranks.size() == 1 ? run_alone(options, std::move(about), ranks) : run_part(options, about, ranks);
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{"Lagrangian hydrodynamics of high order on quadrilaterals and hexahedra, with tuned kernels."};
    declare(app, options);
    app.footer(
        "Examples:\n"
        "  hydro                                                        Sedov's blast in a quarter of a square\n"
        "  hydro --problem triple-point --frames pictures               then open pictures/gas.pvd in ParaView\n"
        "  hydro --dimension 3 --scheme rk4                             with published steps and norm\n"
        "  hydro --mesh examples/mesh/quarter.mesh --refine 2 --problem noh --energy-chart energy.svg\n"
        "  hydro --order 4 --zones 8,8 --tune 60 --db tuned\n"
        "  hydro --dimension 3 --zones 32,32,32 --device cuda:0,cpu --db tuned   on both, in the ratio that ends them together\n"
        "  mpirun -n 4 hydro --zones 64,64                              four ranks, each with a part of the mesh");
    std::string devices;
    app.callback([&] { devices = options.split == "mesh" || hone::rank_place().ranks > 1 ? options.device : ""; });
    return run_on_ranks("hydro", app, argc, argv, devices, [&](Communicator& ranks) { return run_rank(options, ranks); });
} catch (const std::exception& error) {
    fmt::print(stderr, "hydro: {}\n", error.what());
    return 2;
}
