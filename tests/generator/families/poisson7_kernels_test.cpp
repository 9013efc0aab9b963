// Compiled kernels of poisson7 against the reference: CPU kernels as they are, CUDA kernels through the emulator, and through NVRTC for the resources
// that they take.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <memory>
#include <random>

#include "generator/error.hpp"
#include "generator/families.hpp"
#include "generator/families/poisson7.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/library.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/verify.hpp"

namespace hone {
namespace {

const Families& families() {
    static const Families table({poisson7()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("poisson7 " + rest);
}

constexpr std::array kernels{"apply", "apply_dot", "direction", "residual"};
constexpr std::array coefficients{"scalar", "axis", "face"};
constexpr std::array boundaries{"periodic", "dirichlet", "neumann"};

// One configuration of every form, so that no part of the template is left out whatever the random ones are.
constexpr std::array cuda_forms{"staging=caches,rows_per_thread=2,load_bytes=8,block_x=32,block_y=2",
                                "staging=registers,load_bytes=8,block_x=32,block_y=4,z_block=8,once=streaming",
                                "staging=registers,load_bytes=16,block_x=64,block_y=2,z_block=16,rows_per_thread=2,planes_ahead=2",
                                "staging=shared,load_bytes=8,block_x=32,block_y=2,z_block=8,rows_per_thread=4",
                                "staging=shared,load_bytes=16,block_x=16,block_y=4,z_block=16,planes_ahead=2,once=streaming"};

class Poisson7Kernels : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    // One step over everything, and one over a range that begins and ends anywhere.
    void expect_verified(const Family& family, const Problem& problem, const Config& config) {
        const std::uint64_t seed = random_();
        const test::Verification whole = test::verify(*backend_, family, problem, config, seed);
        EXPECT_TRUE(whole.passed()) << whole.what << ": error " << whole.error << ", allowed " << whole.tolerance;
        const std::int64_t planes = family.range(problem);
        const std::int64_t first = draw(planes);
        const std::int64_t last = first + 1 + draw(planes - first);
        const test::Verification part = test::verify(*backend_, family, problem, config, seed, first, last);
        EXPECT_TRUE(part.passed()) << part.what << ": error " << part.error << ", allowed " << part.tolerance;
    }

    std::int64_t draw(std::int64_t below) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below)); }
    const char* precision() { return draw(2) == 0 ? "f32" : "f64"; }

    Config member(const Family& family, const Problem& problem) { return test::sample_members(*backend_, family, problem, 1, random_()).back(); }

    std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed) {
        return test::stepped(backend, family, problem, config, seed, 3);
    }

    test::TemporaryFolder folder_;
    DiskCache cache_{folder_.path() / "cache"};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    std::mt19937_64 random_{std::random_device{}()};
};

// The last but one has rows of whole strips, whatever they are.
constexpr std::array sizes{"nx=1 ny=1 nz=1",    "nx=1 ny=1 nz=19",   "nx=2 ny=6 nz=2",          "nx=37 ny=1 nz=3",
                           "nx=13 ny=17 nz=11", "nx=192 ny=3 nz=10", "nx=66 ny=5 nz=9 pitch=71"};

// All kernels, with coefficients, boundaries and precisions that change from run to run.
TEST_F(Poisson7Kernels, CpuKernelsEqualTheReferenceAtEverySize) {
    const Family& family = families().find("poisson7");
    std::size_t boundary = random_() % boundaries.size();
    std::size_t left_out = random_() % coefficients.size();
    for (const char* kernel : kernels) {
        left_out = (left_out + 1) % coefficients.size();
        for (const char* kind : coefficients) {
            // `apply` is `apply_dot` without the product: one kind is enough. Of the others, two a run.
            if ((kind == coefficients[left_out]) == (kernel != kernels[0])) continue;
            const std::string text = fmt::format("kernel={} coefficients={} boundary={} precision={} ", kernel, kind,
                                                 boundaries[++boundary % boundaries.size()], precision());
            const Config config = member(family, parse(text + sizes[4]));
            for (const char* size : sizes) expect_verified(family, parse(text + size), config);
        }
    }
}

// Five configurations of the processor with one and two threads, and one of CUDA: not a digit differs.
TEST_F(Poisson7Kernels, NoDigitDependsOnTheConfiguration) {
    const Family& family = families().find("poisson7");
    const Family cuda = test::emulated(poisson7(), cuda_limits(90));
    const int usual = omp_get_max_threads();
    const Problem problem = parse(fmt::format("kernel={} coefficients=axis boundary={} precision={} nx=67 ny=11 nz=21", kernels[2 + random_() % 2],
                                              boundaries[random_() % boundaries.size()], precision()));
    const std::uint64_t seed = random_();
    const std::vector<HostArray> usual_answer = stepped(*backend_, family, problem, family.space(problem, backend_->device().limits).safe(), seed);
    for (const auto& config : test::sample_members(*backend_, family, problem, 4, random_()))
        for (const int threads : {1, 2}) {
            omp_set_num_threads(threads);
            EXPECT_TRUE(test::same_bytes(usual_answer, stepped(*backend_, family, problem, config, seed)))
                << problem.key() << ' ' << config.key() << ", " << threads << " threads, seed " << seed;
        }
    omp_set_num_threads(usual);
    if (!test::rounds_once()) return;
    const Config on_cuda = cuda.space(problem, {}).parse(cuda_forms[1 + random_() % 4]);
    EXPECT_TRUE(test::same_bytes(usual_answer, stepped(*backend_, cuda, problem, on_cuda, seed)))
        << problem.key() << ' ' << on_cuda.key() << " seed " << seed;
}

using SlowPoisson7Kernels = Poisson7Kernels;

TEST_F(SlowPoisson7Kernels, EveryFormOfCudaKernelEqualsTheReferenceInTheEmulator) {
    const Family family = test::emulated(poisson7(), cuda_limits(90));
    std::size_t number = random_();
    for (const char* form : cuda_forms) {
        ++number;
        const Problem problem = parse(fmt::format("kernel={} coefficients={} boundary={} precision={} nx=133 ny=9 nz=10", kernels[1 + number % 3],
                                                  coefficients[number / 3 % 3], boundaries[number / 9 % 3], precision()));
        expect_verified(family, problem, family.space(problem, {}).parse(form));
    }
}

TEST_F(SlowPoisson7Kernels, RandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    const Family family = test::emulated(poisson7(), cuda_limits(90));
    for (int i = 0; i < 2; ++i) {
        const Problem problem =
            parse(fmt::format("kernel={} coefficients={} boundary={} precision={} {}", kernels[random_() % 4], coefficients[random_() % 3],
                              boundaries[random_() % 3], precision(), sizes[random_() % sizes.size()]));
        expect_verified(family, problem, member(family, problem));
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

class GpuPoisson7Kernels : public Poisson7Kernels {
  protected:
    void SetUp() override {
        Poisson7Kernels::SetUp();
        if (IsSkipped()) return;
        try {
            gpu_ = make_backend("cuda", cache_);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
    }

    std::unique_ptr<Backend> gpu_;
};

// On the device itself: the reference's answer, and the processor's digits, whatever the configuration.
TEST_F(GpuPoisson7Kernels, AnyConfigurationGivesTheReferencesAnswerAndTheProcessorsDigits) {
    const Family& family = families().find("poisson7");
    for (std::size_t number = 0; number < kernels.size() * coefficients.size(); ++number) {
        const Problem problem = parse(fmt::format("kernel={} coefficients={} boundary={} precision={} nx=203 ny=71 nz=67", kernels[number % 4],
                                                  coefficients[number / 4], boundaries[random_() % 3], precision()));
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
}  // namespace hone
