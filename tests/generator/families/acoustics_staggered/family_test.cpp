#include "generator/families/acoustics_staggered/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>
#include <string_view>

#include "foundation/error.hpp"
#include "foundation/random_words.hpp"
#include "generator/families.hpp"
#include "tests/generator/families/acoustics_staggered/oracle.hpp"

namespace hone::acoustics_staggered_test::family_test {
namespace {

constexpr std::array kernels{"pressure", "velocity", "step"};
constexpr std::array orders{4, 8, 16};

const Families& families() {
    static const Families table({acoustics_staggered()});
    return table;
}

Problem problem(const std::string& kernel, int dimension, int order, const std::string& rest) {
    return families().parse_problem(fmt::format("acoustics_staggered kernel={} dimension={} order={} {}", kernel, dimension, order, rest));
}

// The three kernels of one scheme, stepped by the family's plain loops.
struct Scheme {
    Problem velocity, pressure, step;

    Scheme(int dimension, int order, const std::string& rest)
        : velocity(problem("velocity", dimension, order, rest)),
          pressure(problem("pressure", dimension, order, rest)),
          step(problem("step", dimension, order, rest)) {}
    void advance(test::RigidBox& box, bool fused) const {
        const Family family = acoustics_staggered();
        const test::AcousticStep plain = test::in_its_precision(
            [&](const Problem& p, const std::vector<void*>& arrays) { family.reference(p, arrays, 0, family.range(p)); }, family.arrays);
        if (fused)
            box.advance(step, plain);
        else
            box.advance(velocity, pressure, plain);
    }
};

std::string cube(int dimension, int n, const char* media = "scalar", const char* precision = "f64") {
    return fmt::format("media={} precision={} nx={} ny={} nz={}", media, precision, n, n, dimension == 3 ? n : 1);
}

double stable_courant(int dimension, int order) {
    double sum = 0;
    for (const double weight : acoustics::weights(order / 2)) sum += std::abs(weight);
    return 1 / (std::sqrt(dimension) * sum);
}

void set_media(test::RigidBox& box, double value) {
    box.kappa.assign(box.kappa.size(), value);
    for (auto& b : box.b) b.assign(b.size(), value);
}

TEST(AcousticsStaggered, WeightsAreThePublishedOnes) {
    EXPECT_DOUBLE_EQ(acoustics::weights(2)[0], 9.0 / 8);
    EXPECT_DOUBLE_EQ(acoustics::weights(2)[1], -1.0 / 24);
    EXPECT_DOUBLE_EQ(acoustics::weights(4)[3], -5.0 / 7168);
    EXPECT_DOUBLE_EQ(acoustics::weights(8)[7], -143.0 / 167772160);
    EXPECT_NEAR(stable_courant(1, 4), 0.857143, 1e-6);
    EXPECT_NEAR(stable_courant(2, 8), 0.549717, 1e-6);
    EXPECT_NEAR(stable_courant(3, 16), 0.421306, 1e-6);
}

// The order in space shows in the discrete wave number alone; 2-16 is at rounding for shorter
// steps.
TEST(AcousticsStaggered, TheDiscreteWaveNumberConvergesWithItsOrder) {
    for (const int order : orders) {
        const auto error = [&](double n) {
            const double k = 2 * M_PI;
            return std::abs(test::StandingWave::discrete_wave_number(acoustics::weights(order / 2), k, 1 / n) - k) / k;
        };
        EXPECT_NEAR(std::log(error(12) / error(16)) / std::log(16.0 / 12), order, 0.06 * order) << "2-" << order;
    }
}

// What single precision leaves: each step rounds values within 1 once, and the wave neither grows
// nor decays.
double allowed(const char* precision, int steps) {
    return std::string_view(precision) == "f64" ? 2e-13 : 4e-7 * steps;
}

TEST(SlowAcousticsStaggered, TheReferenceKeepsTheDiscreteStandingWave) {
    for (const int dimension : {2, 3})
        for (const int order : orders)
            for (const char* precision : {"f32", "f64"})
                for (const bool fused : {false, true}) {
                    const int n = dimension == 2 ? 14 : 6;
                    const int steps = dimension == 2 ? 100 : 20;
                    const Scheme scheme(dimension, order, cube(dimension, n, "scalar", precision));
                    test::RigidBox box(scheme.step);
                    const double courant = 0.9 * stable_courant(dimension, order);
                    set_media(box, courant);
                    const test::StandingWave wave(box, acoustics::weights(order / 2), courant);
                    wave.set(box, 0);
                    for (int step = 0; step < steps; ++step) scheme.advance(box, fused);
                    EXPECT_LT(wave.error(box, steps), allowed(precision, steps))
                        << dimension << "D, 2-" << order << ", " << precision << (fused ? ", fused" : ", two sweeps");
                }
}

// The reference's error of a standing wave in a rigid box after `steps` time steps, `levels` of
// them in each pass.
double error_of_standing_wave(int dimension, int order, int levels, int cells, int steps, const std::string& update = "") {
    const Family family = acoustics_staggered();
    const Problem passes = problem("step", dimension, order, fmt::format("{} levels={} {}", update, levels, cube(dimension, cells, "array")));
    test::RigidBox box(passes);
    const double courant = 0.9 * stable_courant(dimension, order);
    set_media(box, courant);
    const test::StandingWave wave(box, acoustics::weights(order / 2), courant);
    wave.set(box, 0);
    for (int step = 0; step < steps; step += levels)
        box.advance(passes, [&](const Problem& p, const std::vector<void*>& arrays) { family.reference(p, arrays, 0, family.range(p)); });
    return wave.error(box, steps);
}

// Mirrored fields and media stay mirrored, so the walls need nothing between the time steps of a
// pass.
TEST(AcousticsStaggered, SeveralTimeStepsInOnePassKeepTheStandingWaveToo) {
    for (const int order : orders)
        for (const int levels : {2, 3, 4}) {
            if (order == 16 && levels > 2) continue;
            EXPECT_LT(error_of_standing_wave(2, order, levels, 14, 60), 2e-13) << "2-" << order << ", " << levels << " time steps in one pass";
        }
}

// In place the cells get the same words, and what lies around them is what an application sets
// before every pass anyway.
TEST(AcousticsStaggered, AStepInPlaceGivesTheCellsTheSameWords) {
    const Family family = acoustics_staggered();
    const std::uint64_t seed = std::random_device{}();
    for (const int order : orders)
        for (const int levels : {1, 2, 3}) {
            if (levels * order > 32) continue;
            const std::string rest = fmt::format("levels={} absorbing=sponge precision=f32 nx=5 ny=7 nz=6", levels);
            const Problem apart = problem("step", 3, order, rest), in_place = problem("step", 3, order, "update=in_place " + rest);
            Workload of_apart = family.workload(apart, seed), of_in_place = family.workload(in_place, seed);
            const std::vector<ArraySpec> arrays = family.arrays(in_place);
            ASSERT_EQ(of_apart.arrays.size(), arrays.size() + 4);
            const acoustics::Grid grid(in_place);
            for (std::size_t i = 0; i < 4; ++i) {
                ASSERT_EQ(arrays[i].access, Access::inout);
                ASSERT_EQ(largest_difference(of_apart.arrays[i], of_in_place.arrays[i]), 0) << "the same data";
                const auto next = of_apart.expected[arrays.size() + i].values<float>(), here = of_in_place.expected[i].values<float>();
                for (std::int64_t z = 0; z < grid.nz; ++z)
                    for (std::int64_t y = 0; y < grid.ny; ++y)
                        for (std::int64_t x = 0; x < grid.nx; ++x) {
                            const auto at = static_cast<std::size_t>(grid.position(x, y, z));
                            ASSERT_EQ(next[at], here[at]) << in_place.key() << ' ' << arrays[i].name << ", seed " << seed;
                        }
            }
        }
}

TEST(AcousticsStaggered, AStepInPlaceKeepsTheStandingWave) {
    for (const int order : orders)
        for (const int levels : {1, 2})
            EXPECT_LT(error_of_standing_wave(3, order, levels, 6, 12, "update=in_place"), 2e-13)
                << "2-" << order << ", " << levels << " time steps in one pass";
}

double largest(const test::RigidBox& box) {
    double value = 0;
    box.for_cells([&](const auto&, std::size_t at) { value = std::max(value, std::isfinite(box.p[at]) ? std::abs(box.p[at]) : INFINITY); });
    return value;
}

// The shortest wave that fits into the box must be close to the shortest of the grid, or 1.01 times
// the limit does it no harm.
TEST(SlowAcousticsStaggered, RandomDataStayBoundedUpToTheStabilityLimitOnly) {
    const std::uint64_t seed = std::random_device{}();
    for (const int order : orders)
        for (const double part : {0.999, 1.01}) {
            const Scheme scheme(2, order, cube(2, 24));
            test::RigidBox box(scheme.step);
            set_media(box, part * stable_courant(2, order));
            box.for_cells([&](const auto&, std::size_t at) { box.p[at] = random_word(seed, static_cast<std::int64_t>(at)); });
            for (int step = 0; step < (part < 1 ? 2000 : 500); ++step) scheme.advance(box, false);
            if (part < 1)
                EXPECT_LT(largest(box), 100) << "2-" << order << ", seed " << seed;
            else
                EXPECT_GT(largest(box), 1e6) << "2-" << order << ", seed " << seed;
        }
}

// Half of sum p^2 / kappa + sum u(t + dt/2) u(t - dt/2) / b stays, because the differences of
// pressures and velocities are adjoint. The walls' own faces hold no energy.
TEST(AcousticsStaggered, HeterogeneousMediaConserveTheDiscreteEnergy) {
    const std::uint64_t seed = std::random_device{}();
    for (const int dimension : {2, 3})
        for (const int order : orders)
            for (const bool fused : {false, true}) {
                const Scheme scheme(dimension, order, cube(dimension, dimension == 2 ? 9 : 5, "array"));
                test::RigidBox box(scheme.step);
                const auto random = [&](std::int64_t n, std::size_t at) {
                    return random_word(mixed(seed + static_cast<std::uint64_t>(n)), static_cast<std::int64_t>(at));
                };
                box.for_cells([&](const auto&, std::size_t at) {
                    box.p[at] = random(0, at);
                    box.kappa[at] = 0.2 + 0.1 * random(1, at);
                    for (std::size_t axis = 0; axis < box.axes(); ++axis)
                        box.b[axis][at] = 0.2 + 0.1 * random(2 + static_cast<std::int64_t>(axis), at);
                });
                box.mirror_media();
                const auto energy = [&] {
                    auto before = box.velocity;
                    const std::vector<double> p = box.p;
                    scheme.advance(box, fused);
                    double sum = 0;
                    box.for_cells([&](const auto& cell, std::size_t at) {
                        sum += p[at] * p[at] / box.kappa[at];
                        for (std::size_t axis = 0; axis < box.axes(); ++axis)
                            if (cell[axis] > 0) sum += before[axis][at] * box.velocity[axis][at] / box.b[axis][at];
                    });
                    return sum / 2;
                };
                const double start = energy();
                double drift = 0;
                for (int step = 0; step < 12; ++step) drift = std::max(drift, std::abs(energy() - start) / start);
                EXPECT_LT(drift, 1e-12) << dimension << "D, 2-" << order << (fused ? ", fused" : ", two sweeps") << ", seed " << seed;
            }
}

// A pulse that runs into a sponge of 40 cells before a wall. Its factors halve exponents of 3 (d /
// width)^2 ln(1 / R) / (2 width): without errors of the scheme R = 1e-4 of the amplitude comes
// back.
TEST(SlowAcousticsStaggered, ASpongeTakesWhatRunsIntoItHeadOn) {
    constexpr int n = 240, width = 40, steps = 480;
    constexpr double reflection = 1e-4, courant = 0.4;
    for (const int order : orders)
        for (const bool fused : {false, true}) {
            const Scheme scheme(2, order, fmt::format("media=scalar absorbing=sponge precision=f64 nx={} ny=1", n));
            test::RigidBox box(scheme.step);
            set_media(box, courant);
            const std::int64_t row = acoustics::damping_words(box.grid, 0), start = acoustics::damping_start(box.grid, 0);
            const auto factor = [&](double cells) {  // at a distance from the first cell's left face
                const double depth = std::max(0.0, cells - (n - width)) / width;
                return std::exp(-courant * 3 * depth * depth * std::log(1 / reflection) / (2 * width));
            };
            for (std::int64_t i = -start; i < row - start; ++i) {
                box.damping[0][static_cast<std::size_t>(start + i)] = factor(static_cast<double>(i));
                box.damping[0][static_cast<std::size_t>(row + start + i)] = factor(static_cast<double>(i) + 0.5);
            }
            // To the right: velocities half a cell behind and half a step before the pressures.
            const auto pulse = [](double cells) { return std::exp(-std::pow((cells - 100) / 10, 2)); };
            box.for_cells([&](const auto& cell, std::size_t at) {
                box.p[at] = pulse(static_cast<double>(cell[0]) + 0.5);
                box.velocity[0][at] = pulse(static_cast<double>(cell[0]) + courant / 2);
            });
            double before = 0, after = 0;
            box.for_cells([&](const auto&, std::size_t at) { before = std::max(before, std::abs(box.p[at])); });
            for (int step = 0; step < steps; ++step) scheme.advance(box, fused);
            box.for_cells([&](const auto&, std::size_t at) { after = std::max(after, std::abs(box.p[at])); });
            EXPECT_GT(before, 0.9);
            EXPECT_LT(after, 10 * reflection) << "2-" << order << (fused ? ", fused" : ", two sweeps");
            EXPECT_GT(after, reflection / 10) << "nothing runs as far as the wall and back";
        }
}

TEST(AcousticsStaggered, ArraysHaveGhostsOfTheOrderAndRowsOnALine) {
    const Family family = acoustics_staggered();
    const auto words = [&](int dimension, int order, const std::string& rest) {
        return family.arrays(problem("step", dimension, order, rest))[0].words;
    };
    EXPECT_EQ(words(2, 4, "precision=f32 nx=32 ny=5"), 13 * 96);
    EXPECT_EQ(words(2, 4, "precision=f32 nx=33 ny=5"), 13 * 160) << "an odd number of lines";
    EXPECT_EQ(words(2, 16, "precision=f64 nx=1 ny=1"), 33 * 48);
    EXPECT_EQ(words(3, 8, "precision=f64 nx=16 ny=3 nz=2"), 18 * 19 * 48);
    EXPECT_EQ(words(2, 4, "precision=f32 nx=32 ny=5 pitch=97"), 13 * 97);
    EXPECT_EQ(words(2, 8, "levels=4 precision=f32 nx=32 ny=5"), 69 * 96);
    EXPECT_EQ(words(2, 16, "levels=2 precision=f64 nx=1 ny=1"), 65 * 80);
    EXPECT_THROW(words(2, 16, "levels=3 precision=f32 nx=32 ny=5"), Error);
    EXPECT_EQ(words(3, 4, "levels=2 precision=f32 nx=32 ny=5 nz=5"), 21 * 21 * 96);
    for (const auto& [order, levels] : {std::pair{8, 2}, std::pair{4, 3}})
        EXPECT_THROW(family.space(problem("step", 3, order, fmt::format("levels={} precision=f32 nx=32 ny=5 nz=5", levels)), cuda_limits(90)), Error)
            << "processors only";
    const Problem in_place = problem("step", 3, 4, "update=in_place precision=f32 nx=32 ny=5 nz=5");
    EXPECT_THROW(family.space(in_place, cuda_limits(90)), Error) << "processors only";
    EXPECT_THROW(family.partition(in_place), Error) << "parts would overwrite what the others read";
    EXPECT_THROW(words(2, 4, "update=in_place precision=f32 nx=32 ny=5"), Error);
    EXPECT_THROW(family.arrays(problem("velocity", 3, 4, "update=in_place precision=f32 nx=32 ny=5 nz=5")), Error);
    EXPECT_THROW(family.arrays(problem("velocity", 2, 4, "levels=2 precision=f32 nx=32 ny=5")), Error);
    EXPECT_THROW(words(2, 4, "precision=f32 nx=32 ny=5 pitch=95"), Error);
    EXPECT_THROW(words(2, 4, "precision=f32 nx=32 ny=5 nz=2"), Error);
    EXPECT_THROW(words(3, 4, "precision=f32 nx=65536 ny=65536 nz=2"), Error);
    EXPECT_THROW(words(3, 4, "precision=f64 nx=8192 ny=8192 nz=8192"), Error);
}

TEST(AcousticsStaggered, CountsCompulsoryWork) {
    const Family family = acoustics_staggered();
    struct Row {
        const char* kernel;
        int dimension, order, words, operations;
    };
    for (const Row& row : {Row{"pressure", 2, 4, 5, 13}, Row{"pressure", 2, 16, 5, 49}, Row{"pressure", 3, 8, 6, 37}, Row{"velocity", 2, 4, 7, 14},
                           Row{"velocity", 3, 4, 10, 21}, Row{"step", 2, 8, 9, 51}, Row{"step", 2, 16, 9, 99}, Row{"step", 3, 4, 12, 40}}) {
        const double points = row.dimension == 2 ? 30 : 60;
        const Problem p = problem(row.kernel, row.dimension, row.order, fmt::format("precision=f64 nx=10 ny=3 nz={}", row.dimension - 1));
        EXPECT_EQ(family.counts(p).bytes, 8 * row.words * points) << p.key();
        EXPECT_EQ(family.counts(p).operations, row.operations * points) << p.key();
    }
    const Problem scalar = problem("step", 2, 4, "media=scalar precision=f32 nx=10 ny=3");
    EXPECT_EQ(family.counts(scalar).bytes, 4 * (6 * 30 + 2));
    const Problem several = problem("step", 2, 4, "absorbing=sponge levels=3 precision=f32 nx=10 ny=3");
    EXPECT_EQ(family.counts(several).updates, 3 * 30);
    EXPECT_EQ(family.counts(several).bytes, 4 * (9 * 30 + 2 * 13));
    EXPECT_EQ(family.counts(several).operations, 3 * (27 + 4) * 30);
    const Problem in_place = problem("step", 3, 4, "update=in_place precision=f32 nx=10 ny=3 nz=2");
    EXPECT_EQ(family.counts(in_place).bytes, 4 * 12 * 60) << "as many as apart: eight arrays, four of them twice";
}

std::vector<Problem> small_problems() {
    std::vector<Problem> all;
    for (const char* kernel : kernels)
        for (const int dimension : {2, 3})
            for (const int order : orders)
                for (const char* rest : {"media=array precision=f32 nx=1 ny=1", "media=scalar absorbing=sponge precision=f64 nx=37 ny=3 pitch=71"})
                    all.push_back(problem(kernel, dimension, order, rest));
    for (const int order : orders) all.push_back(problem("step", 2, order, "levels=2 media=array absorbing=sponge precision=f64 nx=37 ny=3"));
    all.push_back(problem("step", 2, 8, "levels=4 media=array precision=f32 nx=1 ny=5"));
    return all;
}

TEST(SlowAcousticsStaggered, EveryConstraintRejectsSomethingAndSaysWhy) {
    const Family family = acoustics_staggered();
    Limits processor = cpu_limits();
    processor.multiprocessors = 8;
    for (const auto& limits : {processor, cuda_limits(90)}) {
        std::set<std::string> rules;
        std::set<std::string> used;
        for (const auto& p : {problem("step", 2, 16, "precision=f64 nx=37 ny=3 pitch=71"), problem("step", 3, 4, "precision=f32 nx=9 ny=9 nz=9"),
                              problem("pressure", 2, 4, "precision=f32 nx=9 ny=9"), problem("velocity", 3, 16, "precision=f32 nx=9 ny=99 nz=9"),
                              problem("step", 2, 8, "levels=4 precision=f64 nx=39 ny=5 pitch=105"),
                              problem("step", 3, 8, "update=in_place precision=f32 nx=9 ny=9 nz=9")}) {
            if (limits.target == Target::cuda && acoustics::Grid(p).in_place) continue;
            const SearchSpace space = family.space(p, limits);
            for (const FormSpace& form : space.forms())
                for (const auto& constraint : form.constraints) rules.insert(constraint.name);
            std::int64_t members = 0;
            // A stride prime to all numbers of values draws every value of every tunable.
            for (std::int64_t index = 0; index < space.product(); index += limits.target == Target::cpu ? 1 : 41) {
                const Config config = space.at(index);
                if (!space.check(config)) ++members;
                for (const auto& constraint : space.form_of(config)->constraints)
                    if (const auto reason = constraint.violation(config)) {
                        used.insert(constraint.name);
                        EXPECT_GT(reason->size(), 10U) << constraint.name;
                    }
            }
            EXPECT_GT(members, 1);
        }
        EXPECT_EQ(used, rules);
    }
}

TEST(AcousticsStaggered, EveryFormHasMembersForEveryProblem) {
    const Family family = acoustics_staggered();
    for (const auto& p : small_problems())
        for (const int architecture : {75, 90}) {
            const SearchSpace space = family.space(p, cuda_limits(architecture));
            std::set<std::string> missing;
            for (const FormSpace& form : space.forms())
                if (form.name != "shuffled" &&                             // a warp is too narrow a tile for high order
                    (form.name != "bulk" || p.integer("pitch") % 2 == 0))  // copies need aligned rows
                    missing.insert(form.name);
            // Every index once, in an order that meets all values of all tunables soon.
            constexpr std::int64_t prime = 1'000'003;
            for (std::int64_t i = 0; i < space.product() && !missing.empty(); ++i) {
                const Config config = space.at(i * prime % space.product());
                if (missing.contains(config.word("form")) && !space.check(config)) missing.erase(config.word("form"));
            }
            EXPECT_TRUE(missing.empty()) << *missing.begin() << ": " << p.key() << " on sm_" << architecture;
        }
}

// 264 places of blocks for 17 columns: 15 blocks in each. One block in each of 128 columns. As many
// as there are, but none with less than 2 M layers.
TEST(AcousticsStaggered, EqualSharesFillTheDeviceOnce) {
    const Family family = acoustics_staggered();
    const Limits limits = cuda_limits(90);
    struct Case {
        Problem problem;
        const char* config;
        Dim3 grid;
        std::int64_t layers;
    };
    for (const Case& row :
         {Case{problem("step", 2, 8, "precision=f32 nx=8192 ny=8192"), "form=bulk,block_x=128,points_per_thread=4,min_blocks=2", {17, 15, 1}, 547},
          Case{problem("pressure", 3, 16, "precision=f32 nx=512 ny=512 nz=512"),
               "form=planes,block_x=16,block_y=32,points_per_thread=4",
               {8, 16, 1},
               512},
          Case{problem("velocity", 3, 4, "precision=f64 nx=64 ny=60 nz=19"), "form=march,block_x=32,block_y=8", {2, 8, 5}, 4}}) {
        const Config config = family.space(row.problem, limits).parse(std::string(row.config) + ",layers_per_block=0");
        ASSERT_FALSE(family.space(row.problem, limits).check(config)) << row.config;
        const Launch launch = family.kernel(row.problem, config, limits).step.front();
        EXPECT_EQ(launch.grid, row.grid) << row.config;
        EXPECT_EQ(launch.range_per_block, row.layers) << row.config;
    }
}

// Database files of before forms: a team in planes had x_block and march, too.
TEST(AcousticsStaggered, ConfigurationsOfFormerTimesFindTheirForms) {
    const Family family = acoustics_staggered();
    const Limits limits = cpu_limits();
    const auto now = [&](const Problem& p, const char* former) {
        const SearchSpace space = family.space(p, limits);
        const Config config = space.parse(former);
        EXPECT_FALSE(space.check(config)) << config.key();
        return config.key();
    };
    const char* const rest = "precision=f32 nx=64 ny=64 nz=64";
    EXPECT_EQ(now(problem("step", 3, 4, rest),
                  "x_block=65536,y_block=16,march=0,vector_bytes=16,bytes_ahead=1024,stores=streaming,team=planes,threads=all,binding=none"),
              "form=planes,y_block=16,stores=streaming,vector_bytes=16,prefetch_bytes=1024,threads=all,binding=none");
    EXPECT_EQ(now(problem("step", 3, 4, rest),
                  "x_block=512,y_block=16,march=32,vector_bytes=16,bytes_ahead=0,stores=plain,team=tiles,threads=all,binding=none"),
              "form=tiles,x_block=512,y_block=16,layers_per_block=32,stores=plain,vector_bytes=16,prefetch_bytes=0,threads=all,binding=none");
    EXPECT_EQ(now(problem("pressure", 2, 4, "precision=f32 nx=64 ny=64"),
                  "x_block=1024,y_block=1,march=0,vector_bytes=16,bytes_ahead=0,threads=all,binding=none"),
              "form=tiles,x_block=1024,layers_per_block=0,vector_bytes=16,prefetch_bytes=0,threads=all,binding=none");
}

TEST(AcousticsStaggered, FormerNamesOfTunablesAreAsGoodAsTodays) {
    const SearchSpace space = acoustics_staggered().space(problem("step", 2, 8, "precision=f32 nx=8192 ny=8192"), cuda_limits(90));
    const Config former({{"form", "bulk"},
                         {"block_x", 192},
                         {"points_per_thread", 4},
                         {"march", 0},
                         {"stages", 4},
                         {"unroll", 2},
                         {"min_blocks", 1},
                         {"stores", "plain"},
                         {"reads", "kept"},
                         {"lead", 8}});
    EXPECT_EQ(space.completed(former).key(),
              space.parse("form=bulk,block_x=192,points_per_thread=4,stages=4,unroll=2,cache_hint=kept,max_lead=8").key());
    EXPECT_FALSE(space.check(space.completed(former)));
    EXPECT_EQ(space.parse("form=march,march=64,ahead=1").key(), space.parse("form=march,layers_per_block=64,prefetch=1").key());
}

TEST(AcousticsStaggered, WorkloadsAreFreshDeterministicAndPoisoned) {
    const Family family = acoustics_staggered();
    const std::uint64_t seed = std::random_device{}();
    for (const auto& p : small_problems()) {
        if (p.word("order") != "8") continue;
        const Workload workload = family.workload(p, seed);
        const Workload again = family.workload(p, seed);
        const Workload other = family.workload(p, seed + 1);
        const std::vector<ArraySpec> arrays = family.arrays(p);
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            EXPECT_EQ(largest_difference(workload.arrays[i], again.arrays[i]), 0) << p.key() << ", seed " << seed;
            // One value alone may be the same in single precision.
            if (arrays[i].access != Access::out && p.integer("nx") * p.integer("ny") > 1) {
                EXPECT_GT(largest_difference(workload.arrays[i], other.arrays[i]), 0) << p.key() << ", seed " << seed;
            }
            ASSERT_EQ(workload.expected[i].words() != 0, arrays[i].access != Access::in) << arrays[i].name;
            if (arrays[i].access == Access::in) continue;
            // Of many cells some change by far more than the tolerance.
            if (p.integer("nx") > 1) {
                EXPECT_GT(largest_difference(workload.arrays[i], workload.expected[i]), 1000 * workload.tolerance)
                    << p.key() << ' ' << arrays[i].name;
            }
            if (arrays[i].access == Access::inout) {
                EXPECT_TRUE(std::isfinite(largest_difference(workload.arrays[i], workload.expected[i]))) << p.key() << ' ' << arrays[i].name;
            }
        }
    }
}

TEST(AcousticsStaggered, ARangeStepsItsLayersOnly) {
    const Family family = acoustics_staggered();
    for (const char* kernel : kernels)
        for (const int dimension : {2, 3}) {
            const Problem p = problem(kernel, dimension, 4, fmt::format("precision=f64 nx=5 ny=7 nz={}", dimension == 2 ? 1 : 6));
            const acoustics::Grid grid(p);
            Workload workload = family.workload(p, 7);
            Workload stepped = family.workload(p, 7);
            std::vector<void*> pointers;
            for (auto& array : stepped.arrays) pointers.push_back(array.data());
            family.reference(p, pointers, 2, 4);
            const std::vector<ArraySpec> arrays = family.arrays(p);
            for (std::size_t i = 0; i < arrays.size(); ++i) {
                std::int64_t changed = 0;
                for (std::int64_t word = 0; word < arrays[i].words; ++word) {
                    const double before = workload.arrays[i].values<double>()[static_cast<std::size_t>(word)];
                    const double now = stepped.arrays[i].values<double>()[static_cast<std::size_t>(word)];
                    if (now == before || (std::isnan(now) && std::isnan(before))) continue;
                    ++changed;
                    const std::int64_t layer = word / grid.layer_stride() - grid.ghost();
                    EXPECT_TRUE(layer == 2 || layer == 3) << arrays[i].name;
                }
                EXPECT_EQ(changed, arrays[i].access == Access::in ? 0 : 2 * grid.points() / grid.layers()) << p.key() << ' ' << arrays[i].name;
            }
        }
}

}  // namespace
}  // namespace hone::acoustics_staggered_test::family_test
