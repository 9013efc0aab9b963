#include "generator/families/device/cpu_multiply_add.hpp"

namespace hone::inline v0_1 {

Block multiply_add_function(Precision precision) {
    Block block;
    block.line("// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between configurations.");
    block.open("inline real multiply_add(real a, real b, real c)");
    block.line("#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)");
    block.line("return __builtin_fma{}(a, b, c);", precision == Precision::f32 ? "f" : "");
    block.line("#else");
    block.line("return a * b + c;");
    block.line("#endif");
    return block.close();
}

}  // namespace hone::inline v0_1
