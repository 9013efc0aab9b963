// Compiled kernels of batched_gemm against the reference: CPU kernels as they are, CUDA kernels
// through the emulator, and through NVRTC for the resources that they take.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/batched_gemm/family.hpp"
#include "tests/generator/families/batched_gemm/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/spills.hpp"
#include "tests/support/verified.hpp"

namespace hone::batched_gemm_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({batched_gemm()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("batched_gemm " + rest);
}

class BatchedGemmKernels : public test::KernelTest {
  protected:
    std::string any_of(std::initializer_list<const char*> words) { return words.begin()[any(0, static_cast<int>(words.size()) - 1)]; }

    void expect_verified(const Family& family, const Problem& problem, const Config& config) { expect_verified(*backend_, family, problem, config); }
    void expect_verified(Backend& backend, const Family& family, const Problem& problem, const Config& config) {
        KernelTest::expect_verified(backend, family, problem, config);
        if (problem.word("update") == "scale") {
            const test::Verification poisoned = test::verify(backend, test::with_beta_zero(family), problem, config, random_());
            EXPECT_TRUE(poisoned.passed()) << "beta = 0: " << poisoned.what << ": error " << poisoned.error << ", allowed " << poisoned.tolerance;
        }
    }

    void expect_verified_once(const Family& family, const Problem& problem, const Config& config) {
        test::verify_once(backend_->device().limits, "equals the reference, also with beta = 0", {{family, problem, config}},
                          [&] { expect_verified(family, problem, config); });
    }

    // `text` leaves out what is as in the safe configuration; it must be a member, or the test
    // would test nothing.
    void expect_emulated(const std::string& rest, const std::string& text) {
        const Problem problem = parse(rest);
        const SearchSpace space = emulated_.space(problem, {});
        const Config config = space.parse(text);
        const auto rejection = space.check(config);
        ASSERT_FALSE(rejection.has_value()) << config.key() << ": " << rejection->reason;
        expect_verified_once(emulated_, problem, config);
    }

    // Any problem with matrices up to `largest`, one in three with gaps.
    Problem any_problem(int largest, int batch) {
        const int gap = any(0, 2) == 0 ? 5 : 0;
        return parse(fmt::format("form={} b={} update={} precision={} m={} n={} k={} batch={} gap_a={} gap_b={} gap_c={}",
                                 any_of({"nn", "nt", "tn", "tt"}), any_of({"each", "shared"}), any_of({"set", "scale"}), any_of({"f32", "f64"}),
                                 any(1, largest), any(1, largest), any(1, largest), batch, any(0, gap), any(0, gap), any(0, gap)));
    }

    void expect_random_emulated(int largest) {
        const Problem problem = any_problem(largest, any(1, largest < 9 ? 90 : 7));
        expect_verified(emulated_, problem, any_member(emulated_, problem));
    }

    Family emulated_ = test::emulated(test::without_batched_assembly(batched_gemm()), cuda_limits(90));
};

TEST_F(BatchedGemmKernels, SafeCpuConfigurationEqualsTheReference) {
    const Family& family = families().find("batched_gemm");
    for (const char* rest : {"m=5 n=7 k=3 batch=19", "form=tn b=shared update=scale precision=f32 m=33 n=6 k=20 batch=5 gap_c=3"}) {
        const Problem problem = parse(rest);
        expect_verified_once(family, problem, family.space(problem, backend_->device().limits).safe());
    }
}

TEST_F(BatchedGemmKernels, RandomCpuConfigurationsEqualTheReference) {
    const Family& family = families().find("batched_gemm");
    const Problem problem = any_problem(any(1, 40), any(1, 70));
    expect_verified(family, problem, any_member(family, problem));
    const Problem tiny = parse(fmt::format("form={} b={} update=scale m=3 n=2 k=3 batch=37", any_of({"nn", "tt"}), any_of({"each", "shared"})));
    expect_verified(family, tiny, family.space(tiny, backend_->device().limits).parse("form=matrices,lanes=8"));
}

// Copied rows of op(A): the first step of a kernel makes its threads' memory for them, and
// compilers differ in what they keep in registers then. Products of one row, alone and several at a
// time, with some left over. Tiles of two sizes both ways and in both orders, and partial sums of a
// k that they do not divide. Sums that are turned in place of rows, of whole and partial tiles.
TEST_F(BatchedGemmKernels, EveryWayOfRowsEqualsTheReferenceByEveryCompiler) {
    constexpr std::array<std::array<const char*, 2>, 13> members{{
        {"form=tt precision=f32 m=7 n=35 k=21 batch=53", "form=rows,lanes=8,vectors_per_tile=1,columns_per_tile=8,unroll=2"},
        {"form=tn b=shared update=scale m=8 n=10 k=10 batch=2", "form=rows,lanes=8,vectors_per_tile=1,columns_per_tile=4,unroll=4"},
        {"form=nt b=shared update=scale precision=f32 m=22 n=1 k=39 batch=8", "form=rows,lanes=4,vectors_per_tile=1,columns_per_tile=1,unroll=1"},
        {"b=shared update=scale m=1 n=19 k=9 batch=41 gap_a=2 gap_c=1", "form=rows,lanes=4,vectors_per_tile=2,columns_per_tile=6,unroll=1"},
        {"form=nt b=shared m=1 n=7 k=5 batch=3", "form=rows,lanes=2,vectors_per_tile=4,columns_per_tile=4,unroll=2"},
        {"b=shared m=1 n=6 k=5 batch=4", "form=rows,lanes=2,vectors_per_tile=3,columns_per_tile=1,unroll=2"},
        {"m=1 n=13 k=21 batch=7 gap_b=3", "form=rows,lanes=8,vectors_per_tile=2,columns_per_tile=1,unroll=1,partial_sums=4"},
        {"update=scale m=43 n=7 k=15 batch=5", "form=rows,lanes=8,vectors_per_tile=4,columns_per_tile=4,unroll=1,partial_sums=2"},
        {"update=scale m=97 n=13 k=6 batch=5", "form=rows,lanes=8,vectors_per_tile=4,columns_per_tile=2,unroll=1,prefetch=1,next_tile=m"},
        {"form=tn precision=f32 m=90 n=7 k=5 batch=9 gap_c=1",
         "form=rows,lanes=8,vectors_per_tile=3,columns_per_tile=3,unroll=2,prefetch=1,next_tile=m"},
        {"form=tn update=scale m=15 n=5 k=29 batch=11 gap_a=3", "form=dots,lanes=8,columns_per_tile=2"},
        {"form=tn b=shared precision=f32 m=37 n=3 k=16 batch=7", "form=dots,lanes=16,columns_per_tile=1"},
        {"m=1 n=21 k=18 batch=13 gap_b=1", "form=dots,lanes=4,columns_per_tile=1"},
    }};
    const Family& family = families().find("batched_gemm");
    for (const char* name : {"g++", "clang++"}) {
        const test::EnvironmentVariable compiler("HONE_CXX", name);
        const auto backend = make_cpu_backend(0, cache_);
        if (!backend->compiler().missing().empty()) continue;
        SCOPED_TRACE(backend->compiler().version());
        for (const auto& [rest, text] : members) {
            const Problem problem = parse(rest);
            expect_verified(*backend, family, problem, family.space(problem, backend->device().limits).parse(text));
        }
    }
}

TEST_F(BatchedGemmKernels, ARandomCudaConfigurationEqualsTheReferenceInTheEmulator) {
    expect_random_emulated(any(1, 24));
}

// One configuration of every form of CUDA kernel, so that no template is left out whatever the
// random ones are.
TEST_F(BatchedGemmKernels, ThreadMappingEqualsTheReferenceInTheEmulator) {
    expect_emulated("m=3 n=3 k=3 update=scale batch=83", "matrices_per_block=32,epilogue=shared");
}

TEST_F(BatchedGemmKernels, TileMappingEqualsTheReferenceInTheEmulator) {
    expect_emulated("form=tt precision=f32 m=40 n=36 k=36 batch=2", "block_m=32,block_n=16,thread_m=4,thread_n=2,chunk=8,stages=3");
}

TEST_F(BatchedGemmKernels, MatrixUnitMappingEqualsTheReferenceInTheEmulator) {
    expect_emulated("b=shared update=scale m=3 n=11 k=27 batch=21", "form=mma,matrices_per_block=8,warp_n=2,chunk=32,depth=4,epilogue=shared");
}

TEST_F(BatchedGemmKernels, StreamMappingEqualsTheReferenceInTheEmulator) {
    expect_emulated("b=shared m=3 n=40 k=7 batch=45", "form=stream,block_n=64,warp_groups=2,stages=3,batches_per_block=2");
}

TEST_F(BatchedGemmKernels, TilesOfTheRowsOfAllMatricesEqualTheReferenceInTheEmulator) {
    expect_emulated("b=shared m=27 n=17 k=40 batch=9",
                    "form=mma,matrices_per_block=1,block_m=32,block_n=32,warp_m=2,warp_n=2,chunk=16,stages=2,depth=4,tiling=rows,prefetch=1");
    // As it runs untuned: a tile has rows of many products.
    expect_emulated("form=tn b=shared m=5 n=17 k=130 batch=31", "");
}

using SlowBatchedGemmKernels = BatchedGemmKernels;

TEST_F(SlowBatchedGemmKernels, EveryKindOfThreadMappingEqualsTheReferenceInTheEmulator) {
    expect_emulated("m=2 n=2 k=2 update=scale batch=70", "matrices_per_block=64,epilogue=direct");
    expect_emulated("form=tn b=shared update=scale precision=f32 m=2 n=5 k=4 batch=45", "matrices_per_block=32,epilogue=shared");
    expect_emulated("form=nt m=3 n=1 k=2 batch=45 gap_a=1 gap_c=3", "matrices_per_block=32");
}

TEST_F(SlowBatchedGemmKernels, EveryKindOfTileMappingEqualsTheReferenceInTheEmulator) {
    expect_emulated("b=shared m=21 n=9 k=11 batch=3", "form=tile,matrices_per_block=1,thread_n=2");
    expect_emulated("b=shared update=scale m=7 n=12 k=20 batch=9",
                    "form=tile,matrices_per_block=4,thread_m=4,thread_n=4,chunk=8,stages=2,epilogue=shared");
    expect_emulated("form=tn precision=f32 m=1 n=3 k=30 batch=9", "matrices_per_block=2,thread_m=1,thread_n=1,chunk=16,epilogue=shared");
    expect_emulated("form=nt precision=f32 m=8 n=8 k=8 batch=11", "matrices_per_block=8,thread_m=4,thread_n=4");
    expect_emulated("b=shared form=tn precision=f32 m=20 n=33 k=30 batch=7",
                    "form=tile,matrices_per_block=1,batches_per_block=2,chunk=32,stages=1,epilogue=direct");
    expect_emulated("b=shared m=2 n=9 k=3 batch=70", "");
}

TEST_F(SlowBatchedGemmKernels, EveryKindOfMatrixUnitMappingEqualsTheReferenceInTheEmulator) {
    expect_emulated("update=scale m=37 n=20 k=40 batch=2", "block_m=32,warp_m=2,warp_n=2,chunk=16,stages=3,depth=8");
    expect_emulated("form=tt m=18 n=17 k=24 batch=5", "form=mma,matrices_per_block=2,block_n=32,warp_m=2,warp_n=2,chunk=32,depth=16");
    expect_emulated("form=tn b=shared m=24 n=70 k=13 batch=6", "matrices_per_block=4,block_n=128,warp_n=4,warp_m=2,chunk=16,depth=16,stages=1");
    expect_emulated("b=shared m=97 n=64 k=71 batch=2",
                    "form=mma,block_m=128,block_n=64,warp_m=3,warp_n=8,chunk=16,depth=4,stages=2,prefetch=0,min_blocks=1");
    expect_emulated("b=shared m=1 n=9 k=42 batch=70", "form=mma,matrices_per_block=32,chunk=64");
    expect_emulated("form=nt m=40 n=1 k=13 batch=9", "form=mma,chunk=16");
    expect_emulated("b=shared update=scale m=3 n=40 k=27 batch=50",
                    "form=mma,matrices_per_block=8,block_n=64,batches_per_block=4,chunk=32,stages=1,epilogue=direct");
    expect_emulated("b=shared m=3 n=20 k=27 batch=37", "");
}

TEST_F(SlowBatchedGemmKernels, EveryKindOfStreamMappingEqualsTheReferenceInTheEmulator) {
    const std::string others = "form=stream,";
    expect_emulated("form=tt b=shared update=scale m=2 n=70 k=9 batch=37 gap_a=1 gap_c=2",
                    others + "block_n=32,warp_groups=2,stages=2,batches_per_block=1");
    expect_emulated("form=tn b=shared m=1 n=16 k=36 batch=70", others + "block_n=16,warp_groups=1,stages=4,batches_per_block=4");
    expect_emulated("form=nt b=shared m=8 n=130 k=4 batch=21 gap_a=2 gap_c=4", others + "block_n=64,warp_groups=2,stages=3,batches_per_block=2");
}

TEST_F(SlowBatchedGemmKernels, EveryKindOfTilesOfTheRowsOfAllMatricesEqualsTheReferenceInTheEmulator) {
    expect_emulated(
        "b=shared form=tn update=scale m=37 n=20 k=40 batch=7",
        "form=mma,matrices_per_block=1,block_m=64,block_n=32,warp_m=2,warp_n=1,chunk=16,stages=3,depth=8,tiling=rows,prefetch=1,epilogue=shared");
    expect_emulated("b=shared form=tt m=70 n=9 k=33 batch=3 gap_a=3 gap_c=1",
                    "form=mma,matrices_per_block=1,block_m=32,warp_m=1,warp_n=1,chunk=8,stages=3,depth=8,tiling=rows");
    expect_emulated("b=shared m=5 n=30 k=12 batch=40", "form=mma,matrices_per_block=1,block_m=32,warp_m=1,warp_n=2,depth=4,tiling=rows");
    expect_emulated("b=shared form=nt precision=f32 m=40 n=36 k=36 batch=5",
                    "block_m=32,block_n=16,thread_m=4,thread_n=2,chunk=8,stages=3,tiling=rows,epilogue=shared");
    expect_emulated("update=scale m=37 n=20 k=40 batch=2", "block_m=32,warp_m=2,warp_n=2,chunk=16,stages=3,depth=8,prefetch=1");
}

TEST_F(SlowBatchedGemmKernels, ManyRandomCpuConfigurationsEqualTheReference) {
    const Family& family = families().find("batched_gemm");
    for (const int largest : {4, 12, 40, 90}) {
        const Problem problem = any_problem(largest, any(1, 70));
        expect_verified(family, problem, any_member(family, problem));
    }
}

// A few of each kind, others at every run: what this leaves out today it finds tomorrow.
TEST_F(SlowBatchedGemmKernels, ManyRandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    for (const int largest : {4, 8, 24, 24, 40, 70}) expect_random_emulated(largest);
}

// What the register rule promises: a kernel within it does not live on spills (ptxas leaves up to a
// few words at the very bound).
TEST_F(SlowBatchedGemmKernels, RepresentativeCudaKernelsCompileWithoutSpilling) {
    constexpr int few_bytes = 160;
    constexpr std::array<std::array<const char*, 2>, 13> representatives{{
        {"m=2 n=2 k=2", "matrices_per_block=256,epilogue=direct,min_blocks=4"},
        {"m=3 n=3 k=3", "matrices_per_block=128,min_blocks=4"},
        {"b=shared m=81 n=8 k=64", "form=mma,block_m=128,warp_m=1,warp_n=1,chunk=64,depth=8,epilogue=shared,min_blocks=4"},
        {"b=shared m=3 n=192 k=27", "form=mma,matrices_per_block=16,block_n=256,warp_m=1,warp_n=4,chunk=32,epilogue=shared"},
        {"b=shared m=1 n=187 k=36", ""},
        {"b=shared m=375 n=64 k=512", "block_m=128,block_n=64,warp_m=2,warp_n=4,chunk=16,stages=3,depth=8,min_blocks=2,prefetch=0"},
        {"b=shared m=375 n=64 k=512", "block_m=128,block_n=64,warp_m=4,warp_n=4,chunk=16,stages=3,depth=8,min_blocks=2,prefetch=0"},
        {"b=shared m=375 n=64 k=512", "block_m=128,block_n=64,warp_m=4,warp_n=4,chunk=8,stages=4,depth=4,min_blocks=2,tiling=rows,prefetch=1"},
        {"form=tn b=shared m=114 n=502 k=452",
         "block_m=128,block_n=64,warp_m=4,warp_n=4,chunk=16,stages=3,depth=8,min_blocks=2,tiling=rows,prefetch=1"},
        {"form=tn b=shared m=114 n=502 k=452",
         "block_m=64,block_n=64,warp_m=3,warp_n=4,chunk=16,stages=2,depth=4,min_blocks=3,tiling=rows,prefetch=1"},
        {"b=shared m=3 n=192 k=27", "form=stream,block_n=256,warp_groups=2,stages=4,min_blocks=2,batches_per_block=8"},
        {"m=300 n=411 k=200", "block_m=64,block_n=64,warp_m=2,warp_n=4,chunk=32,stages=2,depth=8,min_blocks=3"},
        {"precision=f32 m=128 n=128 k=128", "block_m=128,block_n=128,thread_m=8,thread_n=8,chunk=16,stages=3,min_blocks=2"},
    }};
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const Family& family = families().find("batched_gemm");
    for (const auto& [rest, text] : representatives) {
        const Problem problem = parse(std::string(rest) + " batch=1000");
        const SearchSpace space = family.space(problem, cuda_limits(90));
        const Config config = space.parse(text);
        SCOPED_TRACE(problem.key() + " " + config.key());
        ASSERT_FALSE(space.check(config).has_value()) << space.check(config)->reason;
        test::expect_few_spills(*compiler, family, problem, config, cuda_limits(90), few_bytes);
    }
}

class GpuBatchedGemm : public BatchedGemmKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(LargestExtents, GpuBatchedGemm, ::testing::Values(4, 16, 40, 130, 512));
TEST_P(GpuBatchedGemm, RandomConfigurationsEqualTheReference) {
    const std::unique_ptr<Backend> cuda = test::backend_or_skip("cuda", cache_);
    if (!cuda) return;
    const Family& family = families().find("batched_gemm");
    for (int i = 0; i < 8; ++i) {
        const Problem problem = any_problem(GetParam(), any(1, GetParam() < 100 ? 2000 : 40));
        for (const Config& config : test::sample_members(*cuda, family, problem, 4, random_())) expect_verified(*cuda, family, problem, config);
    }
}

}  // namespace
}  // namespace hone::batched_gemm_test::kernels_test
