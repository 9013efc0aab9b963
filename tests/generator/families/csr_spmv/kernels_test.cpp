// Compiled kernels of csr_spmv against the reference: CPU kernels as they are, CUDA kernels through
// the emulator, and through NVRTC for the resources that they take.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <memory>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "runtime/library.hpp"
#include "tests/generator/families/csr_spmv/rows.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"

namespace hone::csr_spmv_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({csr_spmv()});
    return table;
}

// One configuration of every form: a thread per row, groups of threads with whole chunks or parts
// of them to a warp, a warp per row.
constexpr std::array cuda_forms{"threads_per_row=1,rows_per_group=1,threads=64,loads_in_flight=4",
                                "threads_per_row=2,rows_per_group=1,threads=128,loads_in_flight=8",
                                "threads_per_row=8,rows_per_group=8,threads=64,loads_in_flight=2,cache_hint=streaming",
                                "threads_per_row=8,rows_per_group=2,threads=128,loads_in_flight=8",
                                "threads_per_row=32,rows_per_group=8,threads=128,loads_in_flight=1",
                                "threads_per_row=32,rows_per_group=32,threads=64,loads_in_flight=2"};

class CsrSpmvKernels : public test::KernelTest {
  protected:
    const char* precision() { return any(0, 1) == 0 ? "f32" : "f64"; }
    const char* vectors() { return any(0, 1) == 0 ? "split" : "interleaved"; }
    const char* kernel() { return any(0, 1) == 0 ? "apply" : "apply_dot"; }

    Config parsed(const Family& family, const Problem& problem, const char* text) {
        const SearchSpace space = family.space(problem, backend_->device().limits);
        Config config = space.parse(text);
        const auto rejection = space.check(config);
        EXPECT_FALSE(rejection.has_value()) << config.key() << ": " << rejection->reason;
        return config;
    }

    // A problem of these row lengths; kernel, vectors, precision and number of components are
    // drawn.
    Problem problem_of(const std::vector<int>& lengths, int components) {
        const int entries = std::max(1, std::accumulate(lengths.begin(), lengths.end(), 0));
        return families().parse_problem(fmt::format("csr_spmv kernel={} components={} vectors={} precision={} rows={} entries={}", kernel(),
                                                    components, vectors(), precision(), lengths.size(), entries));
    }

    // Empty rows, a row a hundred times longer than others, and, beside these, rows of up to 40
    // entries.
    std::vector<int> mixed_rows(int rows) {
        std::vector<int> lengths;
        for (int row = 0; row < rows; ++row) lengths.push_back(any(0, 5) == 0 ? 0 : any(1, std::min(rows, 40)));
        lengths[static_cast<std::size_t>(any(0, rows - 1))] = rows;
        return lengths;
    }

    std::vector<HostArray> stepped(Backend& backend, const Family& family, const Problem& problem, const Config& config, std::uint64_t seed) {
        return test::stepped(backend, family, problem, config, seed, 1);
    }

    // Of so many of the processor, with one thread and with two, and of one of CUDA.
    void expect_no_digit_to_depend_on_the_configuration(int configurations);

    Family emulated_ = test::emulated(csr_spmv(), cuda_limits(90));
};

TEST_F(CsrSpmvKernels, CpuKernelsEqualTheReferenceForAllKindsOfRows) {
    const Family& family = families().find("csr_spmv");
    const Problem any_problem = problem_of({1}, any(1, 3));
    const Config config = test::sample_members(*backend_, family, any_problem, 1, random_()).back();
    // One row; one that is empty; primes; a chunk and a row; a row that is as long as the matrix is
    // wide.
    for (const auto& lengths : {std::vector<int>{1}, {0}, {3, 0, 2}, mixed_rows(33), mixed_rows(211), std::vector<int>(64, 32)}) {
        const Problem problem = problem_of(lengths, static_cast<int>(any_problem.integer("components")));
        expect_verified(*backend_, test::with_rows(family, lengths), problem, config);
    }
}

TEST_F(CsrSpmvKernels, CudaFormsEqualTheReferenceInTheEmulator) {
    const std::vector<int> lengths = mixed_rows(97);
    const char* const form = cuda_forms[static_cast<std::size_t>(any(0, cuda_forms.size() - 1))];
    const Problem problem = problem_of(lengths, form == cuda_forms[0] ? 1 : any(1, 3));
    expect_verified(*backend_, test::with_rows(emulated_, lengths), problem, parsed(emulated_, problem, form));
}

void CsrSpmvKernels::expect_no_digit_to_depend_on_the_configuration(int configurations) {
    const Family& family = families().find("csr_spmv");
    const Problem problem = families().parse_problem(
        fmt::format("csr_spmv kernel=apply_dot components={} vectors={} precision={} rows=1303 entries=60001", any(2, 3), vectors(), precision()));
    const std::uint64_t seed = random_();
    const std::vector<HostArray> usual = stepped(*backend_, family, problem, family.space(problem, backend_->device().limits).safe(), seed);
    const int threads_before = omp_get_max_threads();
    for (const auto& config : test::sample_members(*backend_, family, problem, configurations, random_()))
        for (const int threads : {1, 2}) {
            omp_set_num_threads(threads);
            EXPECT_TRUE(test::same_bytes(usual, stepped(*backend_, family, problem, config, seed)))
                << problem.key() << ' ' << config.key() << ", " << threads << " threads, seed " << seed;
        }
    omp_set_num_threads(threads_before);
    if (!test::rounds_once()) return;
    const Config on_cuda = parsed(emulated_, problem, cuda_forms[static_cast<std::size_t>(any(2, cuda_forms.size() - 1))]);
    EXPECT_TRUE(test::same_bytes(usual, stepped(*backend_, emulated_, problem, on_cuda, seed)))
        << problem.key() << ' ' << on_cuda.key() << " seed " << seed;
}

TEST_F(CsrSpmvKernels, NoDigitDependsOnTheConfiguration) {
    expect_no_digit_to_depend_on_the_configuration(1);
}

using SlowCsrSpmvKernels = CsrSpmvKernels;

TEST_F(SlowCsrSpmvKernels, NoDigitDependsOnManyConfigurations) {
    expect_no_digit_to_depend_on_the_configuration(3);
}

TEST_F(SlowCsrSpmvKernels, EveryCudaFormAndRandomOnesEqualTheReferenceInTheEmulator) {
    for (const char* form : cuda_forms) {
        const std::vector<int> lengths = mixed_rows(any(1, 300));
        const Problem problem = problem_of(lengths, form == cuda_forms[0] ? 1 : any(1, 3));
        expect_verified(*backend_, test::with_rows(emulated_, lengths), problem, parsed(emulated_, problem, form));
    }
    for (int i = 0; i < 4; ++i) {
        const std::vector<int> lengths = mixed_rows(any(1, 300));
        const Problem problem = problem_of(lengths, any(1, 3));
        expect_verified(*backend_, test::with_rows(emulated_, lengths), problem, any_member(emulated_, problem));
    }
}

TEST_F(SlowCsrSpmvKernels, RandomCpuConfigurationsEqualTheReference) {
    const Family& family = families().find("csr_spmv");
    for (int i = 0; i < 4; ++i) {
        const std::vector<int> lengths = mixed_rows(any(1, 1000));
        const Problem problem = problem_of(lengths, any(1, 3));
        expect_verified(*backend_, test::with_rows(family, lengths), problem, any_member(family, problem));
    }
}

// What the register rule promises: a kernel within it does not live on spills.
TEST_F(SlowCsrSpmvKernels, CudaKernelsCompileWithoutSpilling) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Family& family = families().find("csr_spmv");
    const Limits limits = cuda_limits(90);
    for (const char* form : cuda_forms) {
        const Problem problem = families().parse_problem(fmt::format(
            "csr_spmv kernel=apply_dot components={} vectors={} precision=f64 rows=35937 entries=2146689", form == cuda_forms[0] ? 1 : 3, vectors()));
        const Config config = family.space(problem, limits).parse(form);
        test::expect_few_spills(*compiler, family, problem, config, limits, 0);
    }
}

using GpuCsrSpmvKernels = test::OnGpu<CsrSpmvKernels>;

// On the device itself: the reference's answer, and the processor's digits, whatever the
// configuration.
TEST_F(GpuCsrSpmvKernels, RandomConfigurationsGiveTheReferencesAnswerAndTheProcessorsDigits) {
    const Family& family = families().find("csr_spmv");
    for (int i = 0; i < 4; ++i) {
        const std::vector<int> lengths = mixed_rows(any(1, 5000));
        const Problem problem = problem_of(lengths, any(1, 3));
        const Family of_rows = test::with_rows(family, lengths);
        const std::uint64_t seed = random_();
        const auto on_processor = stepped(*backend_, of_rows, problem, family.space(problem, backend_->device().limits).safe(), seed);
        for (const auto& config : test::sample_members(*gpu_, family, problem, 6, random_())) {
            expect_verified(*gpu_, of_rows, problem, config);
            if (!test::rounds_once()) continue;
            EXPECT_TRUE(test::same_bytes(on_processor, stepped(*gpu_, of_rows, problem, config, seed))) << problem.key() << ' ' << config.key();
        }
    }
}

}  // namespace
}  // namespace hone::csr_spmv_test::kernels_test
