// Compiled kernels of poisson7 against the reference: CPU kernels as they are, CUDA kernels through
// the emulator, and through NVRTC for the resources that they take.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <memory>
#include <random>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/poisson7/family.hpp"
#include "runtime/library.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"

namespace hone::poisson7_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({poisson7()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("poisson7 " + rest);
}

constexpr std::array kernels{"apply", "apply_dot", "direction", "residual", "direction_part", "residual_part"};
constexpr std::array coefficients{"scalar", "axis", "face"};
constexpr std::array boundaries{"periodic", "dirichlet", "neumann"};

// Configurations of every form, so that no part of the template is left out whatever the random
// ones are.
constexpr std::array cuda_forms{"form=points,block_x=64,block_y=2",
                                "form=cells,rows_per_thread=2,load_bytes=8,block_x=32,block_y=2",
                                "form=march,load_bytes=8,block_x=32,block_y=4,z_block=8,cache_hint=streaming",
                                "form=march,load_bytes=16,block_x=64,block_y=2,z_block=16,rows_per_thread=2,prefetch=2,l2_planes=2",
                                "form=shared,load_bytes=8,block_x=32,block_y=2,z_block=8,rows_per_thread=4",
                                "form=shared,load_bytes=16,block_x=16,block_y=4,z_block=16,prefetch=2,cache_hint=streaming",
                                "form=shared,load_bytes=16,block_x=16,block_y=4,z_block=16,prefetch=2,max_lead=1,l2_planes=1"};

// The last but one has rows of whole strips, whatever they are.
constexpr std::array sizes{"nx=1 ny=1 nz=1",    "nx=1 ny=1 nz=19",   "nx=2 ny=6 nz=2",          "nx=37 ny=1 nz=3",
                           "nx=13 ny=17 nz=11", "nx=192 ny=3 nz=10", "nx=66 ny=5 nz=9 pitch=71"};

class Poisson7Kernels : public test::KernelTest {
  protected:
    std::int64_t draw(std::int64_t below) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below)); }
    const char* precision() { return draw(2) == 0 ? "f32" : "f64"; }

    std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed) {
        return test::stepped(backend, family, problem, config, seed, 3);
    }

    // A random configuration of a problem that lacks its size.
    void expect_verified_at_every_size(const std::string& text) {
        const Family& family = families().find("poisson7");
        const Config config = any_member(family, parse(text + sizes[4]));
        for (const char* size : sizes) expect_verified(family, parse(text + size), config);
    }

    // Of so many of the processor, with one thread and with two, and of one of CUDA.
    void expect_no_digit_to_depend_on_the_configuration(int configurations);
};

TEST_F(Poisson7Kernels, SafeCpuKernelsEqualTheReferenceAtEverySize) {
    const Family& family = families().find("poisson7");
    std::size_t number = 0;
    for (const char* kernel : kernels)
        for (const char* kind : coefficients) {
            const std::string text = fmt::format("kernel={} coefficients={} boundary={} precision={} ", kernel, kind,
                                                 boundaries[(number + number / 3) % boundaries.size()], number % 2 == 0 ? "f32" : "f64");
            ++number;
            for (const char* size : sizes) {
                const Problem problem = parse(text + size);
                test::expect_verified_once(*backend_, family, problem, family.space(problem, backend_->device().limits).safe(), random_);
            }
        }
}

TEST_F(Poisson7Kernels, SafeCudaKernelsEqualTheReferenceInTheEmulatorAtEverySize) {
    const Family family = test::emulated(test::device_on_host(poisson7()), cuda_limits(90));
    std::size_t number = 1;
    for (const char* kernel : kernels)
        for (const char* kind : coefficients) {
            const std::string text = fmt::format("kernel={} coefficients={} boundary={} precision={} ", kernel, kind,
                                                 boundaries[(number + number / 3) % boundaries.size()], number % 2 == 0 ? "f32" : "f64");
            ++number;
            for (const char* size : sizes) {
                const Problem problem = parse(text + size);
                test::expect_verified_once(*backend_, family, problem, family.space(problem, cuda_limits(90)).safe(), random_);
            }
        }
}

TEST_F(Poisson7Kernels, EveryFormOfCudaKernelEqualsTheReferenceInTheEmulator) {
    const Family family = test::emulated(test::device_on_host(poisson7()), cuda_limits(90));
    for (std::size_t number = 0; number < cuda_forms.size(); ++number) {
        const Problem problem =
            parse(fmt::format("kernel={} coefficients={} boundary={} precision={} nx=133 ny=9 nz=10", kernels[number % kernels.size()],
                              coefficients[number % 3], boundaries[(number + 1) % 3], number % 2 == 0 ? "f64" : "f32"));
        const SearchSpace space = family.space(problem, cuda_limits(90));
        const Config config = space.parse(cuda_forms[number]);
        ASSERT_FALSE(space.check(config).has_value()) << problem.key() << ' ' << config.key();
        test::expect_verified_once(*backend_, family, problem, config, random_);
    }
}

TEST_F(Poisson7Kernels, RandomCpuConfigurationsEqualTheReferenceAtEverySize) {
    for (const char* precision : {"f32", "f64"})
        expect_verified_at_every_size(fmt::format("kernel={} coefficients={} boundary={} precision={} ", kernels[random_() % kernels.size()],
                                                  coefficients[random_() % coefficients.size()], boundaries[random_() % boundaries.size()],
                                                  precision));
}

void Poisson7Kernels::expect_no_digit_to_depend_on_the_configuration(int configurations) {
    const Family& family = families().find("poisson7");
    const Family cuda = test::emulated(test::device_on_host(poisson7()), cuda_limits(90));
    const int usual = omp_get_max_threads();
    const Problem problem = parse(fmt::format("kernel={} coefficients=axis boundary={} precision={} nx=67 ny=11 nz=21", kernels[2 + random_() % 4],
                                              boundaries[random_() % boundaries.size()], precision()));
    const std::uint64_t seed = random_();
    const std::vector<HostArray> usual_answer = stepped(*backend_, family, problem, family.space(problem, backend_->device().limits).safe(), seed);
    for (const auto& config : test::sample_members(*backend_, family, problem, configurations, random_()))
        for (const int threads : {1, 2}) {
            omp_set_num_threads(threads);
            EXPECT_TRUE(test::same_bytes(usual_answer, stepped(*backend_, family, problem, config, seed)))
                << problem.key() << ' ' << config.key() << ", " << threads << " threads, seed " << seed;
        }
    omp_set_num_threads(usual);
    if (!test::rounds_once()) return;
    const SearchSpace on_cuda = cuda.space(problem, cuda_limits(90));
    for (const Config& config : {on_cuda.safe(), on_cuda.parse(cuda_forms[random_() % cuda_forms.size()])})
        EXPECT_TRUE(test::same_bytes(usual_answer, stepped(*backend_, cuda, problem, config, seed)))
            << problem.key() << ' ' << config.key() << " seed " << seed;
}

TEST_F(Poisson7Kernels, NoDigitDependsOnTheConfiguration) {
    expect_no_digit_to_depend_on_the_configuration(1);
}

using SlowPoisson7Kernels = Poisson7Kernels;

// All kernels, with coefficients, boundaries and precisions that change from run to run.
TEST_F(SlowPoisson7Kernels, RandomCpuConfigurationsOfAllKernelsEqualTheReferenceAtEverySize) {
    std::size_t boundary = random_() % boundaries.size();
    for (const char* kernel : kernels)
        for (const char* kind : coefficients)
            expect_verified_at_every_size(fmt::format("kernel={} coefficients={} boundary={} precision={} ", kernel, kind,
                                                      boundaries[++boundary % boundaries.size()], precision()));
}

TEST_F(SlowPoisson7Kernels, NoDigitDependsOnManyConfigurations) {
    expect_no_digit_to_depend_on_the_configuration(4);
}

TEST_F(SlowPoisson7Kernels, EveryFormOfCudaKernelEqualsTheReferenceInTheEmulator) {
    const Family family = test::emulated(test::device_on_host(poisson7()), cuda_limits(90));
    std::size_t number = random_();
    for (const char* form : cuda_forms) {
        ++number;
        const Problem problem = parse(fmt::format("kernel={} coefficients={} boundary={} precision={} nx=133 ny=9 nz=10", kernels[1 + number % 5],
                                                  coefficients[number / 5 % 3], boundaries[number / 15 % 3], precision()));
        expect_verified(family, problem, family.space(problem, cuda_limits(90)).parse(form));
    }
}

TEST_F(SlowPoisson7Kernels, RandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    const Family family = test::emulated(test::device_on_host(poisson7()), cuda_limits(90));
    for (int i = 0; i < 2; ++i) {
        const Problem problem =
            parse(fmt::format("kernel={} coefficients={} boundary={} precision={} {}", kernels[random_() % kernels.size()],
                              coefficients[random_() % 3], boundaries[random_() % 3], precision(), sizes[random_() % sizes.size()]));
        expect_verified(family, problem, any_member(family, problem));
    }
}

// What the register rule promises: a kernel within it does not live on spills.
TEST_F(SlowPoisson7Kernels, RepresentativeCudaKernelsCompileWithoutSpilling) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Family& family = families().find("poisson7");
    const Limits limits = cuda_limits(90);
    for (const char* form : cuda_forms)
        for (const char* kernel : {"apply_dot", "residual"}) {
            const Problem problem = parse(fmt::format("kernel={} coefficients={} boundary={} precision={} nx=512 ny=512 nz=512", kernel,
                                                      coefficients[random_() % 3], boundaries[random_() % 3], precision()));
            const Config config = family.space(problem, limits).parse(form);
            test::expect_few_spills(*compiler, family, problem, config, limits, 0);
        }
}

using GpuPoisson7Kernels = test::OnGpu<Poisson7Kernels>;

// On the device itself: the reference's answer, and the processor's digits, whatever the
// configuration.
TEST_F(GpuPoisson7Kernels, AnyConfigurationGivesTheReferencesAnswerAndTheProcessorsDigits) {
    const Family& family = families().find("poisson7");
    for (std::size_t number = 0; number < kernels.size() * coefficients.size(); ++number) {
        const Problem problem =
            parse(fmt::format("kernel={} coefficients={} boundary={} precision={} nx=203 ny=71 nz=67", kernels[number % kernels.size()],
                              coefficients[number / kernels.size()], boundaries[random_() % 3], precision()));
        const std::uint64_t seed = random_();
        const auto on_processor = stepped(*backend_, family, problem, family.space(problem, backend_->device().limits).safe(), seed);
        for (const auto& config : test::sample_members(*gpu_, family, problem, 4, random_())) {
            const test::Verification answer = test::verify(*gpu_, family, problem, config, seed);
            EXPECT_TRUE(answer.passed()) << answer.what << ": error " << answer.error << ", allowed " << answer.tolerance;
            if (!test::rounds_once()) continue;
            EXPECT_TRUE(test::same_bytes(on_processor, stepped(*gpu_, family, problem, config, seed))) << answer.what;
        }
    }
}

}  // namespace
}  // namespace hone::poisson7_test::kernels_test
