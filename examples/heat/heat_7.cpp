// All of a family in one file; docs/add-a-stencil-family.md goes through it from top to bottom.
#include "examples/heat/heat_7.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <hone/foundation/random_words.hpp>
#include <hone/generator/families/device/cpu_team.hpp>
#include <hone/generator/render.hpp>
#include <hone/generator/value_lists.hpp>
#include <limits>

namespace heat {
namespace {

using hone::Block;
using hone::Config;
using hone::Limits;
using hone::Precision;
using hone::Problem;
using hone::Target;

// ---- Layout and counts

struct Grid {
    explicit Grid(const Problem& problem)
        : precision(problem.precision()), nx(problem.integer("nx")), ny(problem.integer("ny")), nz(problem.integer("nz")) {}

    Precision precision;
    std::int64_t nx, ny, nz;  // interior points

    std::int64_t row() const { return nx + 2; }
    std::int64_t plane() const { return row() * (ny + 2); }
    std::int64_t words() const { return plane() * (nz + 2); }
    std::int64_t position(std::int64_t x, std::int64_t y, std::int64_t z) const { return (z + 1) * plane() + (y + 1) * row() + x + 1; }
};

std::vector<hone::ArraySpec> arrays(const Problem& problem) {
    const Grid grid(problem);
    const auto field = [&](const char* name, hone::Access access, const char* help) {
        return hone::laid_out({name, access, grid.words(), "[nz+2][ny+2][nx+2]", help}, {grid.nz + 2, grid.ny + 2, grid.nx + 2},
                              grid.position(0, 0, 0));
    };
    return {field("u", hone::Access::in, "temperature, with its boundary"),
            {"rate", hone::Access::in, 1, "[1]", "kappa dt / h^2", {}, {1}},
            field("u_next", hone::Access::out, "temperature after the step; its boundary is not written")};
}

// Every temperature is read once and written once. Operations: six additions, a multiply-add with
// the centre, one with the rate.
hone::Counts counts(const Problem& problem) {
    const Grid grid(problem);
    const auto points = static_cast<double>(grid.nx * grid.ny * grid.nz);
    return {points, "updates", 10 * points, 2.0 * hone::bytes_per_word(grid.precision) * points};
}

// ---- Plain loops and random data: what every candidate is compared with

template <typename Real>
void plain_step(const Grid& grid, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const auto* u = static_cast<const Real*>(arrays[0]);
    const double rate = *static_cast<const Real*>(arrays[1]);
    auto* next = static_cast<Real*>(arrays[2]);
#pragma omp parallel for
    for (std::int64_t z = first; z < last; ++z)
        for (std::int64_t y = 0; y < grid.ny; ++y)
            for (std::int64_t x = 0; x < grid.nx; ++x) {
                const auto value = [&](std::int64_t dx, std::int64_t dy, std::int64_t dz) -> double {
                    return u[grid.position(x + dx, y + dy, z + dz)];
                };
                const double around = value(-1, 0, 0) + value(1, 0, 0) + value(0, -1, 0) + value(0, 1, 0) + value(0, 0, -1) + value(0, 0, 1);
                next[grid.position(x, y, z)] = static_cast<Real>(value(0, 0, 0) + rate * (around - 6 * value(0, 0, 0)));
            }
}

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Grid grid(problem);
    grid.precision == Precision::f32 ? plain_step<float>(grid, arrays, first, last) : plain_step<double>(grid, arrays, first, last);
}

template <typename Real>
void fill(const Problem& problem, std::uint64_t seed, hone::Workload& workload) {
    const auto u = workload.arrays[0].values<Real>();
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = static_cast<Real>(hone::random_word(seed, static_cast<std::int64_t>(i)));
    workload.arrays[1].values<Real>()[0] = static_cast<Real>(0.15 + 0.01 * hone::random_word(seed, -1));
    // A candidate that leaves a point out is found by its NaN, one that writes to the boundary by a
    // number there.
    const auto next = workload.arrays[2].values<Real>();
    std::fill(next.begin(), next.end(), std::numeric_limits<Real>::quiet_NaN());
    workload.expected[2] = workload.arrays[2].copy();
    const std::vector<void*> pointers{workload.arrays[0].data(), workload.arrays[1].data(), workload.expected[2].data()};
    reference(problem, pointers, 0, Grid(problem).nz);
}

hone::Workload workload(const Problem& problem, std::uint64_t seed) {
    const Precision precision = problem.precision();
    hone::Workload workload;
    for (const auto& array : arrays(problem)) workload.arrays.emplace_back(precision, array.words);
    workload.expected.resize(workload.arrays.size());
    precision == Precision::f32 ? fill<float>(problem, seed, workload) : fill<double>(problem, seed, workload);
    // |u| <= 1: the five sums around a point are at most 2..6, the difference 12, so they err by 38
    // unit roundoffs; times 1/6, and two roundings of numbers up to 3, that is 13; the reference
    // errs by as much.
    workload.tolerance = 32 * (precision == Precision::f32 ? 0x1p-24 : 0x1p-53);
    workload.tolerance_reason = "ten roundings of numbers up to 12, times 1/6, in candidate and reference: 26 unit roundoffs";
    return workload;
}

// ---- Search space

std::vector<hone::Tunable> tunables(const Limits& limits) {
    if (limits.target == Target::cuda)
        return {{"block_x", "threads along x", hone::numbers({16, 32, 64, 128, 256})},
                {"block_y", "threads along y", hone::numbers({1, 2, 4, 8, 16})},
                {"rows_per_thread", "rows along y of a thread, which hand each other their values", hone::numbers({1, 2, 4})},
                {"z_block", "planes that a block goes through", hone::numbers({4, 8, 16, 32, 64, 128})}};
    std::vector<hone::Tunable> result{{"y_block", "rows along y that a thread takes at a time", hone::numbers({4, 8, 16, 32, 64})},
                                      {"z_block", "planes that it goes through with them", hone::numbers({1, 4, 8, 16, 32, 64})},
                                      {"vector_bytes", "width of the vectors along x", hone::numbers({16, 32, 64})}};
    for (auto& tunable : hone::team_tunables(limits)) result.push_back(std::move(tunable));
    return result;
}

hone::SearchSpace space(const Problem&, const Limits& limits) {
    if (limits.target == Target::cuda) {
        const auto threads = [most = limits.max_threads_per_block](const Config& config) -> std::optional<std::string> {
            const std::int64_t count = config.integer("block_x") * config.integer("block_y");
            if (count >= 64 && count <= most) return std::nullopt;
            return fmt::format("{} threads in a block: 64 to {} fill a multiprocessor", count, most);
        };
        return {tunables(limits), {{"threads", threads}}, {{"block_x", 32}, {"block_y", 4}, {"rows_per_thread", 1}, {"z_block", 8}}};
    }
    const auto vectors = [widest = limits.vector_bytes](const Config& config) -> std::optional<std::string> {
        if (config.integer("vector_bytes") <= widest) return std::nullopt;
        return fmt::format("vectors of {} bytes, the processor's have {}", config.integer("vector_bytes"), widest);
    };
    std::vector<hone::Assignment> safe{{"y_block", 8}, {"z_block", 8}, {"vector_bytes", 16}};
    for (auto& assignment : hone::safe_team()) safe.push_back(std::move(assignment));
    return {tunables(limits), {{"vector_width", vectors}, hone::team_constraint()}, std::move(safe)};
}

// ---- Kernels: templates with holes, and what fills the holes

constexpr std::string_view cuda_template = R"(//@ banner
//@ constants

// The planes [first, last). A thread has `rows` neighbouring columns of points and goes up the block's planes, with what is below and here in registers.
extern "C" __global__ void __launch_bounds__(block_x * block_y) heat_7(const real* __restrict__ u, const real* __restrict__ rate, real* __restrict__ u_next,
                                                                      int nx, int ny, int nz, int first, int last)
{
    const int x = blockIdx.x * block_x + threadIdx.x, y = (blockIdx.y * block_y + threadIdx.y) * rows;
    if (x >= nx || y >= ny) return;
    const int begin = first + blockIdx.z * z_block, end = min(begin + z_block, last);
    const wide row = nx + 2, plane = row * (ny + 2);
    // Words of the rows' points, and of the rows before and behind them. Rows beyond the grid repeat the boundary behind it, which is there to be read.
    wide at[rows + 2];
    #pragma unroll
    for (int t = 0; t < rows + 2; ++t) at[t] = (begin + 1) * plane + min(y + t, ny + 1) * row + x + 1;
    real below[rows], here[rows];
    #pragma unroll
    for (int t = 0; t < rows; ++t) below[t] = u[at[t + 1] - plane], here[t] = u[at[t + 1]];
    const real r = rate[0];
    for (int z = begin; z < end; ++z) {
        real above[rows];
        #pragma unroll
        for (int t = 0; t < rows; ++t) above[t] = u[at[t + 1] + plane];
        #pragma unroll
        for (int t = 0; t < rows; ++t) {
            const real south = t > 0 ? here[t - 1] : u[at[0]], north = t + 1 < rows ? here[t + 1] : u[at[rows + 1]];
            const real around = u[at[t + 1] - 1] + u[at[t + 1] + 1] + south + north + below[t] + above[t];
            if (y + t < ny) u_next[at[t + 1]] = here[t] + r * (around - 6 * here[t]);
        }
        #pragma unroll
        for (int t = 0; t < rows; ++t) below[t] = here[t], here[t] = above[t];
        #pragma unroll
        for (wide& each : at) each += plane;
    }
}
)";

constexpr std::string_view cpu_template = R"(//@ banner
#include <algorithm>

//@ constants

//@ team
// The planes [first, last). A thread takes `y_block` rows at a time and goes up `z_block` planes with them.
extern "C" void heat_7(const real* __restrict__ u, const real* __restrict__ rate, real* __restrict__ u_next, int nx, int ny, int nz, int first, int last)
{
    const wide row = nx + 2, plane = row * (ny + 2);
    const real r = rate[0];
    //@ parallel
    {
        //@ seat
        #pragma omp for collapse(2) schedule(static)
        for (int z_begin = first; z_begin < last; z_begin += z_block)
            for (int y_begin = 0; y_begin < ny; y_begin += y_block)
                for (int z = z_begin; z < std::min(z_begin + z_block, last); ++z)
                    for (int y = y_begin; y < std::min(y_begin + y_block, ny); ++y) {
                        const real* const here = u + (z + 1) * plane + (y + 1) * row + 1;
                        real* const next = u_next + (here - u);
                        #pragma omp simd simdlen(vector_words)
                        for (int x = 0; x < nx; ++x) {
                            const real around = here[x - 1] + here[x + 1] + here[x - row] + here[x + row] + here[x - plane] + here[x + plane];
                            next[x] = here[x] + r * (around - 6 * here[x]);
                        }
                    }
    }
}
)";

Block banner(const Problem& problem, const Config& config, Target target) {
    return Block().line("// heat_7, {}: {}, {}", to_string(problem.precision()), to_string(target), config.key());
}

Block constants(const Problem& problem, const std::vector<std::pair<const char*, std::int64_t>>& values) {
    Block block;
    block.line("using real = {};", problem.precision() == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    for (const auto& [name, value] : values) block.line("constexpr int {} = {};", name, value);
    return block;
}

hone::KernelSource common(const Problem& problem, Target target) {
    const Grid grid(problem);
    hone::KernelSource source;
    source.target = target;
    source.precision = grid.precision;
    source.entries = {"heat_7"};
    source.arrays = arrays(problem);
    source.scalars = {{"nx", static_cast<int>(grid.nx)}, {"ny", static_cast<int>(grid.ny)}, {"nz", static_cast<int>(grid.nz)}};
    source.executed_operations = counts(problem).operations;
    return source;
}

hone::KernelSource cuda_kernel(const Problem& problem, const Config& config) {
    const Grid grid(problem);
    const std::int64_t block_x = config.integer("block_x"), block_y = config.integer("block_y"), rows = config.integer("rows_per_thread");
    const std::int64_t z_block = config.integer("z_block");
    const auto blocks = [](std::int64_t points, std::int64_t of_a_block) { return (points + of_a_block - 1) / of_a_block; };
    hone::KernelSource source = common(problem, Target::cuda);
    source.text =
        hone::render_text(cuda_template, "heat_7.cu",
                          {{"banner", banner(problem, config, Target::cuda)},
                           {"constants", constants(problem, {{"block_x", block_x}, {"block_y", block_y}, {"rows", rows}, {"z_block", z_block}})}});
    hone::Launch launch;
    launch.entry = "heat_7";
    launch.grid = {blocks(grid.nx, block_x), blocks(grid.ny, block_y * rows), 1};
    launch.block = {block_x, block_y, 1};
    launch.range_axis = 2;  // the planes of the range are divided among blocks along z
    launch.range_per_block = z_block;
    source.step = {launch};
    return source;
}

hone::KernelSource cpu_kernel(const Problem& problem, const Config& config) {
    const std::int64_t vector_words = config.integer("vector_bytes") / hone::bytes_per_word(problem.precision());
    hone::KernelSource source = common(problem, Target::cpu);
    source.text = hone::render_text(
        cpu_template, "heat_7.cpp",
        {{"banner", banner(problem, config, Target::cpu)},
         {"constants",
          constants(problem, {{"y_block", config.integer("y_block")}, {"z_block", config.integer("z_block")}, {"vector_words", vector_words}})},
         {"team", hone::team(config)},
         {"parallel", hone::team_parallel(config)},
         {"seat", hone::team_seat(config)}});
    source.step.resize(1);
    source.step[0].entry = "heat_7";
    return source;
}

}  // namespace

// ---- The family

hone::Family heat_7() {
    const auto extent = [](const char* name) {
        return hone::ProblemParameter{name, fmt::format("interior points along {}", name[1]), {}, 1, 8192, true, ""};
    };
    hone::Family family;
    family.name = "heat_7";
    family.summary = "explicit step of the heat equation with a 7-point stencil";
    family.source = "K. W. Morton, D. F. Mayers, Numerical Solution of Partial Differential Equations, Cambridge 2005";
    family.example = "heat_7 precision=f64 nx=128 ny=128 nz=128";
    family.parameters = {{"precision", "of all arrays", {"f32", "f64"}, 0, 0, false, ""}, extent("nx"), extent("ny"), extent("nz")};
    family.range_unit = "planes";
    family.range = [](const Problem& problem) { return problem.integer("nz"); };
    family.arrays = arrays;
    family.space = space;
    family.kernel = [](const Problem& problem, const Config& config, const Limits& limits) {
        return limits.target == Target::cuda ? cuda_kernel(problem, config) : cpu_kernel(problem, config);
    };
    family.reference = reference;
    family.workload = workload;
    family.counts = counts;
    return family;
}

}  // namespace heat
