// The application `hydro` whole: time steps of Sedov's blast in three dimensions, Q2-Q1 and Q4-Q3,
// by all cores of the processor, by the GPU, and by both with balanced corner forces; and what
// these steps cost in energy. The same steps each time: the norm of the energies after them must be
// the same. Speed-up, powerup and greenup (tuner/sharing/greenup.hpp) are over the processor alone.
// The processor is a part of every way, since it drives the GPU: its meter counts in all three, the
// GPU's in the last two. Without a GPU the processor shares with itself, which shows nothing but
// that it works.
//
//     hydro_benchmark [--orders=2,4] [--zones=32,16] [--steps=20] [--warm_up=5] [--balancing=400] [--power_ms=1500] [--mass=elements|rows]
//                     [Google Benchmark's flags, as --benchmark_out=hydro.json]
//
// `zones` along an axis, one number for each order. Environment: HONE_DEVICE (default "best") and
// HONE_DB (default "tuning_db/records").
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "benchmarks/program.hpp"
#include "benchmarks/timed_kernels.hpp"
#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "solvers/hydro/step_cost.hpp"
#include "tuner/sharing/greenup.hpp"

namespace hone::benchmarks {
namespace {

using namespace hone::solvers::hydro;

constexpr TimeScheme scheme = TimeScheme::rk2_average;

struct Options {
    std::vector<int> orders{2, 4}, zones{32, 16};
    int steps = 20, warm_up = 5, balancing = 400;
    int power_ms = 1500;
    std::string mass = "best";
};

void tell(const std::string& what) {
    fmt::print(stderr, "{}\n", what);
}

// A device with its tuned kernels and its meter.
struct Machine {
    Machine(const std::string& name, DiskCache& cache, const Database& database)
        : backend(make_backend(name, cache)),
          library(std::make_unique<KernelLibrary>(*backend, database, built_in_families())),
          meter(find_power_source(backend->device(), missing)) {}

    DeviceSide side() const { return {backend->device().fingerprint, backend->device().limits}; }

    std::unique_ptr<Backend> backend;
    std::unique_ptr<KernelLibrary> library;
    std::string missing;  // why there is no meter
    std::optional<PowerSource> meter;
};

struct Machines {
    DiskCache cache{DiskCache::default_folder()};
    Database database = Database::load(database_folder(), built_in_families());
    Machine processor{"cpu", cache, database};
    Machine device{device_name(), cache, database};

    bool gpu() const { return traits_of(device.backend->device().limits.target).has_blocks; }
    static Machines& instance() {
        static Machines all;
        return all;
    }
};

struct Way {
    std::string name;
    Machine* first = nullptr;
    Machine* partner = nullptr;
    std::vector<Machine*> metered;
};

std::vector<Way> ways(Machines& of) {
    std::vector<Way> result{{"cpu", &of.processor, nullptr, {&of.processor}}};
    if (of.gpu()) result.push_back({"gpu", &of.device, nullptr, {&of.processor, &of.device}});
    Way both{"both", &of.device, &of.processor, {&of.processor}};
    if (of.gpu()) both.metered.push_back(&of.device);
    result.push_back(both);
    return result;
}

// Why the power of a way is not known; empty where it is.
std::string missing_meters(const Way& way) {
    std::string missing;
    for (const Machine* machine : way.metered)
        if (!machine->meter)
            missing += fmt::format("{}{}: {}", missing.empty() ? "" : "; ", machine->backend->device().fingerprint.name, machine->missing);
    return missing;
}

KernelOperator::Settings settings_of(const Machines& machines, const Way& way, const Discretisation& of, std::optional<MassForm> mass) {
    KernelOperator::Settings settings{.tolerance = 1e-8, .mass = mass};
    if (way.partner == nullptr) return settings;
    const Problem problem = shared_problem(of, scheme, settings.assembly);
    const Share share = machines.database.best_share(problem, way.first->side(), way.partner->side());
    settings.partner = Partner{.backend = way.partner->backend.get(), .library = way.partner->library.get(), .period = 10};
    if (share.grade != Grade::exact) return settings;
    settings.partner->known = share.known;
    settings.configurations = {{problem.word("result"), share.config.key()}, {"partner." + problem.word("result"), share.partner_config.key()}};
    return settings;
}

struct Measured {
    StepCost cost;
    std::string kernels;
    std::vector<TimedKernel> timed;
};

Measured measure(const Machines& machines, const Way& way, const Discretisation& of, std::optional<MassForm> mass, const StepCostSettings& settings) {
    std::vector<std::optional<PowerSource>> meters;
    meters.reserve(way.metered.size());
    for (const Machine* machine : way.metered) meters.push_back(machine->meter);
    const KernelOperator::Settings of_way = settings_of(machines, way, of, mass);
    KernelOperator on(*way.first->backend, *way.first->library, of, scheme, of_way);
    Measured measured{cost_of_steps(on, of, scheme, meters, settings), {}, {}};
    for (const KernelFound& kernel : on.kernels()) {
        measured.kernels += fmt::format("{}{} {}", measured.kernels.empty() ? "" : "; ", kernel.name, kernel.found);
        // Those that are named are of an exact record of the pair.
        const bool named = !of_way.configurations.empty() && kernel.name.rfind("corner_force", 0) == 0;
        measured.timed.push_back({kernel.name, named ? Grade::exact : kernel.grade});
    }
    const auto& balance = measured.cost.balance;
    tell(fmt::format(
        "  {:<5} {:.3f} ms a step, {:.1f} iterations a solve{}", way.name, 1e3 * measured.cost.step.median, measured.cost.iterations,
        balance ? fmt::format(", {:.1f} % of the zones on the first device, {}", 100 * balance->share, balance->settled ? "settled" : "not settled")
                : ""));
    return measured;
}

void report(benchmark::State& state, const Way& way, const Measured& measured, const Measured& processor) {
    const auto counter = [&](const char* name, double value) { state.counters[way.name + "_" + name] = value; };
    const double seconds = measured.cost.step.median;
    counter("ms/step", 1e3 * seconds);
    counter("ms_low", 1e3 * measured.cost.step.low);
    counter("ms_high", 1e3 * measured.cost.step.high);
    counter("cg_iterations", measured.cost.iterations);
    if (measured.cost.balance) {
        counter("share_%", 100 * measured.cost.balance->share);
        counter("settled", measured.cost.balance->settled ? 1 : 0);
    }
    for (std::size_t i = 0; i < way.metered.size(); ++i)
        if (const auto& power = measured.cost.power[i]) counter(i == 0 ? "watts_processor" : "watts_device", power->watts);
    std::vector<TimedKernel> compared = measured.timed;
    for (const TimedKernel& kernel : processor.timed) compared.push_back(kernel.as_rival());
    counter(ratio_name("speed_up", compared).c_str(), processor.cost.step.median / seconds);
    const auto watts = measured.cost.watts();
    const auto of_processor = processor.cost.watts();
    if (watts) counter("J/step", *watts * seconds);
    if (!watts || !of_processor) return;
    const Gains gains = gains_over({processor.cost.step.median, *of_processor}, {seconds, *watts});
    counter(ratio_name("powerup", compared).c_str(), gains.powerup);
    counter(ratio_name("greenup", compared).c_str(), gains.greenup);
}

void application(benchmark::State& state, int order, int zones, std::optional<MassForm> mass, const StepCostSettings& settings) {
    Machines& machines = Machines::instance();
    tell(fmt::format("sedov 3D Q{}-Q{}, {}^3 zones: mass matrices", order, order - 1, zones));
    HydroProblem problem = hydro_problem("sedov", 3);
    problem.box.zones = {zones, zones, zones};
    const Discretisation of(problem, order, quad_box(problem.box));
    std::map<std::string, Measured> measured;
    std::string label;
    for (auto _ : state) {
        for (const Way& way : ways(machines)) measured.emplace(way.name, measure(machines, way, of, mass, settings));
        state.SetIterationTime(measured.at("both").cost.step.median);
    }
    const Measured& processor = measured.at("cpu");
    for (const Way& way : ways(machines)) {
        const Measured& found = measured.at(way.name);
        report(state, way, found, processor);
        // Roundings of different kernels, passed on by some dozen steps and by solves to 1e-8.
        constexpr double allowed = 1e-6;
        if (!(std::abs(found.cost.norm / processor.cost.norm - 1) <= allowed)) state.SkipWithError((way.name + " computes something else").c_str());
        const std::string missing = missing_meters(way);
        label += fmt::format("{}{}: {}; energy {}", label.empty() ? "" : " | ", way.name, found.kernels,
                             found.cost.watts() ? "measured" : "unavailable" + (missing.empty() ? ": too few readings" : ": " + missing));
    }
    state.counters["zones"] = static_cast<double>(of.zones());
    state.counters["nodes"] = static_cast<double>(of.nodes());
    state.SetLabel(label);
}

void register_all(const Options& options) {
    if (options.zones.size() != options.orders.size())
        throw Error("--zones", "it has another number of values than --orders", "give --zones one number for each order");
    std::optional<MassForm> mass;
    if (options.mass != "best") mass = parse_mass_form(options.mass);
    tell_device(Machines::instance().device.backend->device().fingerprint);
    benchmark::AddCustomContext("ratio*", untuned_note);
    const StepCostSettings settings{options.warm_up, options.steps, options.balancing, 1e-3 * options.power_ms};
    for (std::size_t i = 0; i < options.orders.size(); ++i)
        benchmark::RegisterBenchmark(fmt::format("hydro sedov dimension=3 order={0} zones={1}x{1}x{1}", options.orders[i], options.zones[i]).c_str(),
                                     application, options.orders[i], options.zones[i], mass, settings)
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
}

}  // namespace

Program program() {
    static Options options;
    return {.purpose = "Time steps of Sedov's blast in three dimensions by the processor, by the GPU, and by both.",
            .options = {{"--orders", "Orders of the kinematic space.", &options.orders},
                        {"--zones", "Zones along each axis, one number for each order.", &options.zones},
                        {"--mass", "How conjugate gradients multiply: best, elements or rows.", &options.mass},
                        {"--steps", "Time steps that are measured.", &options.steps},
                        {"--warm_up", "Time steps before them.", &options.warm_up},
                        {"--balancing", "Time steps that two devices may take to find their shares before that.", &options.balancing},
                        {"--power_ms", "Milliseconds under the meters, after the timed steps.", &options.power_ms}},
            .register_all = [] { register_all(options); }};
}

}  // namespace hone::benchmarks
