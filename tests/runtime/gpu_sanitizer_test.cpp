// One small configuration of every form of kernel, per family and precision: what compute-sanitizer
// runs over (benchmarks/measure sanitize).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/verify.hpp"

namespace hone::gpu_sanitizer_test {
namespace {

// By family, so that families can be checked by processes side by side; precisions are put in. One
// problem that is f32 alone says so.
const std::map<std::string, std::vector<std::string>>& problems_by_family() {
    static const std::map<std::string, std::vector<std::string>> all{
        {"gauss_seidel_27",
         {"stencil=constant nx=37 ny=19 nz=11", "stencil=semi_constant nx=37 ny=19 nz=11", "stencil=variable nx=37 ny=19 nz=11",
          "stencil=symmetric nx=37 ny=19 nz=11"}},
        {"dg_volume",
         {"equation=maxwell_3d order=2 elements=37", "equation=maxwell_3d order=5 elements=37", "equation=acoustics_3d order=4 elements=37",
          "equation=maxwell_2d_tm order=3 elements=37", "equation=maxwell_3d order=5 precision=f32 arithmetic=f32_accurate elements=37"}},
        {"dg_surface",
         {"equation=maxwell_3d order=3 materials=per_element elements=37", "equation=maxwell_2d_tm order=4 materials=uniform elements=37",
          "equation=acoustics_3d order=5 materials=uniform precision=f32 arithmetic=f32_accurate elements=37"}},
        {"dg_rk", {"equation=acoustics_3d order=3 elements=37"}},
        {"dg_stage",
         {"equation=acoustics_3d order=2 materials=uniform elements=37", "equation=maxwell_3d order=2 materials=uniform elements=37",
          "equation=maxwell_3d order=5 materials=per_element elements=37",
          "equation=maxwell_3d order=5 materials=uniform precision=f32 arithmetic=f32_accurate elements=37"}},
        {"acoustics_staggered",
         {"kernel=pressure dimension=3 order=8 nx=37 ny=39 nz=17", "kernel=velocity dimension=2 order=4 nx=37 ny=39",
          "kernel=velocity dimension=3 order=16 nx=37 ny=39 nz=17", "kernel=step dimension=2 order=8 nx=37 ny=39",
          "kernel=step dimension=2 order=8 levels=2 nx=37 ny=39", "kernel=step dimension=2 order=16 nx=200 ny=39",
          "kernel=step dimension=3 order=8 nx=37 ny=39 nz=17", "kernel=step dimension=3 order=4 absorbing=sponge nx=37 ny=39 nz=17"}},
        {"poisson7",
         {"kernel=apply_dot coefficients=axis boundary=periodic nx=37 ny=19 nz=11",
          "kernel=direction coefficients=face boundary=neumann nx=37 ny=19 nz=11",
          "kernel=residual coefficients=scalar boundary=dirichlet nx=37 ny=19 nz=11"}},
        {"batched_gemm",
         {"m=37 n=19 k=23 batch=5", "m=3 n=3 k=3 update=scale batch=45", "b=shared m=3 n=11 k=27 batch=21",
          "form=tt b=shared update=scale m=40 n=21 k=30 batch=4"}},
        {"batched_gemv", {"m=21 n=9 batch=13", "form=t m=21 n=9 update=scale batch=13"}},
        {"corner_force",
         {"dimension=2 order=2 zones=13", "dimension=3 order=2 zones=5", "dimension=3 order=4 zones=3", "result=points dimension=3 order=3 zones=5",
          "result=corner dimension=2 order=3 zones=7", "result=energy dimension=2 order=1 zones=13"}},
        {"csr_spmv",
         {"rows=1000 entries=7000", "kernel=apply_dot components=3 rows=500 entries=20000",
          "kernel=apply_dot components=2 vectors=interleaved rows=700 entries=17000"}},
        {"fe_mass",
         {"kernel=apply_dot dimension=3 order=2 points=4 components=3 elements=13 nodes=500", "dimension=3 order=4 points=8 elements=3 nodes=325",
          "data=vertices dimension=2 order=3 components=2 elements=21 nodes=256"}},
        {"staggered_flow",
         {"kernel=momentum ends=periodic nx=37 ny=19 nz=11", "kernel=divergence ends=planes nx=37 ny=19 nz=11",
          "kernel=projection ends=periodic nx=37 ny=19 nz=11"}},
    };
    return all;
}

std::vector<std::string> problems_of(const std::string& family) {
    std::vector<std::string> texts;
    for (const std::string& problem : problems_by_family().at(family)) {
        const std::string text = family + " " + problem;
        if (text.find("precision=") != std::string::npos) {
            texts.push_back(text);
            continue;
        }
        for (const char* precision : {"f32", "f64"}) texts.push_back(text + " precision=" + precision);
    }
    return texts;
}

// The words of a configuration choose the form of the kernel (mapping, staging, residency, layout);
// numbers only its sizes.
std::string form_of(const Config& config) {
    std::string form;
    for (const auto& [name, value] : config.assignments())
        if (std::holds_alternative<std::string>(value)) form += name + "=" + to_string(value) + ",";
    return form;
}

class Sanitizer : public testing::TestWithParam<std::string> {};

TEST_P(Sanitizer, EveryFormOfKernelMatchesTheReference) {
    DiskCache cache(DiskCache::default_folder());
    const std::unique_ptr<Backend> backend = test::backend_or_skip("cuda", cache);
    if (!backend) return;
    constexpr std::uint64_t seed = 7;
    int verified = 0;
    for (const auto& text : problems_of(GetParam())) {
        const Problem problem = built_in_families().parse_problem(text);
        const Family& family = built_in_families().of(problem);
        std::set<std::string> forms;
        for (const Config& config : test::sample_members(*backend, family, problem, 40, seed)) {
            if (!forms.insert(form_of(config)).second) continue;
            const test::Verification verification = test::verify(*backend, family, problem, config, seed);
            EXPECT_TRUE(verification.passed()) << verification.what << ": error " << verification.error << ", tolerance " << verification.tolerance;
            ++verified;
        }
    }
    EXPECT_GE(verified, 2);  // each precision
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Family& family : built_in_families()) all.push_back(family.name);
    return all;
}

// A word that no family knows would show only where there is a device.
TEST(SanitizerProblems, AreThereForEveryFamily) {
    for (const std::string& family : names()) {
        ASSERT_EQ(problems_by_family().count(family), 1U) << family;
        for (const std::string& text : problems_of(family)) {
            const Problem problem = built_in_families().parse_problem(text);
            const SearchSpace space = built_in_families().of(problem).space(problem, cuda_limits(90));
            EXPECT_FALSE(space.check(space.safe())) << text;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Gpu, Sanitizer, testing::ValuesIn(names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace hone::gpu_sanitizer_test
