#include "runtime/kernel_hash.hpp"

#include <gtest/gtest.h>

#include "generator/families/built_in_families.hpp"
#include "generator/tidy.hpp"

namespace hone::kernel_hash_test {
namespace {

TEST(KernelHash, ForgetsCommentsAndLayoutAndNothingElse) {
    const std::string text = "// hone emit f n=3\n#pragma unroll\nint f(int a) {\n    return a / 2;  // half\n}\n";
    EXPECT_EQ(kernel_hash(text), kernel_hash("// hone emit f n=4,\n//     more\n\n#pragma unroll\nint f(int a)\n{ return a / /* half */ 2; }"));
    for (const char* other : {"#pragma unroll\nint f(int a) {\n    return a / 3;\n}\n", "int f(int a) {\n    return a / 2;\n}\n",
                              "#pragma unroll int f(int a) {\n    return a / 2;\n}\n", "#pragma unroll\nint f(int a) {\n    // return a / 2;\n}\n"})
        EXPECT_NE(kernel_hash(text), kernel_hash(other)) << other;
}

// The text names the sizes that it was emitted for; the kernel serves all.
TEST(KernelHash, IsOneForAllSizes) {
    const auto hash_of = [](const std::string& words) {
        const Problem problem = built_in_families().parse_problem(words);
        const Family& family = built_in_families().of(problem);
        return kernel_hash(family.kernel(problem, family.space(problem, cuda_limits(90)).safe(), cuda_limits(90)).text);
    };
    EXPECT_EQ(hash_of("poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=128 ny=128 nz=128"),
              hash_of("poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=256 ny=256 nz=256"));
    EXPECT_NE(hash_of("poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f64 nx=128 ny=128 nz=128"),
              hash_of("poisson7 kernel=apply_dot coefficients=axis boundary=periodic precision=f32 nx=128 ny=128 nz=128"));
}

}  // namespace
}  // namespace hone::kernel_hash_test
