#include "generator/families/device/dialect.hpp"

namespace hone::inline v0_1 {

const Dialect& dialect_of(Target target) {
    static constexpr Dialect cuda{
        ".cu", "", "__device__ __forceinline__", "__constant__", "__restrict__", "#pragma unroll", "#pragma unroll 4", "#pragma unroll 1"};
    static constexpr Dialect cpu{".cpp",       "extern \"C\" void ",    "static inline",        "static constexpr",
                                 "__restrict", "#pragma GCC unroll 32", "#pragma GCC unroll 4", "#pragma GCC unroll 1"};
    return target == Target::cuda ? cuda : cpu;
}

}  // namespace hone::inline v0_1
