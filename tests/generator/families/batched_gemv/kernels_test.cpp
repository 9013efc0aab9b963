// Compiled kernels of batched_gemv against the reference: CPU kernels as they are, CUDA kernels
// through the emulator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/batched_gemv/family.hpp"
#include "tests/generator/families/batched_gemm/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/verified.hpp"

namespace hone::batched_gemv_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({batched_gemv()});
    return table;
}

class BatchedGemvKernels : public test::KernelTest {
  protected:
    void expect_verified(Backend& backend, const Family& family, const Problem& problem, const Config& config) {
        KernelTest::expect_verified(backend, family, problem, config);
        if (problem.word("update") == "scale") {
            const test::Verification poisoned = test::verify(backend, test::with_beta_zero(family), problem, config, random_());
            EXPECT_TRUE(poisoned.passed()) << "beta = 0: " << poisoned.what << ": error " << poisoned.error << ", allowed " << poisoned.tolerance;
        }
    }

    void expect_verified_once(const Family& family, const Problem& problem, const Config& config) {
        test::verify_once(backend_->device().limits, "equals the reference, also with beta = 0", {{family, problem, config}},
                          [&] { expect_verified(*backend_, family, problem, config); });
    }

    void expect_emulated(const std::string& rest, const std::string& text) {
        const Problem problem = families().parse_problem("batched_gemv " + rest);
        const SearchSpace space = emulated_.space(problem, {});
        const Config config = space.parse(text);
        const auto rejection = space.check(config);
        ASSERT_FALSE(rejection.has_value()) << config.key() << ": " << rejection->reason;
        expect_verified_once(emulated_, problem, config);
    }

    Problem any_problem(int largest, int batch) {
        const int gap = any(0, 2) == 0 ? 5 : 0;
        return families().parse_problem(fmt::format("batched_gemv form={} x={} update={} precision={} m={} n={} batch={} gap_a={} gap_x={} gap_y={}",
                                                    any(0, 1) == 0 ? "n" : "t", any(0, 1) == 0 ? "each" : "shared", any(0, 1) == 0 ? "set" : "scale",
                                                    any(0, 1) == 0 ? "f32" : "f64", any(1, largest), any(1, largest), batch, any(0, gap), any(0, gap),
                                                    any(0, gap)));
    }

    // One for the processor, and one of CUDA.
    void expect_random_verified(int largest) {
        const Problem problem = any_problem(largest, any(1, 70));
        for (const Family& family : {families().find("batched_gemv"), emulated_})
            expect_verified(*backend_, family, problem, any_member(family, problem));
    }

    Family emulated_ = test::emulated(test::device_on_host(batched_gemv()), cuda_limits(90));
};

TEST_F(BatchedGemvKernels, CpuConfigurationsEqualTheReference) {
    const Family& family = families().find("batched_gemv");
    for (const char* rest : {"form=n m=13 n=7 update=scale batch=19", "form=t m=21 n=10 precision=f32 batch=19 gap_a=1"}) {
        const Problem problem = families().parse_problem(std::string("batched_gemv ") + rest);
        expect_verified_once(family, problem, family.space(problem, backend_->device().limits).parse("columns=4"));
    }
}

TEST_F(BatchedGemvKernels, FormsEqualTheReferenceInTheEmulator) {
    expect_emulated("form=n m=6 n=11 update=scale batch=21", "form=split_rows,width=2,matrices_per_block=4,split=4,unroll=2");
    expect_emulated("form=t m=21 n=5 update=scale batch=21", "width=1,matrices_per_block=8,split=8,threads=128,unroll=2");
    expect_emulated("form=t x=shared m=12 n=10 precision=f32 batch=7", "width=4,split=2,threads=64");
}

TEST_F(BatchedGemvKernels, RandomConfigurationsEqualTheReference) {
    expect_random_verified(any(1, 40));
}

using SlowBatchedGemvKernels = BatchedGemvKernels;

TEST_F(SlowBatchedGemvKernels, ManyRandomConfigurationsEqualTheReference) {
    for (const int largest : {4, 20, 20, 90}) expect_random_verified(largest);
}

class GpuBatchedGemv : public BatchedGemvKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(LargestExtents, GpuBatchedGemv, ::testing::Values(4, 16, 90, 512));
TEST_P(GpuBatchedGemv, RandomConfigurationsEqualTheReference) {
    const std::unique_ptr<Backend> cuda = test::backend_or_skip("cuda", cache_);
    if (!cuda) return;
    const Family& family = families().find("batched_gemv");
    for (int i = 0; i < 8; ++i) {
        const Problem problem = any_problem(GetParam(), any(1, 3000));
        for (const Config& config : test::sample_members(*cuda, family, problem, 4, random_())) expect_verified(*cuda, family, problem, config);
    }
}

}  // namespace
}  // namespace hone::batched_gemv_test::kernels_test
