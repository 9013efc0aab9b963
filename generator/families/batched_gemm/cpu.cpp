#include "generator/families/batched_gemm/cpu.hpp"

#include "generator/families/device/cpu_team.hpp"

namespace hone::inline v0_1::gemm {

Block CpuKernel::constants(int columns) const {
    Block block;
    block.line("using real = {};", shape.real());
    block.line("constexpr int m = {}, n = {}, k = {};", of.m, columns, shape.k);
    return block.line("constexpr long long stride_a = {}, stride_b = {}, stride_c = {};  // words from one matrix to the next", shape.stride_a(),
                      shape.stride_b(), shape.stride_c());
}

KernelSource CpuKernel::source(const Problem& problem, const Config& config, const std::string& name, double executed_operations, Holes own,
                               const Flags& flags) const {
    own.insert(own.end(), {{"banner", banner(problem, config, Target::cpu, executed_operations)},
                           {"team", team(config)},
                           {"entry", parameters(shape, Target::cpu)},
                           {"parallel", team_parallel(config)},
                           {"seat", team_seat(config)}});
    KernelSource source = make_source(problem, Target::cpu, render("batched_gemm/" + name, own, flags), executed_operations);
    source.step.push_back({"batched_gemm", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

Tunable lanes_tunable(const Shape& shape) {
    return {"lanes", "words in a vector", shape.precision == Precision::f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})};
}

int vector_registers(const Limits& limits) {
    return limits.vector_bytes >= 64 ? 32 : 16;
}

bool lies_along_k(const Shape& shape) {
    constexpr int few = 16;
    const Factors of(shape);
    return of.left_inner == 1 && of.right_inner == 1 && of.m > 1 && of.n <= few && !of.side_by_side;
}

bool turns_sums_untuned(const Shape& shape) {
    constexpr int few = 4, long_k = 16;
    return lies_along_k(shape) && Factors(shape).n <= few && shape.k >= long_k;
}

}  // namespace hone::inline v0_1::gemm
