#include <fmt/format.h>

#include <algorithm>

#include "generator/families/batched_gemm/cpu.hpp"
#include "generator/families/device/cpu_team.hpp"

// Where rows of the left factor and columns of the right one lie along k: neighbouring values of k
// are the lanes of a vector. A tile has as many rows as a vector has lanes: its sums are turned
// together.

namespace hone::inline v0_1::gemm {
namespace {

struct Dots : CpuKernel {
    Dots(const Shape& of_problem, const Config& config) : CpuKernel(of_problem, config), columns_per_tile(number(config, "columns_per_tile")) {}

    int columns_per_tile;

    int registers(const Limits& limits) const { return lanes * columns_per_tile * pieces(lanes * shape.bytes(), limits.vector_bytes); }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        const bool values_left = shape.k % lanes != 0;
        Holes holes{{"constants", constants(of.n).line("constexpr int lanes = {}, columns_per_tile = {};", lanes, columns_per_tile)}};
        Flags flags{{"scaled", shape.scaled},
                    {"turned", of.turned},
                    {"values_left", values_left},
                    {"rows_left", rows_left()},
                    {"columns_left", of.n % columns_per_tile != 0}};
        add_partial_vectors(holes, flags, shape.precision, lanes, {.loads = values_left || (shape.scaled && rows_left()), .stores = rows_left()});
        const double executed = 2.0 * of.m * of.n * round_up(shape.k, lanes) * static_cast<double>(shape.batch);
        return source(problem, config, "dots.cpp", executed, std::move(holes), flags);
    }
};

}  // namespace

Form cpu_dots_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const int most = 3 * vector_registers(limits) / 4;  // for sums
    const int widest = std::min(limits.vector_bytes, 64) / shape.bytes();
    const auto violation = [shape, limits, most](const Config& config) -> Reason {
        const Dots kernel(shape, config);
        const int needed = kernel.registers(limits);
        if (needed > most) return fmt::format("{} vector registers for sums, at most {} leave room for operands", needed, most);
        if (kernel.columns_per_tile > kernel.of.n) return fmt::format("C has {} columns", kernel.of.n);
        return std::nullopt;
    };
    FormSpace space{
        .name = "dots",
        .help = "lanes of a vector are neighbouring values of k",
        .tunables = {lanes_tunable(shape), {"columns_per_tile", "columns accumulated at a time, at most", numbers({1, 2, 3})}},
        .constraints = {{"tile", violation, {"lanes", "columns_per_tile"}}},
        .safe = {{"lanes", std::int64_t{widest}}, {"columns_per_tile", std::int64_t{Factors(shape).n > 1 && 2 * widest <= most ? 2 : 1}}}};
    return cpu_form<Dots>(problem, with_team(std::move(space), limits));
}

}  // namespace hone::inline v0_1::gemm
