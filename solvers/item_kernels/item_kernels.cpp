#include "solvers/item_kernels/item_kernels.hpp"

#include <fmt/format.h>

namespace hone::inline v0_1::solvers {
namespace {

constexpr const char* cuda_head = R"cpp(
#define KERNEL extern "C" __global__ void
#define FOR_ITEMS(i) for (long long i = first + blockIdx.x * (long long)blockDim.x + threadIdx.x; i < last; i += gridDim.x * (long long)blockDim.x)
#define FOR_LANES FOR_ITEMS
)cpp";

constexpr const char* cpu_head = R"cpp(
#define KERNEL extern "C" void
#define FOR_ITEMS(i) _Pragma("omp parallel for if (last - first > 4096)") for (int i = first; i < last; ++i)
#define FOR_LANES(i) _Pragma("omp parallel for simd if (parallel : last - first > 4096)") for (int i = first; i < last; ++i)
)cpp";

}  // namespace

std::string item_kernels(std::string_view title, Target target, Precision precision, std::string_view kernels) {
    return fmt::format("// {}\nusing real = {};\n{}{}", title, precision == Precision::f32 ? "float" : "double",
                       traits_of(target).has_blocks ? cuda_head : cpu_head, kernels);
}

Dim3 item_blocks(std::int64_t items) {
    return {(items + item_threads - 1) / item_threads, 1, 1};
}

}  // namespace hone::inline v0_1::solvers
