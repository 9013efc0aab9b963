#include "generator/families/batched_gemm/cpu.hpp"
#include "generator/families/device/cpu_team.hpp"

// For tiny matrices: neighbouring products are the lanes of a vector.

namespace hone::inline v0_1::gemm {
namespace {

struct Matrices : CpuKernel {
    using CpuKernel::CpuKernel;

    KernelSource kernel(const Problem& problem, const Config& config) const {
        Block constants = shape_constants(shape);
        constants.line("constexpr int lanes = {0}, together = {0};  // words in a vector, and products that are computed at a time", lanes);
        const double executed = 2.0 * shape.m * shape.n * shape.k * static_cast<double>(shape.batch);
        return source(problem, config, "matrices.cpp", executed, {{"constants", constants}},
                      {{"scaled", shape.scaled}, {"shared_b", shape.shared_b}});
    }
};

}  // namespace

Form cpu_matrices_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    // Its configurations had the tunables of form=rows, too, when they were values of one space.
    FormSpace space{.name = "matrices",
                    .help = "lanes of a vector are neighbouring matrices",
                    .tunables = {lanes_tunable(shape)},
                    .safe = {{"lanes", 32 / shape.bytes()}},
                    .former = [](const Config& config) { return config.has(form_tunable, "matrices") && config.has("unroll", 1); }};
    return cpu_form<Matrices>(problem, with_team(std::move(space), limits));
}

}  // namespace hone::inline v0_1::gemm
