// One small configuration of every form of kernel, per family and precision: what compute-sanitizer runs over (benchmarks/measure sanitize).
#include <gtest/gtest.h>

#include <set>

#include "generator/error.hpp"
#include "tests/support/verify.hpp"

namespace hone {
namespace {

std::vector<std::string> problems() {
    std::vector<std::string> texts;
    for (const char* precision : {"f32", "f64"})
        for (const char* problem : {"gauss_seidel_27 stencil=constant nx=37 ny=19 nz=11", "gauss_seidel_27 stencil=semi_constant nx=37 ny=19 nz=11",
                                    "gauss_seidel_27 stencil=variable nx=37 ny=19 nz=11", "dg_volume equation=maxwell_3d order=2 elements=37",
                                    "dg_volume equation=maxwell_3d order=5 elements=37", "dg_volume equation=acoustics_3d order=4 elements=37",
                                    "dg_stage equation=maxwell_3d order=2 elements=37", "dg_rk equation=maxwell_2d_tm order=1 elements=37",
                                    "dg_stage equation=acoustics_3d order=4 materials=per_element elements=37",
                                    "acoustics_staggered kernel=pressure dimension=3 order=8 nx=37 ny=39 nz=17",
                                    "acoustics_staggered kernel=velocity dimension=2 order=4 nx=37 ny=39",
                                    "acoustics_staggered kernel=step dimension=2 order=8 nx=37 ny=39",
                                    "acoustics_staggered kernel=step dimension=3 order=4 nx=37 ny=39 nz=17",
                                    "poisson7 kernel=apply_dot coefficients=axis boundary=periodic nx=37 ny=19 nz=11",
                                    "poisson7 kernel=direction coefficients=face boundary=neumann nx=37 ny=19 nz=11",
                                    "poisson7 kernel=residual coefficients=scalar boundary=dirichlet nx=37 ny=19 nz=11"})
            texts.push_back(std::string(problem) + " precision=" + precision);
    return texts;
}

// The words of a configuration choose the form of the kernel (mapping, staging, residency, layout); numbers only its sizes.
std::string form_of(const Config& config) {
    std::string form;
    for (const auto& [name, value] : config.assignments())
        if (std::holds_alternative<std::string>(value)) form += name + "=" + to_string(value) + ",";
    return form;
}

TEST(GpuSanitizer, EveryFormOfKernelMatchesTheReference) {
    DiskCache cache(DiskCache::default_folder());
    std::unique_ptr<Backend> backend;
    try {
        backend = make_backend("cuda", cache);
    } catch (const Error& error) {
        GTEST_SKIP() << "no CUDA device: " << error.what();
    }
    constexpr std::uint64_t seed = 7;
    int verified = 0;
    for (const auto& text : problems()) {
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
    EXPECT_GT(verified, 12);
}

}  // namespace
}  // namespace hone
