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
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <hone/hone.hpp>
#include <hone/solvers.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "examples/options/checks.hpp"
#include "examples/options/exchange.hpp"
#include "examples/options/on_ranks.hpp"
#include "examples/options/options.hpp"
#include "examples/options/sharing.hpp"

namespace {

using namespace hone::examples;
using namespace hone::solvers;
using namespace hone::solvers::hydro;
using hone::Communicator;
namespace text = hone::text;

struct Options {
    std::string problem = "sedov", scheme = "rk2-average", corner_force = "kernels", assembly = "partial", device = "best", records, mass = "best",
                vector_updates = "fused";
    std::string mesh, split = "forces";
    SharingOptions sharing;
    ExchangeOptions exchange;
    Balancing balancing;
    std::string energy_file, chart_file;
    std::vector<int> zones;
    int dimension = 2, order = 2, refine = 0, recorded = MassSettings{}.recorded;
    double time = 0, blast = 0, tune = 0;
    std::optional<double> share;
    RunSettings run;
};

void declare_problem(CLI::App& app, Options& o) {
    app.add_option("--problem", o.problem,
                   "sedov: a blast from a corner; triple-point: three gases, a shock and a vortex; taylor-green: a steady vortex; sod: a shock tube; "
                   "noh: gas that "
                   "falls on the origin")
        ->capture_default_str()
        ->check(CLI::IsMember(hydro_problem_names()));
    app.add_option("--dimension", o.dimension, "of space")->capture_default_str()->check(CLI::Range(2, 3));
    app.add_option("--order", o.order, "k of the spaces: positions and velocities Qk, energies Qk-1")->capture_default_str()->check(CLI::Range(1, 8));
    app.add_option("--zones", o.zones, "zones of the problem's box along x, y and z; default: each problem its own")->delimiter(',')->expected(1, 3);
    app.add_option(
        "--mesh", o.mesh,
        "MFEM mesh (quadrilaterals or hexahedra with straight edges) in place of the box; boundary attributes 1, 2, 3 are walls across x, y, z");
    app.add_option("--refine", o.refine, "how often every zone is cut in half along each direction first")
        ->capture_default_str()
        ->check(CLI::Range(0, 8));
    app.add_option("--time", o.time, "at the end; 0: each problem its own")->capture_default_str()->check(not_negative());
    app.add_option("--blast", o.blast, "of sedov: energy at the origin, of all corners that meet there; 0: 1 in two dimensions, 2 in three")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--scheme", o.scheme, "of time: rk2-average conserves total energy to rounding, rk4 is what published norms were made with")
        ->capture_default_str()
        ->check(CLI::IsMember({"rk2-average", "rk4"}));
    app.add_option("--cfl", o.run.cfl, "part of the longest stable time step")->capture_default_str()->check(between(1e-6, 1.0));
    app.add_option("--tolerance", o.run.tolerance, "of conjugate gradients for accelerations")->capture_default_str()->check(between(1e-15, 1e-2));
}

void declare_results(CLI::App& app, Options& o) {
    app.add_option("--frames", o.run.frames_folder, "folder for .vtu files with all of each zone's nodes, and gas.pvd, which ParaView opens");
    app.add_option("--frame-count", o.run.frames, "how many, besides the first")->capture_default_str()->check(positive());
    app.add_option("--energy", o.energy_file, "file for internal, kinetic and total energy over time (CSV)");
    app.add_option("--energy-chart", o.chart_file, "the same as a picture (SVG)");
    app.add_option("--energy-every", o.run.energy_every, "time steps from one look at the energy to the next")
        ->capture_default_str()
        ->check(positive());
    app.add_option("--checkpoint", o.run.checkpoint, "file from which --restart can go on");
    app.add_option("--checkpoint-every", o.run.checkpoint_every, "time steps from one to the next; 0: at the end only")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--restart", o.run.restart, "go on from this checkpoint, with the same options, to the same bits");
    app.add_option("--stop-after", o.run.stop_after, "end after so many time steps, as if interrupted; 0: do not")
        ->capture_default_str()
        ->check(not_negative());
}

void declare_kernels(CLI::App& app, Options& o) {
    add_device(app, o.device, o.records,
               "; several by commas for the ranks of a host; of one rank two, as cuda:0,cpu, share the corner forces: the first does everything "
               "else, and the ratio that ends both "
               "at the same moment is looked up in --db, followed while the run goes on, and kept where --tune keeps what it finds");
    app.add_option("--split", o.split,
                   "what several devices of one process share: forces, or the mesh, of which each has a part as ranks of mpirun have")
        ->capture_default_str()
        ->check(CLI::IsMember({"forces", "mesh"}));
    add_sharing(app, o.sharing);
    add_exchange(app, o.exchange);
    app.add_option("--balance-every", o.balancing.every,
                   "time steps of a period, after which ranks' devices are asked how long the work of their parts takes, and the mesh is shared anew "
                   "where that gains 5 %; 0: never")
        ->capture_default_str()
        ->check(not_negative());
    app.add_option("--share", o.share, "of the first of two devices, 0 to 1, in place of finding it")->check(between(0.0, 1.0));
    add_tune(app, o.tune);
    app.add_option("--corner-force", o.corner_force, "kernels, or reference: plain loops on the processor for the whole of a step")
        ->capture_default_str()
        ->check(CLI::IsMember({"kernels", "reference"}));
    app.add_option("--assembly", o.assembly,
                   "partial: forces and work axis by axis from the stress at the points; full: each zone's matrix of corner forces is stored and "
                   "multiplied with")
        ->capture_default_str()
        ->check(CLI::IsMember({"partial", "full"}));
    app.add_option(
           "--mass", o.mass,
           "how conjugate gradients multiply with the mass matrix: elements: axis by axis, without a matrix; rows: with the assembled one; best: "
           "rows at order 1 and on small meshes of order 2 in two dimensions; tuned: what takes less time by this device's tuned results")
        ->capture_default_str()
        ->check(CLI::IsMember({"best", "tuned", "elements", "rows"}));
    app.add_option(
           "--vector-updates", o.vector_updates,
           "of conjugate gradients on a GPU: fused: residual and direction in one launch; cooperative: which the driver knows for one whose blocks "
           "wait for each other; separate: in two launches; to the same digits")
        ->capture_default_str()
        ->check(CLI::IsMember({"fused", "cooperative", "separate"}));
    app.add_option("--graph-iterations", o.recorded,
                   "of conjugate gradients that a GPU queues at once, as a CUDA graph; 0: launch by launch; to the same digits")
        ->capture_default_str()
        ->check(CLI::Range(0, 1000));
}

// What a run is about, the same on all ranks.
struct Case {
    HydroProblem problem;
    QuadMesh mesh;
    std::string where;
};

Case make_case(const Options& options) {
    HydroProblem problem = hydro_problem(options.problem, options.dimension);
    if (options.blast > 0) problem.blast = options.blast;
    if (std::ssize(options.zones) > problem.dimension)
        throw hone::Error("--zones", fmt::format("{} numbers in {} dimensions", options.zones.size(), problem.dimension),
                          "give one for each axis at most, or --dimension 3");
    for (std::size_t axis = 0; axis < options.zones.size(); ++axis) problem.box.zones[axis] = options.zones[axis];
    for (const int zones : problem.box.zones)
        if (zones < 1 || zones > 4096) throw hone::Error("--zones", fmt::format("{} along an axis", zones), "use 1 to 4096");
    QuadMesh mesh = options.mesh.empty() ? quad_box(problem.box) : read_mfem(options.mesh);
    for (int i = 0; i < options.refine; ++i) mesh = refined(mesh);
    return {std::move(problem), std::move(mesh), options.mesh.empty() ? "box" : options.mesh};
}

// A device that a run uses.
struct Machine {
    Machine(const std::string& name, hone::DiskCache& cache) : backend(hone::make_backend(name, cache)) {}

    hone::DeviceSide side() const { return {backend->device().fingerprint, backend->device().limits}; }
    const std::string& name() const { return backend->device().fingerprint.name; }
    void look_up_in(const hone::Database& database) {
        library = std::make_unique<hone::KernelLibrary>(*backend, database, hone::built_in_families());
    }

    std::unique_ptr<hone::Backend> backend;
    std::unique_ptr<hone::KernelLibrary> library;
};

// One, or two that share corner forces.
std::vector<Machine> machines_of(const Options& options, const Communicator& ranks, hone::DiskCache& cache) {
    const std::string device = ranks.size() > 1 ? hone::device_of_rank(options.device, ranks) : options.device;
    const std::size_t comma = device.find(',');
    std::vector<Machine> machines;
    machines.emplace_back(device.substr(0, comma), cache);
    if (comma != std::string::npos)
        machines.emplace_back(device.substr(comma + 1), cache);
    else if (options.share)
        throw hone::Error("--share", "there is one device", "name two: --device cuda:0,cpu");
    return machines;
}

MassForm other_form(MassForm form) {
    return form == MassForm::rows ? MassForm::elements : MassForm::rows;
}

void tune_if_asked(const Options& options, const std::vector<Machine>& machines, const Discretisation& of) {
    if (options.tune <= 0) return;
    const TimeScheme scheme = options.run.scheme;
    const Assembly assembly = parse_assembly(options.assembly);
    std::vector<hone::Problem> of_first = problems_to_tune(of, scheme, assembly, options.run.mass);
    if (options.mass == "tuned") of_first.push_back(product_problem(of.velocity_mass, other_form(usual_mass_form(of.velocity_mass))));
    for (std::size_t i = 0; i < machines.size(); ++i)
        tune_first(*machines[i].backend, i == 0 ? of_first : zone_problems(of, scheme, assembly), hone::own_records(options.records),
                   options.tune / static_cast<double>(machines.size()), tell_tuned);
}

// The share that the database has for this very problem, with the configurations that it is about.
void begin_balanced(const hone::Database& database, const hone::Problem& problem, const std::vector<Machine>& machines,
                    KernelOperator::Settings& settings) {
    const hone::Share share = database.best_share(problem, machines[0].side(), machines[1].side());
    if (share.grade != hone::Grade::exact) return;
    const std::string& result = problem.word("result");
    settings.configurations.emplace(result, share.config.key());
    settings.configurations.emplace("partner." + result, share.partner_config.key());
    settings.partner->known = share.known;
}

void write_energies(const Options& options, const RunResult& result) {
    if (!options.energy_file.empty()) {
        std::ofstream stream(options.energy_file);
        stream << "step,time,internal,kinetic,total\n";
        for (const EnergySample& sample : result.energies)
            stream << fmt::format("{},{},{},{},{}\n", sample.step, sample.time, sample.internal, sample.kinetic, sample.total());
        stream.close();
        if (!stream) throw hone::Error(options.energy_file, "it cannot be written", "choose another file for --energy");
    }
    if (options.chart_file.empty()) return;
    Chart chart{"Energy of " + options.problem, "time", "energy", false, {{"internal", {}}, {"kinetic", {}}, {"total", {}}}};
    for (const EnergySample& sample : result.energies) {
        chart.curves[0].points.emplace_back(sample.time, sample.internal);
        chart.curves[1].points.emplace_back(sample.time, sample.kinetic);
        chart.curves[2].points.emplace_back(sample.time, sample.total());
    }
    write_chart(options.chart_file, chart);
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
    hone::DiskCache cache(hone::DiskCache::default_folder());
    std::vector<Machine> machines = machines_of(options, ranks, cache);
    tune_if_asked(options, machines, of);
    const auto database = hone::known_records(hone::built_in_families(), options.records);
    for (Machine& machine : machines) machine.look_up_in(database);
    if (options.mass == "tuned") options.run.mass = tuned_mass_form(database, machines[0].side(), of.velocity_mass);
    KernelOperator::Settings settings = operator_settings(options);
    if (machines.size() > 1) {
        settings.partner = {.backend = machines[1].backend.get(), .library = machines[1].library.get(), .share = options.share};
        if (options.run.restart.empty()) begin_balanced(database, shared_problem(of, options.run.scheme, settings.assembly), machines, settings);
    }
    KernelOperator on(*machines[0].backend, *machines[0].library, of, options.run.scheme, settings);
    options.run.configurations = on.configurations();
    print_kernels(machines[0].name() + (machines.size() > 1 ? ", with " + machines[1].name() : ""), on);
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
int run_alone(Options& options, Case about, const Communicator& ranks) {
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

// Zones a second of time steps on a box of this rank's own.
double measured_speed(const Options& options, Machine& machine, const Case& about) {
    constexpr int steps = 3;
    const int dimension = about.problem.dimension, cells = dimension == 2 ? 24 : 8;
    const Discretisation of(about.problem, options.order, quad_box({dimension, {cells, cells, cells}}));
    KernelOperator::Settings settings = operator_settings(options);
    KernelOperator on(*machine.backend, *machine.library, of, options.run.scheme, settings);
    Stepper stepper(on, options.run.scheme, of.first);
    stepper.step(options.run.time);
    const double seconds = machine.backend->seconds({}, [&] {
        for (int i = 0; i < steps; ++i) stepper.step(options.run.time);
    });
    return static_cast<double>(of.zones()) / seconds;
}

void print_parts(const ZonePart& part) {
    std::vector<double> all(static_cast<std::size_t>(2 * part.ranks().size()));
    const std::array<double, 2> own{static_cast<double>(part.own_nodes()), static_cast<double>(part.here().zones())};
    part.ranks().all_gather(own, hone::equal_counts(part.ranks(), 2), all);
    if (part.ranks().rank() > 0) return;
    fmt::print("{} ranks, by {}; nodes of each (and zones around them):", part.ranks().size(), part.ranks().transport());
    for (std::size_t at = 0; at < all.size(); at += 2) fmt::print(" {} ({})", all[at], all[at + 1]);
    fmt::print("\n");
}

// The problem of the forces on the whole mesh.
hone::Problem problem_of_whole(const Options& options, const ZonePart& part) {
    const hone::Problem here = shared_problem(part.here(), options.run.scheme, parse_assembly(options.assembly));
    return hone::built_in_families().parse_problem(fmt::format("{} {}={}", here.class_key(), here.extents().front(), part.whole_zones()));
}

// An operator of a part with the exchange that is chosen for all, by measuring where that is asked
// for.
std::unique_ptr<KernelOperator> make_operator(const Options& options, const Machine& machine, const ZonePart& part,
                                              const KernelOperator::Settings& settings, bool chooses) {
    StepTimer timer(part.ranks(), *machine.backend);
    bool measured = false;
    const auto make = [&] { return std::make_unique<KernelOperator>(*machine.backend, *machine.library, part.here(), options.run.scheme, settings); };
    const auto measure = [&](KernelOperator& on) {
        measured = true;
        Stepper stepper(on, options.run.scheme, part.here().first);
        const auto take = [&](int steps) {
            return seconds_together(part.ranks(), *machine.backend, [&] {
                for (int step = 0; step < steps; ++step) stepper.step(std::numeric_limits<double>::max());
            });
        };
        return timer(take, [&] { return stepper.clock().dt; });
    };
    const auto choose = [&](const auto& run) {
        if (!chooses) return;
        ExchangedStep step{"hydro", problem_of_whole(options, part), {}};
        // Processors have one array for the direction: it is sent when all of it is there.
        if (!hone::traits_of(machine.backend->device().fingerprint.target).host_memory)
            step.space.edges = {hone::EdgePlace::beside, hone::EdgePlace::before, hone::EdgePlace::serial};
        choose_exchange(options.exchange, part.ranks(), *machine.backend, machine.library->database(), options.records, step, run);
    };
    auto on = solver_with_exchange(make, choose, measure);
    return measured ? make() : std::move(on);  // the state of one that measured is that of a run which went on
}

// A rank's part of the mesh, on a device of its own. What is known of places is checked by runs on
// one rank; total energy here, too.
int run_part(Options& options, const Case& about, Communicator& ranks) {
    if (options.corner_force == "reference")
        throw hone::Error("--corner-force reference", fmt::format("there are {} ranks", ranks.size()), "start one, or use kernels");
    if (options.share) throw hone::Error("--share", "there are several ranks", "give them parts by --speeds");
    if (options.mass == "tuned") throw hone::Error("--mass tuned", "there are several ranks", "name rows or elements, the same for all");
    hone::DiskCache cache(hone::DiskCache::default_folder());
    std::vector<Machine> machines = machines_of(options, ranks, cache);
    Machine& machine = machines.front();
    const auto look_up = [&] { machine.look_up_in(hone::known_records(hone::built_in_families(), options.records)); };
    look_up();
    const double speed = speed_of_rank(options.sharing, ranks, machine.name(), [&] { return measured_speed(options, machine, about); });
    const bool speaks = ranks.rank() == 0;
    bool is_first = true;
    const auto share_of = [&](double of_rank) {
        auto part = std::make_unique<const ZonePart>(ranks, about.problem, options.order, about.mesh, about.where, of_rank,
                                                     hone::parse_cutter(options.sharing.cutter));
        if (is_first && options.tune > 0) {
            // Rank 0, for its part: kernels of the other sizes are found from there.
            if (ranks.rank() == 0) tune_if_asked(options, machines, part->here());
            ranks.barrier();
            look_up();
        }
        KernelOperator::Settings settings = operator_settings(options);
        settings.part = part.get();
        // What suits a mesh is decided by the whole of it.
        if (!settings.mass) settings.mass = usual_mass_form(part->here().velocity_mass, part->whole_nodes());
        auto on = make_operator(options, machine, *part, settings, is_first);
        if (is_first) suit_threads(part->here());
        if (is_first && speaks) {
            print_case(options, about.problem, part->whole_zones(), part->whole_nodes());
            print_kernels(machine.name(), *on);
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
    Case about = make_case(options);
    options.run.time = options.time > 0 ? options.time : about.problem.time;
    return ranks.size() == 1 ? run_alone(options, std::move(about), ranks) : run_part(options, about, ranks);
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    CLI::App app{"Lagrangian hydrodynamics of high order on quadrilaterals and hexahedra, with tuned kernels."};
    declare_problem(app, options);
    declare_results(app, options);
    declare_kernels(app, options);
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
