#include "examples/hydro/kernel_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "examples/hydro/energy_mass.hpp"
#include "examples/hydro/mass_solver.hpp"
#include "examples/hydro/zone_kernels.hpp"
#include "generator/error.hpp"

namespace hone::examples::hydro {
namespace {

// J0^-1 at the points as the kernels read it: [zone][axis of the unit cube][component][point].
std::vector<double> first_inverses(const Discretisation& of) {
    const std::size_t points = of.points_of_zone();
    const auto d = static_cast<std::size_t>(of.dimension);
    std::vector<double> result(of.first_jacobian.size());
    for (std::size_t i = 0; i < of.mass.size(); ++i) {
        const double* const j = &of.first_jacobian[i * d * d];
        std::array<double, 9> inverse{};
        if (d == 2) {
            const double size = j[0] * j[3] - j[1] * j[2];
            inverse = {j[3] / size, -j[1] / size, -j[2] / size, j[0] / size};
        } else {
            const auto minor = [&](std::size_t row, std::size_t column) {
                const std::size_t r = (row + 1) % 3;
                const std::size_t s = (row + 2) % 3;
                const std::size_t c = (column + 1) % 3;
                const std::size_t e = (column + 2) % 3;
                return j[r * 3 + c] * j[s * 3 + e] - j[r * 3 + e] * j[s * 3 + c];
            };
            const double size = j[0] * minor(0, 0) + j[1] * minor(0, 1) + j[2] * minor(0, 2);
            for (std::size_t k = 0; k < 9; ++k) inverse[k] = minor(k % 3, k / 3) / size;
        }
        for (std::size_t k = 0; k < d * d; ++k) result[(i / points * d * d + k) * points + i % points] = inverse[k];
    }
    return result;
}

Problem corner_problem(const Discretisation& of, const std::string& result) {
    return built_in_families().parse_problem(
        fmt::format("corner_force result={} dimension={} order={} precision=f64 zones={}", result, of.dimension, of.order, of.zones()));
}

std::vector<std::string> results_of(TimeScheme scheme) {
    if (scheme == TimeScheme::rk4) return {"products"};
    return {"points", "energy"};
}

}  // namespace

std::vector<Problem> problems_to_tune(const Discretisation& of, TimeScheme scheme) {
    std::vector<Problem> problems;
    for (const std::string& result : results_of(scheme)) problems.push_back(corner_problem(of, result));
    problems.push_back(product_problem(of.velocity_mass));
    return problems;
}

struct KernelOperator::Machine {
    Backend& backend;
    const Discretisation& of;
    bool rk4;
    Settings settings;
    ZoneKernels between;
    MassSolver velocities;
    BlockInverse energies;
    std::array<std::array<DeviceArray, 3>, slots> states;  // [slot][part]
    DeviceArray first_inverse, mass, gamma, numbers;
    DeviceArray zone_x, zone_v, zone_w, zone_e, stress, force, work, steps, least, node_force;
    std::map<std::string, BoundKernel> corner;  // by result
    bool stress_kept = false;
    std::int64_t iterations = 0, solves = 0;

    Machine(Backend& on, KernelLibrary& library, const Discretisation& discretisation, TimeScheme scheme, Settings wanted)
        : backend(on),
          of(discretisation),
          rk4(scheme == TimeScheme::rk4),
          settings(std::move(wanted)),
          between(on, of),
          velocities(on, library, of.velocity_mass, configuration("csr_spmv")),
          energies(on, library, static_cast<int>(of.energies_of_zone()), of.energy_mass),
          first_inverse(uploaded(on, first_inverses(of))),
          mass(uploaded(on, of.mass)),
          gamma(uploaded(on, of.gamma)),
          numbers(
              uploaded(on, std::vector<double>{of.first_length, settings.cfl, of.problem.viscosity ? 2.0 : 0.0, of.problem.viscosity ? 0.5 : 0.0})),
          zone_x(words(zone_words())),
          zone_v(words(zone_words())),
          zone_w(words(rk4 ? 0 : zone_words())),
          zone_e(words(of.first.energies.size())),
          stress(words(rk4 ? 0 : of.first_jacobian.size())),
          force(words(zone_words())),
          work(words(of.first.energies.size())),
          steps(words(of.zones())),
          least(words(ZoneKernels::least_words)),
          node_force(words(of.first.velocities.size())) {
        for (auto& state : states) state = {words(of.first.positions.size()), words(of.first.velocities.size()), words(of.first.energies.size())};
        for (const std::string& result : results_of(scheme)) bind(library, result);
    }

    std::size_t zone_words() const { return of.zone_nodes.size() * static_cast<std::size_t>(of.dimension); }
    DeviceArray words(std::size_t count) const { return {backend, static_cast<std::int64_t>(std::max<std::size_t>(count, 1) * sizeof(double))}; }
    std::string configuration(const std::string& of_what) const {
        const auto found = settings.configurations.find(of_what);
        return found == settings.configurations.end() ? "" : found->second;
    }
    DeviceArray& field(Field which) { return states[static_cast<std::size_t>(which.slot)][static_cast<std::size_t>(which.part)]; }

    void bind(KernelLibrary& library, const std::string& result) {
        const Problem problem = corner_problem(of, result);
        const std::string wanted = configuration(result);
        const auto kernel = wanted.empty()
                                ? library.kernel(problem)
                                : library.kernel(problem, built_in_families().of(problem).space(problem, backend.device().limits).parse(wanted));
        std::vector<void*> arrays{zone_x.data(), zone_v.data(), zone_e.data(), first_inverse.data(), mass.data(), gamma.data(), numbers.data()};
        if (result == "products") arrays.insert(arrays.end(), {zone_v.data(), force.data(), work.data(), steps.data()});
        if (result == "points") arrays.insert(arrays.end(), {stress.data(), force.data(), steps.data()});
        if (result == "energy") arrays = {zone_w.data(), stress.data(), work.data()};
        corner.emplace(result, BoundKernel(kernel, arrays));
    }

    void find_stress(int slot) {
        if (stress_kept) return;
        stress_kept = true;
        between.gather(field({slot, Part::positions}).data(), zone_x.data());
        between.gather(field({slot, Part::velocities}).data(), zone_v.data());
        backend.copy(zone_e.data(), field({slot, Part::energies}).data(), zone_e.bytes());
        corner.at(rk4 ? "products" : "points").launch();
        between.shorten(steps.data(), least.data());
    }
};

KernelOperator::KernelOperator(Backend& backend, KernelLibrary& library, const Discretisation& of, TimeScheme scheme, Settings settings)
    : machine_(std::make_unique<Machine>(backend, library, of, scheme, std::move(settings))) {
    for (int slot = 0; slot < slots; ++slot) set(slot, of.first);
    restart_estimate();
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
    m.between.subtract(m.force.data(), m.node_force.data());
    const MassSolve solve = m.velocities.solve(m.node_force.data(), m.field({rate, Part::velocities}).data(),
                                               MassSettings{.tolerance = m.settings.tolerance, .most_iterations = 1000});
    // Where zones are tangled there may be no numbers at all: the step is repeated then.
    if (solve.ending == MassEnding::too_many_iterations)
        throw Error("conjugate gradients on the mass matrix", "they do not converge", "ask for a larger --tolerance");
    m.iterations += *std::max_element(solve.iterations.begin(), solve.iterations.end());
    ++m.solves;
}

void KernelOperator::heat(int slot, int moving, int rate) {
    Machine& m = *machine_;
    if (!m.rk4) {
        m.between.gather(m.field({moving, Part::velocities}).data(), m.zone_w.data());
        m.corner.at("energy").launch();
    } else if (moving != slot) {
        throw Error("operator for rk4", "work is wanted of other velocities than the state's", "make it for rk2-average");
    }
    if (m.of.problem.heated) m.between.warm(m.zone_x.data(), m.work.data());
    m.energies.apply(m.work.data(), m.field({rate, Part::energies}).data());
}

void KernelOperator::forget_stress() {
    machine_->stress_kept = false;
}

double KernelOperator::estimate(int slot) {
    machine_->find_stress(slot);
    std::vector<double> least(ZoneKernels::least_words);
    machine_->backend.copy(least.data(), machine_->least.data(), machine_->least.bytes());
    machine_->backend.synchronise();
    return *std::min_element(least.begin(), least.end());
}

void KernelOperator::restart_estimate() {
    const std::vector<double> none(ZoneKernels::least_words, std::numeric_limits<double>::infinity());
    machine_->backend.copy(machine_->least.data(), none.data(), machine_->least.bytes());
    machine_->backend.synchronise();
}

std::vector<KernelFound> KernelOperator::kernels() const {
    std::vector<KernelFound> result;
    for (const auto& [name, kernel] : machine_->corner) {
        const Match& match = kernel.kernel().match();
        result.push_back({"corner_force " + name, fmt::format("{}: {}", to_string(match.grade), match.config.key())});
    }
    result.push_back({"csr_spmv", machine_->velocities.kernel()});
    return result;
}

std::map<std::string, std::string> KernelOperator::configurations() const {
    std::map<std::string, std::string> result;
    for (const auto& [name, kernel] : machine_->corner) result[name] = kernel.kernel().match().config.key();
    return result;
}

std::int64_t KernelOperator::iterations() const {
    return machine_->iterations;
}

std::int64_t KernelOperator::solves() const {
    return machine_->solves;
}

}  // namespace hone::examples::hydro
