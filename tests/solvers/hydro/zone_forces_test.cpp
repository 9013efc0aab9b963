#include "solvers/hydro/zone_forces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "solvers/hydro/kernel_operator.hpp"
#include "tests/support/backend_test.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::hydro::zone_forces_test {
namespace {

// The parameter is the first device. Its partner is the processor: it works on the test's own
// thread, whose number of OpenMP's threads is set here, while a first processor has a thread of its
// own with the usual number. So two processors are ones of different numbers of threads.
class HydroZoneForces : public test::BackendTest {
  protected:
    void SetUp() override {
        BackendTest::SetUp();
        if (IsSkipped()) return;
        omp_set_num_threads(usual_threads_ == 1 ? 2 : 1);
        two_ = make_backend("cpu", cache_);
        library_one_ = std::make_unique<KernelLibrary>(backend(), none_, built_in_families());
        library_two_ = std::make_unique<KernelLibrary>(*two_, none_, built_in_families());
    }
    void TearDown() override { omp_set_num_threads(usual_threads_); }

    static Discretisation box(const char* problem, int dimension, int order, const std::array<int, 3>& zones) {
        HydroProblem of = hydro_problem(problem, dimension);
        of.box.zones = zones;
        return {of, order, quad_box(of.box)};
    }
    Partner partner(std::optional<double> share = std::nullopt) {
        return {.backend = two_.get(), .library = library_two_.get(), .share = share, .period = 3};
    }
    KernelLibrary& library() { return *library_one_; }
    Backend& other() { return *two_; }
    KernelLibrary& other_library() { return *library_two_; }
    const Database& no_records() const { return none_; }

  private:
    int usual_threads_ = omp_get_max_threads();
    DiskCache cache_{test::kernel_cache_folder()};
    Database none_{built_in_families()};
    std::unique_ptr<Backend> two_;
    std::unique_ptr<KernelLibrary> library_one_, library_two_;
};
class SlowHydroZoneForces : public HydroZoneForces {};
INSTANTIATE_TEST_SUITE_P(Cpu, HydroZoneForces, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, HydroZoneForces, testing::Values("cuda"));
INSTANTIATE_TEST_SUITE_P(Cpu, SlowHydroZoneForces, testing::Values("cpu"));

// Every way through a step.
struct Way {
    TimeScheme scheme;
    Assembly assembly;
};
const std::vector<Way> ways{{TimeScheme::rk2_average, Assembly::partial},
                            {TimeScheme::rk2_average, Assembly::full},
                            {TimeScheme::rk4, Assembly::partial},
                            {TimeScheme::rk4, Assembly::full}};

struct Found {
    std::vector<double> force, work, steps;
};

// Of gas that is bent, moves, and is warm, differently in every zone.
Found found_by(Backend& on, KernelLibrary& library, const Discretisation& of, const ZoneForces::Settings& settings) {
    ZoneForces zones(on, library, of, settings);
    const std::size_t own = of.nodes_of_zone();
    const auto d = static_cast<std::size_t>(of.dimension);
    std::vector<double> x(of.zone_nodes.size() * d), v(x.size()), w(x.size()), e(of.first.energies.size());
    for (std::size_t i = 0; i < of.zone_nodes.size(); ++i) {
        std::array<double, 3> at{};
        for (std::size_t c = 0; c < d; ++c) at[c] = of.first.positions[c * of.nodes() + static_cast<std::size_t>(of.zone_nodes[i])];
        const double along = at[0] + 2 * at[1] + 3 * at[2];
        for (std::size_t c = 0; c < d; ++c) {
            const std::size_t to = (i / own * d + c) * own + i % own;
            const auto number = static_cast<double>(c);
            x[to] = at[c] + 0.02 * std::sin(along + number);
            v[to] = std::cos(1.3 * along + number) - 0.4 * at[c];
            w[to] = settings.scheme == TimeScheme::rk4 ? v[to] : std::sin(0.7 * along - number);
        }
    }
    for (std::size_t i = 0; i < e.size(); ++i) e[i] = 1.5 + std::sin(static_cast<double>(i));
    const auto bytes = [](const std::vector<double>& words) { return static_cast<std::int64_t>(words.size() * sizeof(double)); };
    on.copy(zones.positions(), x.data(), bytes(x));
    on.copy(zones.velocities(), v.data(), bytes(v));
    on.copy(zones.energies(), e.data(), bytes(e));
    on.copy(zones.moving(), w.data(), bytes(w));
    on.fill(zones.work(), 0xff, bytes(e));
    zones.find_forces();
    zones.find_work();
    Found found{x, e, std::vector<double>(of.zones())};
    on.copy(found.force.data(), zones.force(), bytes(found.force));
    on.copy(found.work.data(), zones.work(), bytes(found.work));
    on.copy(found.steps.data(), zones.steps(), bytes(found.steps));
    on.synchronise();
    return found;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted, double part, const char* what) {
    ASSERT_EQ(found.size(), wanted.size());
    double most = 0;
    double error = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        most = std::max(most, std::abs(wanted[i]));
        error = std::max(error, std::isfinite(found[i]) ? std::abs(found[i] - wanted[i]) : HUGE_VAL);
    }
    EXPECT_GT(most, 0) << what;
    EXPECT_LE(error, part * most) << what;
}

void expect_near(const Found& found, const Found& wanted, double part) {
    expect_near(found.force, wanted.force, part, "force");
    expect_near(found.work, wanted.work, part, "work");
    expect_near(found.steps, wanted.steps, part, "steps");
}

// Sums of some hundred products, whose terms are some dozen times as large as the largest sum.
constexpr double rounding = 1e-12;

TEST_P(HydroZoneForces, FullAssemblyAgreesWithPartialAssembly) {
    const Discretisation of = box("sedov", 2, 2, {3, 2, 1});
    for (const TimeScheme scheme : {TimeScheme::rk2_average, TimeScheme::rk4}) {
        SCOPED_TRACE(to_string(scheme));
        const Found partial = found_by(backend(), library(), of, {.scheme = scheme});
        expect_near(found_by(backend(), library(), of, {.scheme = scheme, .assembly = Assembly::full}), partial, rounding);
    }
}

TEST_P(SlowHydroZoneForces, FullAssemblyAgreesWithPartialAssemblyAtEveryOrderInThePlane) {
    for (int order = 1; order <= 8; ++order) {
        SCOPED_TRACE(testing::Message() << "order " << order);
        const Discretisation of = box("sedov", 2, order, {2, 2, 1});
        expect_near(found_by(backend(), library(), of, {.assembly = Assembly::full}), found_by(backend(), library(), of, {}), rounding);
    }
}

TEST_P(SlowHydroZoneForces, FullAssemblyAgreesWithPartialAssemblyAtEveryOrderInSpace) {
    constexpr int highest = 4;  // F of the next one has more rows than batched_gemv takes
    for (int order = 1; order <= highest; ++order) {
        SCOPED_TRACE(testing::Message() << "order " << order);
        const Discretisation of = box("sedov", 3, order, {2, 2, 1});
        expect_near(found_by(backend(), library(), of, {.assembly = Assembly::full}), found_by(backend(), library(), of, {}), rounding);
    }
    EXPECT_THROW(ZoneForces(backend(), library(), box("sedov", 3, highest + 1, {1, 1, 1}), {.assembly = Assembly::full}), Error);
}

TEST_P(HydroZoneForces, TwoDevicesFindWhatOneFinds) {
    const Discretisation of = box("sedov", 2, 2, {5, 3, 1});
    test::FreshRandom random;
    for (const Way& way : test::drawn(ways, 1, random)) {
        const TimeScheme scheme = way.scheme;
        const Assembly assembly = way.assembly;
        const Found alone = found_by(backend(), library(), of, {.scheme = scheme, .assembly = assembly});
        for (const double share : {0.0, 0.2, 0.6, 1.0}) {
            SCOPED_TRACE(testing::Message() << to_string(scheme) << (assembly == Assembly::full ? ", full, " : ", ") << share);
            // Another kernel on the second device.
            const char* const configuration = "form=separate,decomposition=closed,lanes=2,points_per_pass=2,threads=all,binding=none";
            ZoneForces::Settings settings{.scheme = scheme, .assembly = assembly, .partner = partner(share)};
            if (assembly == Assembly::partial)
                settings.configurations["partner." + shared_problem(of, scheme, assembly).word("result")] = configuration;
            expect_near(found_by(backend(), library(), of, settings), alone, rounding);
            // The processor has the state, and the device helps.
            settings.configurations.clear();
            settings.partner = Partner{.backend = &backend(), .library = &library(), .share = share};
            expect_near(found_by(other(), other_library(), of, settings), alone, rounding);
        }
    }
}

// The run of one device; with the share moving too, while the stress of a step is kept.
TEST_P(HydroZoneForces, RunsOnTwoDevicesAreThoseOfOne) {
    const Discretisation of = box("taylor-green", 2, 2, {5, 4, 1});  // gas that moves from the beginning
    test::FreshRandom random;
    for (const Way& way : test::drawn(ways, 1, random)) {
        const TimeScheme scheme = way.scheme;
        const Assembly assembly = way.assembly;
        SCOPED_TRACE(testing::Message() << to_string(scheme) << (assembly == Assembly::full ? ", full" : ""));
        const auto run = [&](Assembly by, std::optional<Partner> with) {
            KernelOperator on(backend(), library(), of, scheme, {.tolerance = 1e-14, .assembly = by, .partner = std::move(with)});
            Stepper stepper(on, scheme, of.first);
            for (int i = 0; i < 14; ++i) stepper.step(10);
            return std::pair(stepper.state(), on.balance());
        };
        const auto [alone, no_balance] = run(Assembly::partial, std::nullopt);
        EXPECT_FALSE(no_balance);
        const auto [fixed, kept] = run(assembly, partner(0.5));
        EXPECT_EQ(kept->share, 0.5);
        std::vector<State> states{fixed};
        for (const int period : {3, 4}) {
            Partner with = partner();
            with.period = period;
            const auto [moved, balance] = run(assembly, with);
            // All zones on the first device, none, and then some.
            EXPECT_GE(balance->periods, 2);
            states.push_back(moved);
        }
        for (const State& state : states) {
            // Fourteen steps pass roundings on.
            expect_near(state.positions, alone.positions, 1e-11, "positions");
            expect_near(state.velocities, alone.velocities, 1e-11, "velocities");
            expect_near(state.energies, alone.energies, 1e-11, "energies");
        }
    }
}

TEST_P(HydroZoneForces, KeepsASettledShareForTheNextRun) {
    const Discretisation of = box("sedov", 2, 2, {5, 4, 1});
    Partner with = partner();
    // A model that no machine fits: it takes more than a period to doubt it.
    with.known =
        Hybrid{.share = 0.4, .own_cost = {0, 1e-3, 0, 8}, .partner_cost = {0, 6.7e-4, 0, 8}, .own_seconds = 2e-2, .partner_seconds = 1.34e-2};
    KernelOperator on(backend(), library(), of, TimeScheme::rk2_average, {.partner = with});
    EXPECT_FALSE(on.share_record()) << "nothing has been timed";
    Stepper stepper(on, TimeScheme::rk2_average, of.first);
    while (on.balance()->periods < 1) stepper.step(10);
    ASSERT_TRUE(on.balance()->settled);
    const auto record = on.share_record();
    ASSERT_TRUE(record);
    EXPECT_TRUE(record->verified());
    EXPECT_EQ(record->purpose, "hybrid");
    EXPECT_EQ(record->problem, shared_problem(of, TimeScheme::rk2_average, Assembly::partial));
    EXPECT_EQ(record->hybrid->share, 0.4);
    EXPECT_GT(record->step.median, 0);

    Database database(built_in_families());
    database.add(*record);
    const auto side = [](const Backend& backend) { return DeviceSide{backend.device().fingerprint, backend.device().limits}; };
    const Share share = database.best_share(record->problem, side(backend()), side(other()));
    EXPECT_EQ(share.grade, Grade::exact);
    with.known = share.known;
    const KernelOperator next(backend(), library(), of, TimeScheme::rk2_average, {.partner = with});
    EXPECT_EQ(next.balance()->share, 0.4);
}

TEST(HydroAssembly, HasTwoNames) {
    EXPECT_EQ(parse_assembly("full"), Assembly::full);
    EXPECT_THROW(parse_assembly("half"), Error);
}

// Passes everything on, and counts what makes the host wait or brings words to it.
class CountingBackend final : public Backend {
  public:
    explicit CountingBackend(Backend& of) : of_(of) {}

    const Device& device() const override { return of_.device(); }
    const Compiler& compiler() const override { return of_.compiler(); }
    std::unique_ptr<Module> load(const CompiledCode& code) override { return of_.load(code); }
    void* allocate(std::int64_t bytes) override { return of_.allocate(bytes); }
    void free(void* pointer) noexcept override { of_.free(pointer); }
    void* allocate_pinned(std::int64_t bytes) override { return of_.allocate_pinned(bytes); }
    void free_pinned(void* pointer) noexcept override { of_.free_pinned(pointer); }
    void copy(void* to, const void* from, std::int64_t bytes, Stream stream) override { ++copies, of_.copy(to, from, bytes, stream); }
    void fill(void* to, unsigned char byte, std::int64_t bytes, Stream stream) override { ++copies, of_.fill(to, byte, bytes, stream); }
    void synchronise(Stream stream) override { ++waits, of_.synchronise(stream); }
    double seconds(Stream stream, const std::function<void()>& work) override { return of_.seconds(stream, work); }
    std::unique_ptr<StopWatch> make_stop_watch() override { return of_.make_stop_watch(); }
    double largest_difference(const void* a, const void* b, std::int64_t count, ValueType type) override {
        return of_.largest_difference(a, b, count, type);
    }

    std::int64_t copies = 0, waits = 0;

  private:
    Backend& of_;
};

// A time step waits for two solves to converge and for the estimate of the next one, and for
// nothing else.
TEST_P(HydroZoneForces, TimeStepsKeepTheHostOutOfThem) {
    if (backend().device().limits.target != Target::cpu) GTEST_SKIP() << "how often a solve on a GPU is looked at depends on the solves before";
    const Discretisation of = box("sedov", 2, 2, {4, 3, 1});
    CountingBackend counting(backend());
    KernelLibrary counted(counting, no_records(), built_in_families());
    for (const auto& [scheme, solves] : {std::pair{TimeScheme::rk2_average, 2}, {TimeScheme::rk4, 4}}) {
        KernelOperator on(counting, counted, of, scheme, {});
        Stepper stepper(on, scheme, of.first);
        stepper.step(10);  // the first solve brings its tolerance to the device
        for (int i = 0; i < 5; ++i) {
            const std::int64_t copies = counting.copies, waits = counting.waits, looks = on.iterations(), rejections = stepper.clock().rejections;
            stepper.step(10);
            const std::int64_t tries = 1 + stepper.clock().rejections - rejections;
            // On a processor solves look after every iteration; each launch of corner forces has
            // its energies copied on the device.
            const std::int64_t of_solves = on.iterations() - looks;
            EXPECT_EQ(counting.waits - waits, of_solves + tries);
            EXPECT_LE(counting.copies - copies, of_solves + tries + (solves + 1) * tries);
        }
    }
}

}  // namespace
}  // namespace hone::solvers::hydro::zone_forces_test
