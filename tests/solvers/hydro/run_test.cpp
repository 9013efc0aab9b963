#include "solvers/hydro/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <fstream>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "solvers/hydro/kernel_operator.hpp"
#include "solvers/hydro/reference.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::hydro::run_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Discretisation small_blast() {
    HydroProblem problem = hydro_problem("sedov", 2);
    problem.box.zones = {3, 2, 1};
    return {problem, 2, quad_box(problem.box)};
}

constexpr std::int64_t most_bytes = 1 << 24;

// Checkpoints hold all bits of a run: those of a run that was cut and of one that was not are the
// same.
void expect_same_bits(const Discretisation& of, TimeScheme scheme, const std::function<std::unique_ptr<Operator>()>& make) {
    const test::TemporaryFolder folder;
    const auto run = [&](RunSettings settings, const std::string& name) {
        settings.time = 0.4;
        settings.scheme = scheme;
        settings.energy_every = 4;
        settings.checkpoint = folder.path() / name;
        return run_hydro(*make(), of, settings);
    };
    const RunResult whole = run({}, "whole");
    ASSERT_GT(whole.clock.steps, 8);
    ASSERT_GT(whole.clock.rejections, 0) << "a run without repeated steps would not show what they leave behind";
    for (const std::int64_t stop : {std::int64_t{1}, std::int64_t{5}, whole.clock.steps - 1}) {
        EXPECT_EQ(run({.checkpoint_every = 3, .stop_after = stop}, "cut").clock.steps, stop);
        const RunResult rest = run({.restart = folder.path() / "cut"}, "rest");
        EXPECT_EQ(rest.first_step, stop);
        EXPECT_EQ(rest.state, whole.state) << to_string(scheme) << " from " << stop;
        EXPECT_EQ(rest.clock, whole.clock);
        EXPECT_EQ(rest.energies, whole.energies);
        EXPECT_EQ(read_file(folder.path() / "rest", most_bytes), read_file(folder.path() / "whole", most_bytes));
    }
    RunSettings other{.cfl = 0.25, .restart = folder.path() / "cut"};
    EXPECT_THAT([&] { run(other, "other"); }, ThrowsMessage<Error>(HasSubstr("its cfl is 0.5, that of this run 0.25")));
}

TEST(HydroRun, RestartContinuesBitIdentically) {
    const Discretisation of = small_blast();
    for (const TimeScheme scheme : {TimeScheme::rk2_average, TimeScheme::rk4})
        expect_same_bits(of, scheme, [&] { return make_reference_operator(of, 0.5, 1e-12); });
}

TEST(HydroRun, RestartContinuesBitIdenticallyWithKernels) {
    const int usual_threads = omp_get_max_threads();
    omp_set_num_threads(1);  // steps of small meshes are shorter than what a barrier takes on a busy machine
    const test::TemporaryFolder folder;
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    KernelLibrary library(*backend, Database(built_in_families()), built_in_families());
    const Discretisation of = small_blast();
    expect_same_bits(of, TimeScheme::rk2_average,
                     [&] { return std::make_unique<KernelOperator>(*backend, library, of, TimeScheme::rk2_average, KernelOperator::Settings{}); });
    omp_set_num_threads(usual_threads);
}

TEST(HydroRun, CheckpointsTellTheirKernelsAndDamage) {
    const test::TemporaryFolder folder;
    const Discretisation of = small_blast();
    const auto on = make_reference_operator(of, 0.5, 1e-12);
    RunSettings settings{.time = 0.4, .checkpoint = folder.path() / "run", .stop_after = 2, .configurations = {{"points", "form=a,lanes=2"}}};
    run_hydro(*on, of, settings);
    EXPECT_EQ(checkpoint_configurations(settings.checkpoint), settings.configurations);
    const std::string good = read_file(settings.checkpoint, most_bytes);
    for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 29) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1);
        replace_file(settings.checkpoint, bad);
        EXPECT_THROW(checkpoint_configurations(settings.checkpoint), Error) << at;
        replace_file(settings.checkpoint, good.substr(0, at));
        EXPECT_THROW(checkpoint_configurations(settings.checkpoint), Error) << at;
    }
}

TEST(HydroRun, PicturesHaveAllNodes) {
    const test::TemporaryFolder folder;
    const Discretisation of = small_blast();
    const auto on = make_reference_operator(of, 0.5, 1e-12);
    run_hydro(*on, of, {.time = 0.2, .frames_folder = folder.path() / "pictures", .frames = 3});
    const std::string series = read_file(folder.path() / "pictures" / "gas.pvd", most_bytes);
    EXPECT_THAT(series, HasSubstr("gas_0003.vtu"));
    EXPECT_THAT(series, testing::Not(HasSubstr("gas_0004.vtu")));
    const std::string last = read_file(folder.path() / "pictures" / "gas_0003.vtu", most_bytes);
    EXPECT_THAT(last, HasSubstr("NumberOfPoints=\"54\" NumberOfCells=\"6\""));
    for (const char* field : {"velocity", "density", "energy", "pressure", "gamma"}) EXPECT_THAT(last, HasSubstr(std::string("Name=\"") + field));
}

}  // namespace
}  // namespace hone::solvers::hydro::run_test
