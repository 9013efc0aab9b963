// Compiled kernels of acoustics_staggered against the reference: CPU kernels as they are, CUDA
// kernels through the emulator, and through NVRTC for the resources that they take. There are too
// many combinations for every run: each draws its own, and says which.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <span>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/acoustics_staggered/family.hpp"
#include "runtime/library.hpp"
#include "tests/generator/families/acoustics_staggered/oracle.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"
#include "tests/support/verified.hpp"

namespace hone::acoustics_staggered_test::kernels_test {
namespace {

constexpr std::array kernels{"pressure", "velocity", "step"};
constexpr std::array rows_2d{"nx=1 ny=1", "nx=1 ny=29", "nx=131 ny=1", "nx=67 ny=41", "nx=300 ny=19 pitch=389"};
constexpr std::array planes_3d{"nx=1 ny=1 nz=11", "nx=37 ny=1 nz=3", "nx=13 ny=11 nz=17", "nx=66 ny=5 nz=6 pitch=131"};

const Families& families() {
    static const Families table({acoustics_staggered()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("acoustics_staggered " + rest);
}

// A member of every form, so that no template is left out whatever the random ones are.
struct Form {
    const char* kernel;
    int dimension;
    const char* config;
    int points = 1, levels = 1;

    std::string text(int other_points) const { return fmt::format("{},points_per_thread={}", config, other_points); }
    // Of the orders 4, 8 and 16 there are so many: in 3D two time steps fit a block at order 4.
    int orders() const {
        if (levels == 1) return 3;
        return dimension == 3 ? 1 : levels == 2 ? 3 : 2;
    }
};
constexpr std::array forms{
    Form{"pressure", 2, "form=march,block_x=64,layers_per_block=32"},
    Form{"pressure", 3, "form=march,block_x=32,block_y=4,layers_per_block=32,prefetch=1"},
    Form{"velocity", 2, "form=march,block_x=64,layers_per_block=32,prefetch=1"},
    Form{"velocity", 3, "form=march,block_x=32,block_y=2,layers_per_block=16"},
    Form{"step", 2, "form=march,block_x=64,layers_per_block=32,prefetch=1"},
    Form{"step", 3, "form=march,block_x=32,block_y=2,layers_per_block=16"},
    Form{"step", 2, "form=exchanged,block_x=64,layers_per_block=16,prefetch=1"},
    Form{"step", 3, "form=exchanged,block_x=32,block_y=4,layers_per_block=16"},
    Form{"step", 2, "form=cached,block_x=32,block_y=2,layers_per_block=4"},
    Form{"pressure", 2, "form=bulk,block_x=32,layers_per_block=32", 4},
    Form{"velocity", 2, "form=bulk,block_x=32,layers_per_block=32,stages=3", 4},
    Form{"step", 2, "form=bulk,block_x=64,layers_per_block=0,stages=4", 4},
    Form{"pressure", 3, "form=planes,block_x=16,block_y=8,layers_per_block=0,stages=3", 4},
    Form{"pressure", 3, "form=planes,block_x=32,block_y=4,layers_per_block=0,rows_per_thread=2", 2},
    Form{"velocity", 3, "form=planes,block_x=16,block_y=8,layers_per_block=64,rows_per_thread=2", 4},
    Form{"step", 3, "form=planes,block_x=16,block_y=8,layers_per_block=0", 4},
    Form{"step", 3, "form=planes,block_x=32,block_y=4,layers_per_block=0,rows_per_thread=2,unroll=2", 2},
    Form{"step", 2, "form=bulk,block_x=64,layers_per_block=0,stages=4,cache_hint=kept,max_lead=6", 4},
    Form{"velocity", 3, "form=planes,block_x=16,block_y=4,layers_per_block=0,cache_hint=kept,max_lead=1", 4},
    Form{"step", 2, "form=shuffled,block_x=64,layers_per_block=64", 4, 2},
    Form{"step", 2, "form=shuffled,block_x=32,layers_per_block=64,prefetch=1", 4, 4},
    Form{"step", 2, "form=exchanged,block_x=128,layers_per_block=0,prefetch=1", 1, 2},
    Form{"step", 2, "form=exchanged,block_x=64,layers_per_block=64", 2, 3},
    Form{"step", 3, "form=planes,block_x=8,block_y=16,layers_per_block=0", 4, 2},
    Form{"step", 3, "form=planes,block_x=16,block_y=8,rows_per_thread=2,layers_per_block=0,stages=3,cache_hint=kept,max_lead=1", 2, 2},
    Form{"step", 3, "form=planes,block_x=32,block_y=16,layers_per_block=32,unroll=2", 1, 2}};

struct Wave {
    int dimension, levels;
    const char* update = "apart";
};
constexpr std::array waves{Wave{2, 1}, Wave{3, 1}, Wave{2, 2}, Wave{3, 2}, Wave{3, 1, "in_place"}, Wave{3, 2, "in_place"}};

class AcousticsStaggeredKernels : public test::KernelTest {
  protected:
    std::uint64_t draw(std::uint64_t count) { return random_() % count; }
    // The rest of a problem: everything that is compiled in.
    std::string draw_kind(const char* kernel, int dimension, int levels = 1) { return draw_kind(kernel, dimension, levels, levels > 2 ? 2 : 3); }
    std::string draw_kind(const Form& form) { return draw_kind(form.kernel, form.dimension, form.levels, form.orders()); }
    std::string draw_kind(const char* kernel, int dimension, int levels, int order_count) {
        constexpr std::array orders{4, 8, 16};
        return fmt::format("kernel={} dimension={} order={} media={} absorbing={} levels={} precision={}", kernel, dimension,
                           orders[draw(static_cast<std::uint64_t>(order_count))], draw(2) == 0 ? "scalar" : "array", draw(2) == 0 ? "none" : "sponge",
                           levels, draw(2) == 0 ? "f32" : "f64");
    }
    int draw_levels() { return 2 + static_cast<int>(draw(3)); }
    std::string draw_size(int dimension) { return dimension == 2 ? rows_2d[draw(rows_2d.size())] : planes_3d[draw(planes_3d.size())]; }

    // The safe kernel for the processor, of any kind.
    void expect_safe_verified(const char* kernel, int dimension, int levels = 1) {
        const Family& family = families().find("acoustics_staggered");
        const std::string kind = draw_kind(kernel, dimension, levels);
        for (const char* size : dimension == 2 ? std::span<const char* const>(rows_2d) : std::span<const char* const>(planes_3d)) {
            const Problem problem = parse(kind + " " + size);
            expect_verified(family, problem, family.space(problem, backend_->device().limits).safe());
        }
    }

    // Of several time steps in 2D, two rows at a time: in tiles that the rows fill or not, with odd
    // and even numbers of layers.
    void expect_pairs_verified(int order, int levels) {
        const Family& family = families().find("acoustics_staggered");
        const bool single = draw(2) == 0;
        const std::string kind = fmt::format("kernel=step dimension=2 order={} levels={} media={} precision={}", order, levels,
                                             draw(2) == 0 ? "scalar" : "array", single ? "f32" : "f64");
        const auto config = fmt::format("form=tiles,layers_at_once=2,x_block={},layers_per_block={},stores={}", draw(2) == 0 ? 128 : 2048,
                                        draw(2) == 0 ? 16 : 0, draw(2) == 0 ? "plain" : "streaming");
        for (const char* size : rows_2d) {
            const Problem problem = parse(kind + " " + size);
            const SearchSpace space = family.space(problem, backend_->device().limits);
            if (const auto reason = space.check(space.parse(config))) GTEST_SKIP() << reason->reason;  // vectors of two words
            expect_verified(family, problem, space.parse(config));
        }
    }

    // Threads that march through the planes together, some without rows of their own, and the last
    // rows fewer than the first; in place or apart.
    void expect_team_verified(const std::string& kind, bool in_place, int threads) {
        const Family& family = families().find("acoustics_staggered");
        const int processors = omp_get_max_threads();
        omp_set_num_threads(threads);
        // One kernel for all sizes.
        const char* const how = in_place ? "form=march" : draw(2) == 0 ? "form=planes,stores=plain" : "form=planes,stores=streaming";
        const auto config = fmt::format("{},y_block={},prefetch_bytes={}", how, in_place && draw(2) == 0 ? 65536 : 16, 1024 * draw(2));
        const bool pairs = in_place && kind.find("absorbing=none") != std::string::npos && draw(3) != 0;
        for (const char* size : {"nx=1 ny=1 nz=11", "nx=37 ny=70 nz=5", "nx=66 ny=5 nz=6 pitch=387"}) {
            const Problem problem = parse(fmt::format("{} update={} {}", kind, in_place ? "in_place" : "apart", size));
            const SearchSpace space = family.space(problem, backend_->device().limits);
            const Config wanted = space.parse(config + (pairs ? ",layers_at_once=2" : ""));
            // This processor's vectors may be shorter than sums reach.
            expect_verified(family, problem, space.check(wanted) ? space.parse(config) : wanted);
        }
        omp_set_num_threads(processors);
    }

    void expect_random_emulated(const char* kernel, int dimension, int levels = 1) {
        const Family family = test::emulated(test::device_on_host(acoustics_staggered()), cuda_limits(90));
        const Problem problem = parse(draw_kind(kernel, dimension, levels) + " " + draw_size(dimension));
        expect_verified(family, problem, any_member(family, problem));
    }

    void expect_standing_wave(const Wave& standing);
};

TEST_F(AcousticsStaggeredKernels, ASafeCpuKernelEqualsTheReferenceAtEverySize) {
    expect_safe_verified(kernels[draw(kernels.size())], 2 + static_cast<int>(draw(2)));
}

TEST_F(AcousticsStaggeredKernels, ASafeCpuKernelOfSeveralTimeStepsEqualsTheReferenceAtEverySize) {
    expect_safe_verified("step", 2, draw_levels());
}

TEST_F(AcousticsStaggeredKernels, PairsOfRowsEqualTheReferenceAtEverySize) {
    const int order = 4 << draw(3);
    expect_pairs_verified(order, order == 16 ? 2 : draw_levels());
}

TEST_F(AcousticsStaggeredKernels, ATeamThatMarchesThroughPlanesEqualsTheReferenceAtEverySize) {
    expect_team_verified(draw_kind("step", 3, draw(2) == 0 ? 1 : draw_levels()), false, 1 + static_cast<int>(draw(5)));
}

TEST_F(AcousticsStaggeredKernels, AMarchInPlaceEqualsTheReferenceAtEverySize) {
    expect_team_verified(draw_kind("step", 3, draw(2) == 0 ? 1 : draw_levels()), true, 1 + static_cast<int>(draw(5)));
}

// In place a range is the whole of what is computed, with what lies around it.
TEST_F(AcousticsStaggeredKernels, AMarchInPlaceOverARangeEqualsTheReference) {
    const Family& family = families().find("acoustics_staggered");
    const Problem problem = parse("kernel=step dimension=3 order=4 update=in_place levels=2 precision=f64 nx=19 ny=23 nz=21");
    Match match;
    match.config = family.space(problem, backend_->device().limits).safe();
    const Kernel kernel(*backend_, family, problem, match, backend_->device().limits);
    const std::uint64_t seed = random_();
    Workload computed = family.workload(problem, seed), expected = family.workload(problem, seed);
    std::vector<void*> arrays, of_reference;
    for (auto& array : computed.arrays) arrays.push_back(array.data());
    for (auto& array : expected.arrays) of_reference.push_back(array.data());
    kernel.launch(arrays, 6, 17);
    family.reference(problem, of_reference, 6, 17);
    for (std::size_t i = 0; i < arrays.size(); ++i)
        EXPECT_LE(largest_difference(computed.arrays[i], expected.arrays[i]), computed.tolerance) << "array " << i << ", seed " << seed;
    EXPECT_GT(largest_difference(computed.arrays[0], family.workload(problem, seed).arrays[0]), 1000 * computed.tolerance);
}

TEST_F(AcousticsStaggeredKernels, ARandomCudaConfigurationEqualsTheReferenceInTheEmulator) {
    expect_random_emulated(kernels[draw(kernels.size())], 2 + static_cast<int>(draw(2)));
}

// Each with some kind of problem; the slow tests draw others.
class AcousticsStaggeredForms : public AcousticsStaggeredKernels, public ::testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(All, AcousticsStaggeredForms, ::testing::Range(std::size_t{0}, forms.size()));
TEST_P(AcousticsStaggeredForms, OfCudaEqualTheReferenceInTheEmulator) {
    const std::size_t number = GetParam();
    const Form& form = forms[number];
    const Problem problem = parse(fmt::format("kernel={} dimension={} order={} levels={} media={} absorbing={} precision={} {}", form.kernel,
                                              form.dimension, number % 2 == 0 || form.orders() == 1 ? 4 : 8, form.levels,
                                              number / 2 % 2 == 0 ? "array" : "scalar", number % 3 == 0 ? "sponge" : "none",
                                              number / 3 % 2 == 0 ? "f32" : "f64", form.dimension == 2 ? "nx=133 ny=37" : "nx=67 ny=7 nz=19"));
    const Family family = test::emulated(test::device_on_host(acoustics_staggered()), cuda_limits(90));
    // Some are no members, because they would be slow: right they must be all the same.
    const Config config = family.space(problem, {}).parse(form.text(form.points));
    test::expect_verified_once(*backend_, family, problem, config, random_);
}

TEST_F(AcousticsStaggeredKernels, ResultsDoNotDependOnTheNumberOfThreads) {
    const Family& family = families().find("acoustics_staggered");
    for (const auto& [text, config] :
         {std::pair{"dimension=2 order=8 media=array precision=f32 nx=700 ny=23", "x_block=512,layers_per_block=0,stores=streaming"},
          std::pair{"dimension=3 order=4 update=in_place levels=2 precision=f32 nx=70 ny=57 nz=13", "y_block=16,layers_at_once=2"}}) {
        const Problem problem = parse(std::string("kernel=step ") + text);
        Match match;
        match.config = family.space(problem, backend_->device().limits).parse(config);
        test::verify_once(backend_->device().limits, "does not depend on the number of threads", {{family, problem, match.config}}, [&] {
            const Kernel kernel(*backend_, family, problem, match, backend_->device().limits);
            const std::uint64_t seed = random_();
            const int usual = omp_get_max_threads();
            std::vector<HostArray> alone;
            for (const int threads : {1, 2, 3, 40}) {
                omp_set_num_threads(threads);
                Workload workload = family.workload(problem, seed);
                std::vector<void*> arrays;
                for (auto& array : workload.arrays) arrays.push_back(array.data());
                kernel.launch(arrays);
                if (threads == 1) alone = std::move(workload.arrays);
                for (std::size_t i = 0; threads > 1 && i < alone.size(); ++i)
                    EXPECT_EQ(std::memcmp(alone[i].data(), workload.arrays[i].data(), static_cast<std::size_t>(alone[i].bytes())), 0)
                        << threads << " threads, array " << i << ", seed " << seed;
            }
            omp_set_num_threads(usual);
        });
    }
}

void AcousticsStaggeredKernels::expect_standing_wave(const Wave& standing) {
    const Family& family = families().find("acoustics_staggered");
    constexpr std::array orders{4, 8, 16};
    const int order = orders[draw(3)];
    const bool single = draw(2) == 0;
    const std::string size = fmt::format("media=array precision={} nx=12 ny=12 nz={}", single ? "f32" : "f64", standing.dimension == 3 ? 12 : 1);
    const Problem problem = parse(
        fmt::format("kernel=step dimension={} order={} update={} levels={} {}", standing.dimension, order, standing.update, standing.levels, size));
    Match match;
    match.config = family.space(problem, backend_->device().limits).safe();
    const Kernel kernel(*backend_, family, problem, match, backend_->device().limits);
    test::RigidBox box(problem);
    constexpr double courant = 0.4;
    constexpr int steps = 40;
    box.kappa.assign(box.kappa.size(), courant);
    for (auto& b : box.b) b.assign(b.size(), courant);
    const test::StandingWave wave(box, acoustics::weights(order / 2), courant);
    wave.set(box, 0);
    const test::AcousticStep launch =
        test::in_its_precision([&](const Problem&, const std::vector<void*>& arrays) { kernel.launch(arrays); }, family.arrays);
    for (int step = 0; step < steps; step += standing.levels) box.advance(problem, launch);
    EXPECT_LT(wave.error(box, steps), single ? 4e-7 * steps : 2e-13) << problem.key();
}

TEST_F(AcousticsStaggeredKernels, ACpuKernelKeepsTheDiscreteStandingWave) {
    expect_standing_wave(waves[draw(waves.size())]);
}

using SlowAcousticsStaggeredKernels = AcousticsStaggeredKernels;

TEST_F(SlowAcousticsStaggeredKernels, SafeCpuKernelsEqualTheReferenceAtEverySize) {
    for (const char* kernel : kernels)
        for (const int dimension : {2, 3}) expect_safe_verified(kernel, dimension);
    for (const int levels : {2, 3, 4}) expect_safe_verified("step", 2, levels);
}

TEST_F(SlowAcousticsStaggeredKernels, TeamsThatMarchThroughPlanesEqualTheReference) {
    for (const int order : {4, 8, 16})
        for (int levels = 1; levels <= 4 && levels * order <= 32; ++levels) {
            const char* const media = draw(2) == 0 ? "scalar" : "array";
            const char* const absorbing = draw(2) == 0 ? "none" : "sponge";
            const char* const precision = draw(2) == 0 ? "f32" : "f64";
            for (const bool in_place : {false, true})
                expect_team_verified(fmt::format("kernel=step dimension=3 order={} media={} absorbing={} levels={} precision={}", order, media,
                                                 absorbing, levels, precision),
                                     in_place, 1 + static_cast<int>(draw(7)));
        }
}

TEST_F(SlowAcousticsStaggeredKernels, PairsOfRowsEqualTheReference) {
    for (const int order : {4, 8, 16})
        for (int levels = 2; levels <= 4 && levels * order <= 32; ++levels) expect_pairs_verified(order, levels);
}

TEST_F(SlowAcousticsStaggeredKernels, CpuKernelsKeepTheDiscreteStandingWave) {
    for (const Wave& standing : waves) expect_standing_wave(standing);
}

TEST_F(SlowAcousticsStaggeredKernels, RandomCpuConfigurationsEqualTheReference) {
    const Family& family = families().find("acoustics_staggered");
    for (const char* kernel : kernels)
        for (const int dimension : {2, 3}) {
            const Problem problem = parse(draw_kind(kernel, dimension) + " " + draw_size(dimension));
            expect_verified(family, problem, any_member(family, problem));
        }
    const Problem several = parse(draw_kind("step", 2, draw_levels()) + " " + draw_size(2));
    expect_verified(family, several, test::sample_members(*backend_, family, several, 1, random_()).back());
}

TEST_F(SlowAcousticsStaggeredKernels, EveryFormOfCudaKernelEqualsTheReferenceInTheEmulator) {
    const Family family = test::emulated(test::device_on_host(acoustics_staggered()), cuda_limits(90));
    for (const Form& form : forms) {
        const Problem problem = parse(draw_kind(form) + (form.dimension == 2 ? " nx=133 ny=37" : " nx=67 ny=7 nz=19"));
        expect_verified(family, problem, family.space(problem, {}).parse(form.text(form.points)));
    }
}

// A compiler may take a register that was never written for any other: nothing that a kernel copies
// is left to chance, even where nobody uses it.
TEST_F(SlowAcousticsStaggeredKernels, NoFormOfCudaKernelCopiesWordsThatNobodyWrote) {
    Family family = test::emulated(test::device_on_host(acoustics_staggered()), cuda_limits(90));
    family.kernel = [kernel = family.kernel](const Problem& problem, const Config& config, const Limits& limits) {
        return test::with_checked_words(kernel(problem, config, limits));
    };
    for (const Form& form : forms) {
        if (std::strstr(form.config, "shuffle") != nullptr) continue;  // warp shuffles do not take checked words
        const Problem problem = parse(draw_kind(form) + (form.dimension == 2 ? " nx=37 ny=37" : " nx=35 ny=3 nz=19"));
        expect_verified(family, problem, family.space(problem, {}).parse(form.text(form.points)));
    }
}

TEST_F(SlowAcousticsStaggeredKernels, RandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    for (const char* kernel : kernels) expect_random_emulated(kernel, 2 + static_cast<int>(draw(2)));
    expect_random_emulated("step", 2, draw_levels());
}

// What the register rule promises: a kernel within it does not live on spills (ptxas leaves up to a
// few words at the very bound).
TEST_F(SlowAcousticsStaggeredKernels, RepresentativeCudaKernelsCompileWithoutSpilling) {
    constexpr int few_bytes = 80;  // a step of order 16 in 3D, f64, with a sponge, has 76 in its only form in registers
    const Family& family = families().find("acoustics_staggered");
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const Form& form : forms)
        for (const int points : {1, 2, 4}) {
            const Problem problem = parse(draw_kind(form) + (form.dimension == 2 ? " nx=512 ny=512" : " nx=64 ny=64 nz=64"));
            const SearchSpace space = family.space(problem, cuda_limits(90));
            const Config config = space.parse(form.text(points));
            if (space.check(config)) continue;
            test::expect_few_spills(*compiler, family, problem, config, cuda_limits(90), few_bytes);
        }
}

class GpuAcousticsStaggered : public AcousticsStaggeredKernels {
  protected:
    void SetUp() override { backend_ = test::backend_or_skip("cuda", cache_); }
};

TEST_F(GpuAcousticsStaggered, EveryFormEqualsTheReference) {
    const Family& family = families().find("acoustics_staggered");
    for (const Form& form : forms)
        for (int number = 0; number < form.orders(); ++number)
            for (const int points : {1, 2, 4}) {
                const std::string size = form.dimension == 2 ? "nx=1133 ny=137" : "nx=267 ny=37 nz=39";
                const Problem problem = parse(fmt::format("kernel={} dimension={} order={} levels={} precision={} {}", form.kernel, form.dimension,
                                                          4 << number, form.levels, draw(2) == 0 ? "f32" : "f64", size));
                const SearchSpace space = family.space(problem, backend_->device().limits);
                const Config config = space.parse(form.text(points));
                if (!space.check(config)) expect_verified(family, problem, config);
            }
}

TEST_F(GpuAcousticsStaggered, RandomConfigurationsEqualTheReference) {
    const Family& family = families().find("acoustics_staggered");
    for (const char* kernel : kernels)
        for (const int dimension : {2, 3})
            for (int i = 0; i < 6; ++i) {
                const Problem problem = parse(draw_kind(kernel, dimension) + " " + draw_size(dimension));
                for (const auto& config : test::sample_members(*backend_, family, problem, 3, random_())) expect_verified(family, problem, config);
            }
    for (int i = 0; i < 6; ++i) {
        const Problem several = parse(draw_kind("step", 2, draw_levels()) + " " + draw_size(2));
        for (const auto& config : test::sample_members(*backend_, family, several, 3, random_())) expect_verified(family, several, config);
    }
}

}  // namespace
}  // namespace hone::acoustics_staggered_test::kernels_test
