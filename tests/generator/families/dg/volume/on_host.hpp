#pragma once

#include <string>

#include "foundation/error.hpp"
#include "generator/family.hpp"
#include "tests/generator/families/device/on_host.hpp"
#include "tests/support/replace_body.hpp"

namespace hone::test {

/// What a dg kernel does of a product on TF32 units.
enum class Tf32 {
    three_terms,  ///< what the kernel says
    one_term      ///< high parts alone, as a kernel would that takes TF32 for f32
};

inline KernelSource checked(KernelSource source) {
    if (source.text.find("asm") != std::string::npos)
        throw Error("dg_volume", "has inline PTX that the test does not know", "write it out in C++ here");
    return source;
}

/// A dg family with its inline PTX written out in C++, for the emulator.
///
/// The matrix products follow the fragment layout that the PTX ISA documents for mma.m16n8k8 with
/// .f64 and .tf32: with g = lane / 4 and t = lane % 4, register i of a holds (row g + 8 (i % 2),
/// column t + 4 (i / 2)), register i of b (row t + 4 i, column g), register i of c (row g + 8 (i /
/// 2), column 2t + i % 2); for mma.m8n8k4 a (row g, column t), b (row t, column g), register i of c
/// (row g, column 2t + i). TF32 units ignore the last 13 bits of their operands, and what they add
/// to a sum is cut off, not rounded: measured by M. Fasi and others, PeerJ Comput. Sci. 7:e330,
/// 2021.
inline Family without_assembly(const Family& family, Tf32 tf32 = Tf32::three_terms) {
    Family result = family;
    result.kernel = [family, tf32](const Problem& problem, const Config& config, const Limits& limits) {
        KernelSource source = family.kernel(problem, config, limits);
        if (source.text.find("multiply_add_term(") != std::string::npos) {
            replace_body(source.text, "void multiply_add_term(", R"(    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const auto cut = [](float value) { return __uint_as_float(__float_as_uint(value) & 0xffffe000u); };
    double sum[4] = {c[0], c[1], c[2], c[3]};
    for (int k = 0; k < 8; ++k) {
        double from_a[2], from_b[2];
        for (int j = 0; j < 2; ++j) {
            from_a[j] = cut(__shfl_sync(0xffffffffu, k / 4 == 0 ? (j == 0 ? a.x : a.y) : (j == 0 ? a.z : a.w), g * 4 + k % 4));
            from_b[j] = cut(__shfl_sync(0xffffffffu, b[k / 4], (2 * t + j) * 4 + k % 4));
        }
        for (int i = 0; i < 4; ++i) sum[i] += from_a[i / 2] * from_b[i % 2];
    }
    for (int i = 0; i < 4; ++i) {
        const float nearest = static_cast<float>(sum[i]);
        c[i] = fabs(static_cast<double>(nearest)) > fabs(sum[i]) ? __builtin_nextafterf(nearest, 0.0f) : nearest;
    }
)");
            if (tf32 == Tf32::one_term) replace_body(source.text, "void multiply_add(", "    multiply_add_term(c, a[0], b.high);\n");
        } else if (source.text.find("m8n8k4") != std::string::npos) {
            replace_body(source.text, "void multiply_add(", R"(    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int k = 0; k < 4; ++k) {
        const double from_a = __shfl_sync(0xffffffffu, u, g * 4 + k);
        first += from_a * __shfl_sync(0xffffffffu, d, 2 * t * 4 + k);
        second += from_a * __shfl_sync(0xffffffffu, d, (2 * t + 1) * 4 + k);
    }
)");
            replace_body(source.text, "real negated(", "    return -d;\n");
        } else {
            replace_body(source.text, "void multiply_add(", R"(    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int k = 0; k < 8; ++k) {
        double from_a[2], from_b[2];
        for (int j = 0; j < 2; ++j) {
            from_a[j] = __shfl_sync(0xffffffffu, j == 0 ? a[k / 4].x : a[k / 4].y, g * 4 + k % 4);
            from_b[j] = __shfl_sync(0xffffffffu, k / 4 == 0 ? b.x : b.y, (2 * t + j) * 4 + k % 4);
        }
        for (int i = 0; i < 4; ++i) c[i] += from_a[i / 2] * from_b[i % 2];
    }
)");
            replace_body(source.text, "Values negated(", "    return make_double2(-b.x, -b.y);\n");
        }
        // Copies arrive at once here; that a wait stands before the barrier in front of their use
        // is seen by reading.
        replace_body(source.text, "void copy_chunk(",
                     R"(    for (int i = threadIdx.x; i < chunk * operator_column; i += threads_per_block) to[i] = from[i];
)");
        replace_body(source.text, "void wait_for_chunk(", "");
        replace_body(source.text, "void prefetch(", "    (void)from;\n");
        // These arrive when they are waited for: what is read before is no number.
        copies_on_host(source.text);
        bulk_copies_on_host(source.text);
        if (source.text.find("void copy_past_registers(") == std::string::npos) return checked(std::move(source));
        replace_body(source.text, "void copy_past_registers(", R"(    for (int i = 0; i < count; ++i) {
        to[i] = __builtin_nanf("");
        own_copies[threadIdx.x].to[own_copies[threadIdx.x].count] = to + i;
        own_copies[threadIdx.x].from[own_copies[threadIdx.x].count++] = from + i;
    }
)");
        replace_body(source.text, "void wait_for_copies(", R"(    OwnCopies& own = own_copies[threadIdx.x];
    for (int i = 0; i < own.count; ++i) *own.to[i] = *own.from[i];
    own.count = 0;
)");
        if (const auto at = source.text.find("// Copies `count` neighbouring values into shared memory"); at != std::string::npos)
            source.text.insert(at, R"(struct OwnCopies {
    real* to[256];
    const real* from[256];
    int count;
};
static OwnCopies own_copies[1024];

)");
        return checked(std::move(source));
    };
    return result;
}

}  // namespace hone::test
