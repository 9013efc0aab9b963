#include "solvers/hydro/zone_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::hydro::zone_kernels_test {
namespace {

class HydroZoneKernels : public testing::Test {
  protected:
    std::vector<double> random_words(std::size_t count) {
        std::vector<double> words(count);
        for (double& word : words) word = std::uniform_real_distribution<>(-1, 1)(random_);
        return words;
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
};

// Both texts: the processor's, and the GPU's run on the processor in two blocks of three threads.
TEST_F(HydroZoneKernels, DoWhatPlainLoopsDo) {
    const auto backend = make_cpu_backend(0, cache_);
    const Discretisation of(hydro_problem("taylor-green", 2), 2, quad_box({2, {3, 2, 1}}));
    const std::size_t nodes = of.nodes();
    const std::size_t own = of.nodes_of_zone();
    for (const Target target : {Target::cpu, Target::cuda}) {
        SCOPED_TRACE(to_string(target) + " seed " + std::to_string(seed_));
        KernelSource source = ZoneKernels::source(of, target);
        for (Launch& launch : source.step) launch.grid = {2, 1, 1}, launch.block = {3, 1, 1};
        if (target == Target::cuda) source = test::emulated(source);
        const ZoneKernels kernels(*backend, of, source);

        const auto base = random_words(2 * nodes);
        const auto rate = random_words(2 * nodes);
        std::vector<double> target_words(2 * nodes, std::nan(""));
        const double factor = random_words(1)[0];
        kernels.combine(target_words.data(), base.data(), rate.data(), factor, static_cast<std::int64_t>(base.size()));
        for (std::size_t i = 0; i < base.size(); ++i) EXPECT_NEAR(target_words[i], base[i] + factor * rate[i], 1e-15);

        std::vector<double> zones(of.zone_nodes.size() * 2, std::nan(""));
        kernels.gather(base.data(), zones.data());
        std::vector<double> sums(2 * nodes);
        for (std::size_t i = 0; i < of.zone_nodes.size(); ++i)
            for (std::size_t c = 0; c < 2; ++c) {
                const std::size_t at = (i / own * 2 + c) * own + i % own;
                const std::size_t node = c * nodes + static_cast<std::size_t>(of.zone_nodes[i]);
                EXPECT_EQ(zones[at], base[node]);
                sums[node] -= zones[at];
            }
        std::vector<double> gathered(2 * nodes, std::nan(""));
        kernels.subtract(zones.data(), gathered.data());
        for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(gathered[i], sums[i], 1e-14);

        std::vector<double> least(ZoneKernels::least_words, 0.75);
        kernels.shorten(std::vector<double>{1, 0.5, 2, 3, 0.25, 4}.data(), least.data());
        EXPECT_EQ(std::vector<double>(least.begin(), least.begin() + 7), (std::vector<double>{0.75, 0.5, 0.75, 0.75, 0.25, 0.75, 0.75}));
        kernels.shorten(std::vector<double>{1, 0.5, 2, 3, 0.25, 4}.data(), least.data(), true);
        const double longest = std::numeric_limits<double>::max();
        EXPECT_EQ(std::vector<double>(least.begin(), least.begin() + 7), (std::vector<double>{1, 0.5, 2, 3, 0.25, 4, longest}));
    }
}

// The source's integral over the square of x and y is 0 by symmetry; times the functions of each
// zone it is what a finer quadrature finds.
TEST_F(HydroZoneKernels, HeatingIsTheIntegralOverZones) {
    const auto backend = make_cpu_backend(0, cache_);
    const Discretisation of(hydro_problem("taylor-green", 2), 3, quad_box({2, {4, 4, 1}}));
    std::vector<double> positions(of.zone_nodes.size() * 2);
    const std::size_t own = of.nodes_of_zone();
    for (std::size_t i = 0; i < of.zone_nodes.size(); ++i)
        for (std::size_t c = 0; c < 2; ++c)
            positions[(i / own * 2 + c) * own + i % own] = of.first.positions[c * of.nodes() + static_cast<std::size_t>(of.zone_nodes[i])];
    for (const Target target : {Target::cpu, Target::cuda}) {
        KernelSource source = ZoneKernels::source(of, target);
        for (Launch& launch : source.step) launch.grid = {2, 1, 1}, launch.block = {3, 1, 1};
        if (target == Target::cuda) source = test::emulated(source);
        std::vector<double> work(of.first.energies.size(), 1.0);
        ZoneKernels(*backend, of, source).warm(positions.data(), work.data());
        double all = 0;
        for (const double word : work) all += word - 1;
        EXPECT_NEAR(all, 0, 1e-13);
        // The functions of a zone sum to one: the integral over the zone in the corner, by the
        // antiderivatives.
        const auto sine = [](double k) { return std::sin(k * 0.25 * std::acos(-1.0)) / (k * std::acos(-1.0)); };
        double corner = 0;
        for (std::size_t i = 0; i < of.energies_of_zone(); ++i) corner += work[i] - 1;
        EXPECT_NEAR(corner, 0, 1e-13) << "it is antisymmetric in x and y";
        double second = 0;
        for (std::size_t i = 0; i < of.energies_of_zone(); ++i) second += work[of.energies_of_zone() + i] - 1;
        const auto behind = [](double k) {
            return (std::sin(k * 0.5 * std::acos(-1.0)) - std::sin(k * 0.25 * std::acos(-1.0))) / (k * std::acos(-1.0));
        };
        EXPECT_NEAR(second, 3 * std::acos(-1.0) / 8 * (behind(3) * sine(1) - behind(1) * sine(3)), 1e-10);
    }
}

TEST_F(HydroZoneKernels, CompileForGpus) {
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const int dimension : {2, 3}) {
        const Discretisation of(hydro_problem("sedov", dimension), 2, quad_box({dimension, {2, 2, 2}}));
        const CompileOutcome outcome = nvrtc->compile(ZoneKernels::source(of, Target::cuda));
        EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
    }
}

}  // namespace
}  // namespace hone::solvers::hydro::zone_kernels_test
