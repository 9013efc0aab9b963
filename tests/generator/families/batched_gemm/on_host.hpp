#pragma once

#include <array>
#include <limits>
#include <string>

#include "foundation/error.hpp"
#include "generator/family.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// batched_gemm with its inline PTX written out in C++, for the emulator.
///
/// The matrix product follows the fragment layout that the PTX ISA documents for mma.m16n8k4, k8
/// and k16 with .f64: with g = lane / 4 and t = lane % 4, register i of a holds (row g + 8 (i % 2),
/// column t + 4 (i / 2)), register i of b (row t + 4 i, column g), register i of c (row g + 8 (i /
/// 2), column 2t + i % 2).
inline Family without_batched_assembly(const Family& family) {
    Family result = family;
    result.kernel = [family](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        replace_body(source.text, "void multiply_add(", R"(    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    constexpr int depth = sizeof(b) / sizeof(real) * 4;
    for (int k = 0; k < depth; ++k) {
        real from_a[2], from_b[2];
        for (int j = 0; j < 2; ++j) {
            from_a[j] = __shfl_sync(0xffffffffu, a[k / 4 * 2 + j], g * 4 + k % 4);
            from_b[j] = __shfl_sync(0xffffffffu, b[k / 4], (2 * t + j) * 4 + k % 4);
        }
        for (int i = 0; i < 4; ++i) c[i] += from_a[i / 2] * from_b[i % 2];
    }
)");
        device_on_host(source.text);
        if (source.text.find("asm") != std::string::npos)
            throw Error(family.name, "has inline PTX that the test does not know", "write it out in C++ here");
        return source;
    };
    return result;
}

/// The family with beta = 0 and results full of NaN, which a kernel that reads them would spread;
/// for problems with update=scale.
inline Family with_beta_zero(const Family& family) {
    Family result = family;
    result.workload = [family](const Problem& problem, std::uint64_t seed) {
        Workload workload = family.workload(problem, seed);
        const auto set = [&](auto real) {
            using Real = decltype(real);
            workload.arrays[3].values<Real>()[1] = 0;
            for (Real& word : workload.arrays[2].values<Real>()) word = std::numeric_limits<Real>::quiet_NaN();
        };
        problem.precision() == Precision::f32 ? set(0.0F) : set(0.0);
        workload.expected[2] = workload.arrays[2].copy();
        const std::array<void*, 4> arrays{workload.arrays[0].data(), workload.arrays[1].data(), workload.expected[2].data(),
                                          workload.arrays[3].data()};
        family.reference(problem, arrays, 0, family.range(problem));
        return workload;
    };
    return result;
}

}  // namespace hone::test
