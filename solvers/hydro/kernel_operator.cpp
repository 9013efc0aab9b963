#include "solvers/hydro/kernel_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/buffers.hpp"
#include "solvers/hydro/energy_mass.hpp"
#include "solvers/hydro/mass_solver.hpp"
#include "solvers/hydro/rank_mass_solver.hpp"
#include "solvers/hydro/zone_kernels.hpp"

namespace hone::inline v0_1::solvers::hydro {

namespace {

constexpr const char* inverse_name = "inverse";  // among configurations: of the energies' mass matrix

}  // namespace

std::vector<Problem> problems_to_tune(const Discretisation& of, TimeScheme scheme, Assembly assembly, std::optional<MassForm> mass) {
    std::vector<Problem> problems = zone_problems(of, scheme, assembly);
    problems.push_back(product_problem(of.velocity_mass, mass.value_or(usual_mass_form(of.velocity_mass))));
    return problems;
}

namespace {

// What a checkpoint or the library says of the problems of a whole mesh, for those of a part: other
// kernels would round differently.
std::map<std::string, std::string> configurations_of_whole(const ZonePart& part, KernelLibrary& library, TimeScheme scheme, Assembly assembly,
                                                           std::map<std::string, std::string> known) {
    const Discretisation& of = part.here();
    const auto whole = [&](const Problem& problem) {
        return built_in_families().parse_problem(fmt::format("{} {}={}", problem.class_key(), problem.extents().front(), part.whole_zones()));
    };
    const auto look_up = [&](const std::string& name, const Problem& problem) {
        if (known.count(name) == 0) known[name] = library.kernel(whole(problem))->match().config.key();
    };
    for (const Problem& problem : zone_problems(of, scheme, assembly))
        look_up(problem.family() == "corner_force" ? problem.word("result") : problem.family(), problem);
    look_up(inverse_name, BlockInverse::problem(static_cast<int>(of.energies_of_zone()), static_cast<std::int64_t>(of.zones())));
    return known;
}

}  // namespace

struct KernelOperator::Machine {
    Backend& backend;
    const Discretisation& of;
    bool rk4;
    Settings settings;
    ZoneKernels between;
    ZoneForces zones;
    MassForm mass;
    std::optional<MassSolver> alone;  // or
    std::optional<RankMassSolver> shared;
    BlockInverse energies;
    std::array<std::array<DeviceArray, 3>, slots> states;  // [slot][part]
    DeviceArray least, node_force;
    HostBuffer least_seen;
    bool stress_kept = false;
    bool estimates_anew = true;  // the next steps found are the first since restart_estimate
    std::int64_t iterations = 0, solves = 0;

    Machine(Backend& on, KernelLibrary& library, const Discretisation& discretisation, TimeScheme scheme, Settings wanted)
        : backend(on),
          of(discretisation),
          rk4(scheme == TimeScheme::rk4),
          settings(on_ranks(library, scheme, std::move(wanted))),
          between(on, of),
          zones(on, library, of, {scheme, settings.assembly, settings.cfl, settings.configurations, settings.partner}),
          mass(settings.mass.value_or(usual_mass_form(of.velocity_mass))),
          energies(on, library, static_cast<int>(of.energies_of_zone()), of.energy_mass, configuration(inverse_name)),
          least(words(ZoneKernels::least_words)),
          node_force(words(of.first.velocities.size())),
          least_seen(on, plain_rows(Precision::f64, ZoneKernels::least_words, 1), HostMemory::pinned) {
        const std::string product = configuration(mass == MassForm::rows ? "csr_spmv" : "fe_mass");
        if (settings.part == nullptr)
            alone.emplace(on, library, of.velocity_mass, mass, product);
        else
            shared.emplace(*settings.part, on, library, mass, product);
        for (auto& state : states) state = {words(of.first.positions.size()), words(of.first.velocities.size()), words(of.first.energies.size())};
    }

    static Settings on_ranks(KernelLibrary& library, TimeScheme scheme, Settings wanted) {
        if (wanted.part == nullptr) return wanted;
        if (wanted.partner) throw Error("corner forces shared with a second device", "there are several ranks", "give each device a rank of its own");
        wanted.configurations = configurations_of_whole(*wanted.part, library, scheme, wanted.assembly, std::move(wanted.configurations));
        return wanted;
    }

    MassSolve solve(const void* b, void* x, const MassSettings& how) { return shared ? shared->solve(b, x, how) : alone->solve(b, x, how); }
    KernelFound product() const {
        if (shared) return {shared->family(), shared->kernel(), shared->grade()};
        return {alone->family(), alone->kernel(), alone->grade()};
    }

    DeviceArray words(std::size_t count) const { return {backend, static_cast<std::int64_t>(count * sizeof(double))}; }
    std::string configuration(const std::string& of_what) const {
        const auto found = settings.configurations.find(of_what);
        return found == settings.configurations.end() ? "" : found->second;
    }
    DeviceArray& field(Field which) { return states[static_cast<std::size_t>(which.slot)][static_cast<std::size_t>(which.part)]; }

    void find_stress(int slot) {
        if (stress_kept) return;
        stress_kept = true;
        between.gather(field({slot, Part::positions}).data(), zones.positions());
        between.gather(field({slot, Part::velocities}).data(), zones.velocities());
        const DeviceArray& e = field({slot, Part::energies});
        backend.copy(zones.energies(), e.data(), e.bytes());
        zones.find_forces();
        between.shorten(zones.steps(), least.data(), estimates_anew);
        estimates_anew = false;
    }
};

KernelOperator::KernelOperator(Backend& backend, KernelLibrary& library, const Discretisation& of, TimeScheme scheme, Settings settings)
    : machine_(std::make_unique<Machine>(backend, library, of, scheme, std::move(settings))) {
    for (int slot = 0; slot < slots; ++slot) set(slot, of.first);
}

KernelOperator::~KernelOperator() = default;

void KernelOperator::set(int slot, const State& state) {
    const std::array parts{&state.positions, &state.velocities, &state.energies};
    for (std::size_t part = 0; part < parts.size(); ++part) {
        DeviceArray& to = machine_->states[static_cast<std::size_t>(slot)][part];
        machine_->backend.copy(to.data(), parts[part]->data(), to.bytes());
    }
    machine_->backend.synchronise();
}

State KernelOperator::get(int slot) {
    State state = machine_->of.first;
    const std::array parts{&state.positions, &state.velocities, &state.energies};
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const DeviceArray& from = machine_->states[static_cast<std::size_t>(slot)][part];
        machine_->backend.copy(parts[part]->data(), from.data(), from.bytes());
    }
    machine_->backend.synchronise();
    return state;
}

void KernelOperator::combine(Field target, Field base, double factor, Field rate) {
    const DeviceArray& to = machine_->field(target);
    machine_->between.combine(to.data(), machine_->field(base).data(), machine_->field(rate).data(), factor,
                              to.bytes() / static_cast<std::int64_t>(sizeof(double)));
}

void KernelOperator::accelerate(int slot, int rate) {
    Machine& m = *machine_;
    m.find_stress(slot);
    m.between.subtract(m.zones.force(), m.node_force.data());
    const bool on_host = traits_of(m.backend.device().limits.target).host_memory;
    const MassSolve solve = m.solve(m.node_force.data(), m.field({rate, Part::velocities}).data(),
                                    MassSettings{.tolerance = m.settings.tolerance,
                                                 .most_iterations = 1000,
                                                 .check_every = on_host ? 1 : 2,
                                                 .updates = m.settings.updates,
                                                 .recorded = m.settings.recorded});
    // Where zones are tangled there may be no numbers at all: the step is repeated then.
    if (solve.ending == MassEnding::too_many_iterations)
        throw Error("conjugate gradients on the mass matrix", "they do not converge", "ask for a larger --tolerance");
    m.iterations += *std::max_element(solve.iterations.begin(), solve.iterations.end());
    ++m.solves;
}

void KernelOperator::heat(int slot, int moving, int rate) {
    Machine& m = *machine_;
    if (!m.rk4)
        m.between.gather(m.field({moving, Part::velocities}).data(), m.zones.moving());
    else if (moving != slot)
        throw Error("operator for rk4", "work is wanted of other velocities than the state's", "make it for rk2-average");
    m.zones.find_work();
    if (m.of.problem.heated) m.between.warm(m.zones.positions(), m.zones.work());
    m.energies.apply(m.zones.work(), m.field({rate, Part::energies}).data());
}

void KernelOperator::forget_stress() {
    machine_->stress_kept = false;
}

double KernelOperator::estimate(int slot) {
    Machine& m = *machine_;
    m.find_stress(slot);
    if (m.estimates_anew) return std::numeric_limits<double>::infinity();
    m.backend.copy(m.least_seen.data(), m.least.data(), m.least.bytes());
    m.backend.synchronise();
    const auto least = m.least_seen.row<double>(0);
    const double longest = *std::min_element(least.begin(), least.end());
    return m.settings.part == nullptr ? longest : all_reduce(m.settings.part->ranks(), Reduction::smallest, longest);
}

void KernelOperator::restart_estimate() {
    machine_->estimates_anew = true;
    machine_->zones.next_step();
}

double KernelOperator::seconds_of_work() {
    Machine& m = *machine_;
    if (!m.shared) throw Error("work of a part of a mesh", "there is one rank", "ask on several");
    const auto products = static_cast<int>(m.iterations / std::max<std::int64_t>(m.solves, 1));
    return m.backend.seconds({}, [&] {
        m.zones.find_forces();
        m.shared->multiply(products);
    });
}

void KernelOperator::renew_exchanges() {
    if (machine_->shared) machine_->shared->renew_exchanges();
}

std::vector<KernelFound> KernelOperator::kernels() const {
    std::vector<KernelFound> result = machine_->zones.kernels();
    result.push_back(machine_->product());
    return result;
}

std::map<std::string, std::string> KernelOperator::configurations() const {
    return machine_->zones.configurations();
}

std::optional<Balance> KernelOperator::balance() const {
    return machine_->zones.balance();
}

std::optional<Record> KernelOperator::share_record() const {
    return machine_->zones.share_record();
}

std::int64_t KernelOperator::iterations() const {
    return machine_->iterations;
}

std::int64_t KernelOperator::solves() const {
    return machine_->solves;
}

Problem shared_problem(const ZonePart& part, TimeScheme scheme, Assembly assembly) {
    const Problem here = shared_problem(part.here(), scheme, assembly);
    return built_in_families().parse_problem(fmt::format("{} {}={}", here.class_key(), here.extents().front(), part.whole_zones()));
}

void begin_balanced(const Database& database, const Problem& problem, const DeviceSide& first, const DeviceSide& second,
                    KernelOperator::Settings& settings) {
    const Share share = database.best_share(problem, first, second);
    if (share.grade != Grade::exact) return;
    const std::string& result = problem.word("result");
    settings.configurations.emplace(result, share.config.key());
    settings.configurations.emplace("partner." + result, share.partner_config.key());
    settings.partner->known = share.known;
}

}  // namespace hone::inline v0_1::solvers::hydro
