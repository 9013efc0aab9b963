#include "solvers/hydro/zone_forces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/buffers.hpp"
#include "runtime/hybrid_team.hpp"
#include "tuner/sharing/balance.hpp"
#include "tuner/sharing/load_balancer.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

// Arrays of a side.
enum Array : std::size_t {
    positions_array,
    velocities_array,
    energies_array,
    moving_array,
    inverse_array,
    mass_array,
    gamma_array,
    numbers_array,
    stress_array,
    corner_array,
    force_array,
    work_array,
    steps_array,
    arrays
};

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

// A launch: its name among configurations, its problem, its arrays; and of these, by place, what
// goes to a second device and comes from it.
struct ZoneLaunch {
    std::string name;
    Problem problem;
    std::vector<Array> arrays;
    TeamFlow flow;
};

Problem corner_problem(const Discretisation& of, const std::string& result) {
    return built_in_families().parse_problem(
        fmt::format("corner_force result={} dimension={} order={} precision=f64 zones={}", result, of.dimension, of.order, of.zones()));
}

// F is stored column by column: F^T w is the product of a transposed matrix.
Problem work_problem(const Discretisation& of) {
    constexpr std::size_t most_rows = 512;
    const std::size_t rows = of.nodes_of_zone() * static_cast<std::size_t>(of.dimension);
    if (rows > most_rows)
        throw Error("full assembly",
                    fmt::format("a matrix of corner forces of Q{}-Q{} in {}D has {} rows, batched_gemv takes {}", of.order, of.order - 1,
                                of.dimension, rows, most_rows),
                    "use partial assembly");
    return built_in_families().parse_problem(
        fmt::format("batched_gemv form=t m={} n={} precision=f64 batch={}", rows, of.energies_of_zone(), of.zones()));
}

std::vector<ZoneLaunch> launches_of(const Discretisation& of, TimeScheme scheme, Assembly assembly) {
    const std::vector<Array> state{positions_array, velocities_array, energies_array, inverse_array, mass_array, gamma_array, numbers_array};
    const auto with = [&](std::vector<Array> more) {
        more.insert(more.begin(), state.begin(), state.end());
        return more;
    };
    const bool rk4 = scheme == TimeScheme::rk4;
    // Zones may have changed devices since forces were found, so velocities that did not change are
    // sent once more.
    if (assembly == Assembly::full)
        return {{"corner", corner_problem(of, "corner"), with({corner_array, force_array, steps_array}), {{0, 1, 2}, {8, 9}}},
                {"batched_gemv", work_problem(of), {corner_array, moving_array, work_array}, {{1}, {2}}}};
    if (rk4)
        return {
            {"products", corner_problem(of, "products"), with({velocities_array, force_array, work_array, steps_array}), {{0, 1, 2}, {8, 9, 10}}}};
    return {{"points", corner_problem(of, "points"), with({stress_array, force_array, steps_array}), {{0, 1, 2}, {8, 9}}},
            {"energy", corner_problem(of, "energy"), {moving_array, stress_array, work_array}, {{0}, {2}}}};
}

// A device with arrays for all zones. Those of a processor beside a GPU are page-locked, so that
// the GPU copies to and from them by itself.
class ZoneSide {
  public:
    ZoneSide(Backend& on, KernelLibrary& from, Backend* gpu) : backend_(on), library_(from), gpu_(gpu) {}

    void allocate(Array which, std::size_t words) {
        const auto count = static_cast<std::int64_t>(words);
        if (gpu_ == nullptr) {
            owned_.emplace_back(backend_, count * static_cast<std::int64_t>(sizeof(double)));
            data_.at(which) = owned_.back().data();
        } else {
            pinned_.emplace_back(*gpu_, plain_rows(Precision::f64, count, 1), HostMemory::pinned);
            data_.at(which) = pinned_.back().data();
        }
    }
    void upload(Array which, const std::vector<double>& words) {
        allocate(which, words.size());
        backend_.copy(data_.at(which), words.data(), static_cast<std::int64_t>(words.size() * sizeof(double)));
        backend_.synchronise();
    }
    void alias(Array which, Array same) { data_.at(which) = data_.at(same); }
    void* operator[](Array which) const { return data_.at(which); }

    TeamPart part(const ZoneLaunch& launch, const std::string& configuration) {
        TeamPart part;
        part.kernel =
            configuration.empty()
                ? library_.kernel(launch.problem)
                : library_.kernel(launch.problem,
                                  built_in_families().of(launch.problem).space(launch.problem, backend_.device().limits).parse(configuration));
        for (const Array which : launch.arrays) part.arrays.push_back(data_.at(which));
        kernels_.emplace_back(launch.name, part.kernel);
        return part;
    }

    Backend& backend() const { return backend_; }
    const std::vector<std::pair<std::string, std::shared_ptr<const Kernel>>>& kernels() const { return kernels_; }

  private:
    Backend& backend_;
    KernelLibrary& library_;
    Backend* gpu_;
    std::vector<DeviceArray> owned_;
    std::vector<HostBuffer> pinned_;
    std::array<void*, arrays> data_{};
    std::vector<std::pair<std::string, std::shared_ptr<const Kernel>>> kernels_;
};

std::vector<double> median_of(const std::vector<std::array<double, 3>>& samples) {
    std::vector<double> result;
    for (std::size_t i = 0; i < 3; ++i) {
        std::vector<double> values(samples.size());
        std::transform(samples.begin(), samples.end(), values.begin(), [i](const auto& sample) { return sample.at(i); });
        result.push_back(summarise(values).median);
    }
    return result;
}

// Times of shared time steps, period by period, and what a balancer makes of them.
class ShareSearch {
  public:
    explicit ShareSearch(const Partner& partner, std::int64_t zones) : period_(partner.period), balancer_(make(partner, zones)) {
        if (partner.share) fixed_ = std::llround(*partner.share * static_cast<double>(zones));
    }

    std::int64_t zones() const { return fixed_.value_or(balancer_.units()); }
    /// A time step took so long, as launches of the problem that counts; true when a period has
    /// ended and `zones` may be others.
    bool tell(const HybridStep& sum, int launches) {
        if (fixed_ || launches < 2) return false;  // the first estimate alone
        if (std::exchange(cold_, false)) return false;
        using Clock = std::chrono::steady_clock;
        if (samples_.empty()) begin_ = Clock::now();
        samples_.push_back({sum.first / launches, sum.second / launches, sum.step / launches});
        constexpr std::size_t fewest = 3;
        constexpr double longest_period = 2;  // a slow device alone does not hold everything up
        const bool long_enough = samples_.size() >= static_cast<std::size_t>(period_) ||
                                 (samples_.size() >= fewest && std::chrono::duration<double>(Clock::now() - begin_).count() > longest_period);
        if (!long_enough) return false;
        const std::vector<double> medians = median_of(samples_);
        std::vector<double> steps;
        for (const auto& sample : samples_) steps.push_back(sample[2]);
        const std::int64_t before = balancer_.units();
        balancer_.tell({medians[0], medians[1], medians[2]});
        if (balancer_.units() == before) step_ = summarise(steps);
        cold_ = balancer_.units() != before;
        samples_.clear();
        ++periods_;
        return true;
    }

    const LoadBalancer& balancer() const { return balancer_; }
    bool settled() const { return !fixed_ && balancer_.settled() && step_.samples > 0; }
    int periods() const { return periods_; }
    const Statistics& step() const { return step_; }

  private:
    static LoadBalancer make(const Partner& partner, std::int64_t zones) {
        const LoadBalancerSettings settings{.units = zones};
        return partner.known ? LoadBalancer(settings, *partner.known) : LoadBalancer(settings);
    }

    int period_;
    LoadBalancer balancer_;
    std::optional<std::int64_t> fixed_;
    std::chrono::steady_clock::time_point begin_;
    std::vector<std::array<double, 3>> samples_;
    bool cold_ = true;  // the next time step meets memory that its device has not seen yet
    int periods_ = 0;
    Statistics step_;  // of the last period with the share that is best
};

Backend* gpu_beside(const Backend& of_side, Backend& other) {
    const auto target = [](const Backend& backend) { return backend.device().limits.target; };
    return traits_of(target(of_side)).host_memory && !traits_of(target(other)).host_memory ? &other : nullptr;
}

}  // namespace

Assembly parse_assembly(const std::string& word) {
    if (word == "partial") return Assembly::partial;
    if (word == "full") return Assembly::full;
    throw Error("assembly " + word, "there is no such assembly", "use partial or full");
}

Problem shared_problem(const Discretisation& of, TimeScheme scheme, Assembly assembly) {
    return launches_of(of, scheme, assembly).front().problem;
}

std::vector<Problem> zone_problems(const Discretisation& of, TimeScheme scheme, Assembly assembly) {
    std::vector<Problem> problems;
    for (const ZoneLaunch& launch : launches_of(of, scheme, assembly)) problems.push_back(launch.problem);
    return problems;
}

struct ZoneForces::State {
    Settings settings;
    std::vector<ZoneLaunch> launches;
    ZoneSide first;
    std::optional<ZoneSide> second;
    std::vector<BoundKernel> alone;  // on one device
    std::unique_ptr<HybridTeam> team;
    std::optional<ShareSearch> search;
    int force_launches = 0;  // since the last time step began

    State(Backend& backend, KernelLibrary& library, const Discretisation& of, Settings wanted)
        : settings(std::move(wanted)), launches(launches_of(of, settings.scheme, settings.assembly)), first(backend, library, nullptr) {
        fill(first, of);
        if (settings.partner) {
            Partner& partner = *settings.partner;
            second.emplace(*partner.backend, *partner.library, gpu_beside(*partner.backend, backend));
            fill(*second, of);
            const auto zones = static_cast<std::int64_t>(of.zones());
            search.emplace(partner, zones);
            team = std::make_unique<HybridTeam>(backend, *partner.backend, zones, search->zones());
        }
        for (const ZoneLaunch& launch : launches) {
            const TeamPart part = first.part(launch, configuration(launch.name));
            if (team)
                team->add(built_in_families().of(launch.problem), part, second->part(launch, configuration("partner." + launch.name)), launch.flow);
            else
                alone.emplace_back(part.kernel, part.arrays);
        }
    }

    std::string configuration(const std::string& name) const {
        const auto found = settings.configurations.find(name);
        return found == settings.configurations.end() ? "" : found->second;
    }

    void fill(ZoneSide& side, const Discretisation& of) const {
        const std::size_t vectors = of.zone_nodes.size() * static_cast<std::size_t>(of.dimension);
        const std::size_t energies = of.first.energies.size();
        side.upload(inverse_array, first_inverses(of));
        side.upload(mass_array, of.mass);
        side.upload(gamma_array, of.gamma);
        side.upload(numbers_array, {of.first_length, settings.cfl, of.problem.viscosity ? 2.0 : 0.0, of.problem.viscosity ? 0.5 : 0.0});
        for (const Array which : {positions_array, velocities_array, force_array}) side.allocate(which, vectors);
        for (const Array which : {energies_array, work_array}) side.allocate(which, energies);
        side.allocate(steps_array, of.zones());
        if (settings.scheme == TimeScheme::rk4)
            side.alias(moving_array, velocities_array);
        else
            side.allocate(moving_array, vectors);
        if (settings.assembly == Assembly::full)
            side.allocate(corner_array, vectors * of.energies_of_zone());
        else if (settings.scheme == TimeScheme::rk2_average)
            side.allocate(stress_array, of.first_jacobian.size());
    }

    void launch(std::size_t number) {
        if (team)
            team->launch(number);
        else
            alone[number].launch();
    }
};

ZoneForces::ZoneForces(Backend& backend, KernelLibrary& library, const Discretisation& of, Settings settings)
    : state_(std::make_unique<State>(backend, library, of, std::move(settings))) {
}

ZoneForces::~ZoneForces() = default;

void* ZoneForces::positions() const {
    return state_->first[positions_array];
}
void* ZoneForces::velocities() const {
    return state_->first[velocities_array];
}
void* ZoneForces::energies() const {
    return state_->first[energies_array];
}
void* ZoneForces::moving() const {
    return state_->first[moving_array];
}
const void* ZoneForces::force() const {
    return state_->first[force_array];
}
void* ZoneForces::work() const {
    return state_->first[work_array];
}
const void* ZoneForces::steps() const {
    return state_->first[steps_array];
}

void ZoneForces::find_forces() {
    state_->launch(0);
    ++state_->force_launches;
}

void ZoneForces::find_work() {
    if (state_->launches.size() > 1) state_->launch(1);
}

void ZoneForces::next_step() {
    State& s = *state_;
    const int launches = std::exchange(s.force_launches, 0);
    if (!s.team || launches == 0) return;
    if (s.search->tell(s.team->times(), launches)) s.team->set_units(s.search->zones());
}

std::vector<KernelFound> ZoneForces::kernels() const {
    std::vector<KernelFound> result;
    const auto add = [&](const ZoneSide& side, const std::string& suffix) {
        for (const auto& [name, kernel] : side.kernels()) {
            const std::string title = name == "batched_gemv" ? name : "corner_force " + name;
            result.push_back(
                {title + suffix, fmt::format("{}: {}", to_string(kernel->match().grade), kernel->match().config.key()), kernel->match().grade});
        }
    };
    add(state_->first, "");
    if (state_->second) add(*state_->second, ", partner");
    return result;
}

std::map<std::string, std::string> ZoneForces::configurations() const {
    std::map<std::string, std::string> result;
    for (const auto& [name, kernel] : state_->first.kernels()) result[name] = kernel->match().config.key();
    if (state_->second)
        for (const auto& [name, kernel] : state_->second->kernels()) result["partner." + name] = kernel->match().config.key();
    return result;
}

std::optional<Balance> ZoneForces::balance() const {
    const State& s = *state_;
    if (!s.team) return std::nullopt;
    return Balance{static_cast<double>(s.team->units()) / static_cast<double>(s.team->range()), s.search->settled(), s.search->periods()};
}

std::optional<Record> ZoneForces::share_record() const {
    const State& s = *state_;
    if (!s.team || !s.search->settled()) return std::nullopt;
    const LoadBalancer& found = s.search->balancer();
    Hybrid hybrid;
    hybrid.share = found.share();
    hybrid.own_cost = found.cost(0);
    hybrid.partner_cost = found.cost(1);
    hybrid.own_seconds = found.predicted(s.team->range());
    hybrid.partner_seconds = found.predicted(0);
    // Nothing is searched for: the steps there are for verification on random zones, at this share.
    const BalanceSettings settings{.period = 1, .most_periods = 0, .known = hybrid};
    const auto side = [](const ZoneSide& of) { return HybridSide{&of.backend(), of.kernels().front().second}; };
    Record record = hone::balance(built_in_families().of(s.launches.front().problem), side(s.first), side(*s.second), settings).record;
    record.step = s.search->step();
    record.evaluations = s.search->periods();
    record.found = "online";
    return record;
}

}  // namespace hone::inline v0_1::solvers::hydro
