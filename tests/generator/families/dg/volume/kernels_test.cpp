// Compiled kernels of dg_volume against the reference: CPU kernels as they are, CUDA kernels
// through the emulator, and through NVRTC for the resources that they take.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/dg/volume/family.hpp"
#include "tests/generator/families/dg/volume/on_host.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/spills.hpp"
#include "tests/support/verified.hpp"

namespace hone::dg_volume_test::kernels_test {
namespace {

const Families& families() {
    static const Families table({dg_volume()});
    return table;
}

Problem parse(const std::string& rest) {
    return families().parse_problem("dg_volume " + rest);
}

class DgVolumeKernels : public test::KernelTest {
  protected:
    // A random CPU configuration, at sizes below, at and beyond a block.
    void expect_cpu_configuration_verified(const char* equation, int order, const char* precision) {
        const Family& family = families().find("dg_volume");
        const auto at = [&](int elements) {
            return parse(fmt::format("equation={} order={} precision={} elements={}", equation, order, precision, elements));
        };
        const Config config = any_member(family, at(1));
        for (const int elements : {1, 2, 71}) expect_verified(*backend_, family, at(elements), config);
    }

    // A random CUDA configuration that keeps rows of the operator in registers: of an order that
    // has room for them.
    void expect_rows_in_registers_verified(int order);

    // `text` leaves out what is as in the safe configuration; it must be a member, or the test
    // would test nothing.
    void expect_emulated(const std::string& rest, const std::string& text) {
        const Family family = test::emulated(test::without_assembly(dg_volume()), cuda_limits(90));
        const Problem problem = parse(rest);
        const SearchSpace space = family.space(problem, {});
        const Config config = space.parse(text);
        const auto rejection = space.check(config);
        ASSERT_FALSE(rejection.has_value()) << config.key() << ": " << rejection->reason;
        test::expect_verified_once(*backend_, family, problem, config, random_);
    }
};

TEST_F(DgVolumeKernels, SafeCpuConfigurationEqualsTheReference) {
    for (const char* rest : {"equation=maxwell_3d order=2 precision=f64 elements=19", "equation=acoustics_3d order=5 precision=f32 elements=11"}) {
        const Problem problem = parse(rest);
        const Family& family = families().find("dg_volume");
        test::expect_verified_once(*backend_, family, problem, family.space(problem, backend_->device().limits).safe(), random_);
    }
}

TEST_F(DgVolumeKernels, BoundTeamEqualsTheReference) {
    const Family& family = families().find("dg_volume");
    const Problem problem = parse("equation=acoustics_3d order=2 precision=f32 elements=45");
    Limits limits = backend_->device().limits;
    limits.multiprocessors = 16;  // so that the space has every team
    Family every_team = family;
    every_team.space = [&](const Problem& of, const Limits&) { return family.space(of, limits); };
    const Config config = family.space(problem, limits).parse("rows_per_tile=2,threads=half,binding=close");
    test::expect_verified_once(*backend_, every_team, problem, config, random_);
}

// With parts and without, at sizes below, at and beyond a vector of elements; order 1
// in 2D has fewer words than the widest vector.
TEST_F(DgVolumeKernels, CpuFormsEqualTheReference) {
    const Family& family = families().find("dg_volume");
    for (const char* config :
         {"basis=parity,algebra=cartesian,rows_per_tile=1", "basis=nodal,rows_per_tile=3", "basis=double_parity,rows_per_tile=2"})
        for (const int elements : {1, 16, 71}) {
            const Problem problem = parse(fmt::format("equation=maxwell_3d order=3 precision=f64 elements={}", elements));
            test::expect_verified_once(*backend_, family, problem, family.space(problem, backend_->device().limits).parse(config), random_);
        }
    const Problem flat = parse("equation=maxwell_2d_tm order=1 precision=f32 elements=37");
    test::expect_verified_once(*backend_, family, flat, family.space(flat, backend_->device().limits).parse("basis=parity"), random_);
}

constexpr std::array equations{"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"};

TEST_F(DgVolumeKernels, RandomCpuConfigurationsEqualTheReference) {
    for (const char* precision : {"f32", "f64"})
        expect_cpu_configuration_verified(equations[random_() % equations.size()], 1 + static_cast<int>(random_() % 10), precision);
}

class SlowDgVolumeCpuKernels : public DgVolumeKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, SlowDgVolumeCpuKernels, ::testing::Range(1, 11));
TEST_P(SlowDgVolumeCpuKernels, EqualTheReference) {
    for (const char* equation : equations)
        for (const char* precision : {"f32", "f64"}) expect_cpu_configuration_verified(equation, GetParam(), precision);
}

// One configuration of every form of CUDA kernel, so that no template is left out whatever the
// random ones are.
TEST_F(DgVolumeKernels, ElementFormEqualsTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=2 precision=f32 elements=37", "form=element,elements_per_block=32,copy_width=4");
    expect_emulated("equation=maxwell_3d order=1 precision=f64 elements=37",
                    "form=element,elements_per_block=32,copy_width=1,algebra=cartesian,padding=0");
    expect_emulated("equation=acoustics_3d order=2 precision=f32 elements=37", "form=element,elements_per_block=32,copy_width=4");
    expect_emulated("equation=maxwell_2d_tm order=4 precision=f32 elements=37", "form=element,elements_per_block=32,copy_width=1");
    expect_emulated("equation=maxwell_2d_tm order=3 precision=f64 elements=37", "form=element,elements_per_block=32,copy_width=2,algebra=cartesian");
}

// Copies of elements, whose rows are padded or not, and across elements with an odd number of
// words; elements beyond the last one.
TEST_F(DgVolumeKernels, ElementFormOfPartsEqualsTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_2d_tm order=7 precision=f32 elements=37",
                    "form=element_parity,elements_per_block=32,copy_width=4,min_blocks=8");
    expect_emulated("equation=maxwell_2d_tm order=8 precision=f32 elements=37",
                    "form=element_parity,elements_per_block=32,copy_width=4,min_blocks=6");
    expect_emulated("equation=maxwell_2d_tm order=10 precision=f32 elements=67", "form=element_parity,elements_per_block=64,copy_width=4");
    expect_emulated("equation=maxwell_2d_tm order=6 precision=f64 elements=37", "form=element_parity,elements_per_block=32,copy_width=1");
    expect_emulated("equation=maxwell_2d_tm order=1 precision=f64 elements=5", "form=element_parity,elements_per_block=32,copy_width=2");
}

TEST_F(DgVolumeKernels, TileFormEqualsTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=2 precision=f32 elements=13", "");
    expect_emulated("equation=maxwell_3d order=4 precision=f32 elements=21",
                    "elements_per_block=16,elements_per_thread=2,nodes_per_thread=2,unroll=4,operator=shared");
    expect_emulated("equation=acoustics_3d order=5 precision=f32 elements=9",
                    "algebra=cartesian,elements_per_block=8,nodes_per_thread=8,unroll=2,operator=staged,padding=0");
    expect_emulated("equation=maxwell_3d order=5 precision=f64 elements=9", "elements_per_block=8,nodes_per_thread=2,unroll=2,operator=staged");
    expect_emulated("equation=maxwell_2d_tm order=3 precision=f32 elements=13", "");
    expect_emulated("equation=maxwell_2d_tm order=8 precision=f64 elements=13",
                    "algebra=cartesian,elements_per_block=8,nodes_per_thread=4,unroll=2,operator=staged");
    expect_emulated("equation=maxwell_2d_tm order=5 precision=f32 elements=37", "form=rows,elements_per_block=16,elements_per_thread=4,unroll=2");
    // The same with the curls one after the other: each pass brings its own fields, and its
    // operator where that is staged.
    expect_emulated("equation=maxwell_3d order=5 precision=f32 elements=9",
                    "fields_per_pass=3,elements_per_block=8,nodes_per_thread=4,elements_per_thread=2,operator=staged");
    expect_emulated("equation=maxwell_3d order=3 precision=f64 elements=21",
                    "fields_per_pass=3,elements_per_block=16,algebra=cartesian,operator=shared");
}

// Even and odd parts, and nodal values; elements beyond the last one.
TEST_F(DgVolumeKernels, TilesOfWarpsEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=4 precision=f32 elements=21",
                    "form=warp_tile,basis=parity,elements_per_block=16,nodes_per_thread=4,elements_per_thread=1,node_lanes=2,unroll=4,copy_width=2");
    expect_emulated(
        "equation=maxwell_3d order=6 precision=f32 elements=9",
        "form=warp_tile,basis=double_parity,elements_per_block=8,nodes_per_thread=4,elements_per_thread=1,node_lanes=4,unroll=4,copy_width=4");
    expect_emulated("equation=acoustics_3d order=5 precision=f64 elements=9",
                    "form=warp_tile,basis=parity,operator=shared,elements_per_block=8,nodes_per_thread=2,elements_per_thread=1,node_lanes=4,unroll=2,"
                    "copy_width=2");
    expect_emulated(
        "equation=maxwell_2d_tm order=8 precision=f32 elements=13",
        "form=warp_tile,basis=parity,parts=apart,elements_per_block=16,nodes_per_thread=2,elements_per_thread=2,node_lanes=4,unroll=2,copy_width=1");
    expect_emulated("equation=maxwell_3d order=5 precision=f32 elements=9",
                    "form=warp_tile,basis=nodal,elements_per_block=8,nodes_per_thread=4,elements_per_thread=2,node_lanes=8,unroll=4,copy_width=4");
}

void DgVolumeKernels::expect_rows_in_registers_verified(int order) {
    const Family family = test::emulated(test::without_assembly(dg_volume()), cuda_limits(90));
    const bool maxwell = random_() % 2 == 0;
    const bool f64 = order < 4 && random_() % 2 == 0;  // f64 rows of order 4 need more registers than a thread has
    const Problem problem =
        parse(fmt::format("equation={} order={} precision={} elements=37", maxwell ? "maxwell_3d" : "acoustics_3d", order, f64 ? "f64" : "f32"));
    const Config config = family.space(problem, {})
                              .parse(fmt::format("form=rows,elements_per_block=16,elements_per_thread={},unroll={},fields_per_pass={},algebra={}",
                                                 random_() % 2 == 0 ? 2 : 4, random_() % 2 == 0 ? 1 : 2,
                                                 !maxwell             ? 4
                                                 : random_() % 2 == 0 ? 6
                                                                      : 3,
                                                 f64 ? "covariant" : "cartesian"));
    const auto rejection = family.space(problem, {}).check(config);
    ASSERT_FALSE(rejection.has_value()) << config.key() << ": " << rejection->reason;
    expect_verified(*backend_, family, problem, config);
}

TEST_F(DgVolumeKernels, RowsInRegistersEqualTheReferenceInTheEmulator) {
    expect_rows_in_registers_verified(1 + static_cast<int>(random_() % 4));
}

class SlowDgVolumeRegisters : public DgVolumeKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, SlowDgVolumeRegisters, ::testing::Range(1, 5));
TEST_P(SlowDgVolumeRegisters, RowsInRegistersEqualTheReferenceInTheEmulator) {
    expect_rows_in_registers_verified(GetParam());
}

TEST_F(DgVolumeKernels, MatrixUnitFormEqualsTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=4 precision=f64 elements=11", "form=mma,elements_per_block=16,groups_per_warp=2,unroll=2");
    expect_emulated("equation=maxwell_3d order=4 precision=f64 elements=37", "form=mma,fields_per_pass=3,elements_per_block=32,groups_per_warp=4");
    expect_emulated("equation=acoustics_3d order=4 precision=f64 elements=11", "form=mma,elements_per_block=16,algebra=cartesian");
}

TEST_F(DgVolumeKernels, ThreeTermsOfTf32EqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=3 precision=f32 arithmetic=f32_accurate elements=11",
                    "form=tf32,fields_per_pass=3,elements_per_block=16,groups_per_warp=2,unroll=2");
}

TEST_F(DgVolumeKernels, MatrixUnitsWithoutTilesOfZerosEqualTheReferenceInTheEmulator) {
    expect_emulated("equation=maxwell_3d order=5 precision=f64 elements=11", "form=mma,operator=nonzero,elements_per_block=8,unroll=2");
}

class DgVolumeTf32 : public DgVolumeKernels {
  protected:
    // The gate in front of every record: what one term makes is no f32, and verification says so.
    void expect_one_term_refused(int order) {
        const Problem problem = parse(fmt::format("equation=maxwell_3d order={} precision=f32 arithmetic=f32_accurate elements=5", order));
        const Family three_terms = test::emulated(test::without_assembly(dg_volume()), cuda_limits(90));
        const Family one_term = test::emulated(test::without_assembly(dg_volume(), test::Tf32::one_term), cuda_limits(90));
        const Config config = three_terms.space(problem, {}).parse("form=tf32,elements_per_block=8");
        test::verify_once({}, "three terms pass, one is refused", {{three_terms, problem, config}, {one_term, problem, config}}, [&] {
            const std::uint64_t seed = random_();
            const test::Verification three = test::verify(*backend_, three_terms, problem, config, seed);
            EXPECT_LT(three.error, three.tolerance / 4) << three.what;
            const test::Verification one = test::verify(*backend_, one_term, problem, config, seed);
            EXPECT_FALSE(one.passed()) << one.what << ": error " << one.error << ", allowed " << one.tolerance;
            EXPECT_EQ(one.tolerance, three.tolerance);
        });
    }
};
TEST_F(DgVolumeTf32, OneTermAloneIsRefused) {
    expect_one_term_refused(4);
}

using SlowDgVolumeTf32 = DgVolumeTf32;
TEST_F(SlowDgVolumeTf32, OneTermAloneIsRefusedAtHighOrders) {
    expect_one_term_refused(8);
}

using SlowDgVolumeKernels = DgVolumeKernels;
TEST_F(SlowDgVolumeKernels, MatrixUnitsServeEveryEquationAndPrecision) {
    expect_emulated("equation=maxwell_3d order=5 precision=f32 arithmetic=f32_accurate elements=37",
                    "form=tf32,elements_per_block=32,groups_per_warp=4");
    expect_emulated("equation=acoustics_3d order=4 precision=f32 arithmetic=f32_accurate elements=11",
                    "form=tf32,elements_per_block=16,algebra=cartesian");
    expect_emulated("equation=maxwell_2d_tm order=6 precision=f32 arithmetic=f32_accurate elements=11", "form=tf32");
    expect_emulated("equation=maxwell_2d_tm order=8 precision=f64 elements=11", "form=mma,algebra=cartesian");
    expect_emulated("equation=maxwell_2d_tm order=9 precision=f64 elements=11", "form=mma,operator=nonzero");
    expect_emulated("equation=maxwell_2d_tm order=6 precision=f64 elements=11", "form=mma,elements_per_block=16");
    expect_emulated("equation=acoustics_3d order=6 precision=f32 arithmetic=f32_accurate elements=21",
                    "form=tf32,operator=nonzero,fields_per_pass=4,elements_per_block=16,groups_per_warp=2");
}

// A few of each kind, others at every run: what this leaves out today it finds tomorrow.
TEST_F(SlowDgVolumeKernels, RandomCudaConfigurationsEqualTheReferenceInTheEmulator) {
    const Family family = test::emulated(test::without_assembly(dg_volume()), cuda_limits(90));
    for (const char* equation : {"maxwell_3d", "acoustics_3d"})
        for (const char* precision : {"f32", "f64"}) {
            const Problem problem = parse(fmt::format("equation={} order={} precision={} elements=5", equation, 1 + random_() % 5, precision));
            expect_verified(*backend_, family, problem, any_member(family, problem));
        }
}

// What the register rule promises: a kernel within it does not live on spills (ptxas leaves up to a
// few words at the very bound).
TEST_F(SlowDgVolumeKernels, RepresentativeCudaKernelsCompileWithoutSpilling) {
    constexpr int few_bytes = 160;
    struct Representative {
        const char* problem;
        const char* config;
    };
    constexpr std::array representatives{
        Representative{"maxwell_3d order=1 precision=f32", "form=element,elements_per_block=64,copy_width=4,min_blocks=4"},
        Representative{"maxwell_3d order=3 precision=f32", "form=element,elements_per_block=64,copy_width=4,min_blocks=3"},
        Representative{"acoustics_3d order=2 precision=f64", "form=element,elements_per_block=32,copy_width=2"},
        Representative{"maxwell_3d order=3 precision=f64", "form=element,elements_per_block=32,copy_width=2"},
        Representative{"maxwell_3d order=2 precision=f32", ""},
        Representative{"maxwell_2d_tm order=7 precision=f32", "form=element,elements_per_block=64,copy_width=4"},
        Representative{"maxwell_2d_tm order=10 precision=f32", "form=element_parity,elements_per_block=32,copy_width=4,min_blocks=4"},
        Representative{"maxwell_2d_tm order=8 precision=f64", "form=element_parity,elements_per_block=32,copy_width=2,min_blocks=1"},
        Representative{"maxwell_2d_tm order=10 precision=f64", ""},
        Representative{"maxwell_3d order=10 precision=f64", ""},
        Representative{"maxwell_3d order=3 precision=f32", "form=rows,elements_per_block=32,elements_per_thread=4,unroll=4,min_blocks=2"},
        Representative{"acoustics_3d order=2 precision=f64", "form=rows,elements_per_block=64,elements_per_thread=4,unroll=2"},
        Representative{"maxwell_3d order=4 precision=f32", "form=rows,elements_per_block=16,elements_per_thread=2"},
        Representative{"maxwell_3d order=3 precision=f64",
                       "form=rows,fields_per_pass=3,elements_per_block=32,elements_per_thread=4,algebra=cartesian"},
        Representative{"maxwell_3d order=8 precision=f32",
                       "fields_per_pass=3,elements_per_block=32,nodes_per_thread=8,elements_per_thread=4,operator=staged"},
        Representative{"maxwell_3d order=7 precision=f64", "form=mma,fields_per_pass=3,elements_per_block=32,groups_per_warp=4"},
        Representative{"maxwell_3d order=7 precision=f32", "elements_per_block=16,elements_per_thread=2,unroll=4,operator=staged"},
        Representative{"maxwell_3d order=10 precision=f32", "elements_per_block=16,nodes_per_thread=8,elements_per_thread=2,unroll=2"},
        Representative{"acoustics_3d order=8 precision=f32", "elements_per_block=16,elements_per_thread=2,unroll=2,algebra=cartesian"},
        Representative{"maxwell_3d order=4 precision=f64", "form=mma,elements_per_block=16,min_blocks=2"},
        Representative{"maxwell_3d order=10 precision=f64", "form=mma,elements_per_block=16"},
        Representative{"acoustics_3d order=7 precision=f64", "form=mma,elements_per_block=16,groups_per_warp=2"},
        Representative{"maxwell_3d order=7 precision=f32 arithmetic=f32_accurate", "form=tf32,elements_per_block=32,groups_per_warp=4"},
        Representative{"acoustics_3d order=3 precision=f32 arithmetic=f32_accurate",
                       "form=tf32,elements_per_block=16,groups_per_warp=2,unroll=4,min_blocks=3"},
        Representative{"maxwell_3d order=10 precision=f64", "form=mma,operator=nonzero,elements_per_block=8,unroll=2"},
        Representative{"maxwell_3d order=7 precision=f32 arithmetic=f32_accurate",
                       "form=tf32,operator=nonzero,elements_per_block=16,groups_per_warp=2,unroll=2"},
        Representative{"maxwell_2d_tm order=8 precision=f64", "form=mma,elements_per_block=16,groups_per_warp=2,unroll=2"},
    };
    const Family& family = families().find("dg_volume");
    for (const int architecture : {80, 90, 100}) {
        std::unique_ptr<Compiler> compiler;
        try {
            compiler = make_nvrtc_compiler(fmt::format("sm_{}", architecture), cache_);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
        for (std::size_t i = 0; i < representatives.size(); i += architecture == 90 ? 1 : 3) {
            const auto& [rest, text] = representatives[i];
            const Limits limits = cuda_limits(architecture);
            const Problem problem = parse(fmt::format("equation={} elements=1000", rest));
            if (architecture < 90 && std::string(text).find("mma") != std::string::npos) continue;  // the instruction came with sm_90
            const SearchSpace space = family.space(problem, limits);
            const Config config = space.parse(text);
            const auto rejection = space.check(config);
            ASSERT_FALSE(rejection.has_value()) << config.key() << ": " << rejection->reason;
            test::expect_few_spills(*compiler, family, problem, config, limits, few_bytes);
        }
    }
}

class GpuDgVolume : public DgVolumeKernels, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, GpuDgVolume, ::testing::Range(1, 11));
TEST_P(GpuDgVolume, RandomConfigurationsEqualTheReference) {
    const std::unique_ptr<Backend> cuda = test::backend_or_skip("cuda", cache_);
    if (!cuda) return;
    const Family& family = families().find("dg_volume");
    for (const char* equation : {"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"})
        for (const char* precision : {"f32", "f64"}) {
            const auto at = [&](int elements) {
                return parse(fmt::format("equation={} order={} precision={} elements={}", equation, GetParam(), precision, elements));
            };
            for (const auto& config : test::sample_members(*cuda, family, at(1), 6, random_()))
                for (const int elements : {1, 2, 4099}) expect_verified(*cuda, family, at(elements), config);
        }
}

}  // namespace
}  // namespace hone::dg_volume_test::kernels_test
