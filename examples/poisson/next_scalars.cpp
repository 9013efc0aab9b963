#include "examples/poisson/next_scalars.hpp"

#include <fmt/format.h>

#include <array>

#include "examples/item_kernels/item_kernels.hpp"
#include "generator/error.hpp"
#include "generator/families/poisson7/family.hpp"
#include "generator/render.hpp"

namespace hone::examples {
namespace {

using namespace poisson;

// sum_blocks<sums>(block_sums, blocks, sum): by number modulo the lanes, then these in pairs of neighbours. On a GPU every thread gets them.
constexpr const char* cuda_sums = R"cpp(
#define FIRST_THREAD if (threadIdx.x == 0)

    __device__ __forceinline__ double sum_of_lanes(double value) {
        __shared__ double of_warp[sum_lanes / 32];
        for (int lanes = 1; lanes < 32; lanes *= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        value = of_warp[threadIdx.x % (sum_lanes / 32)];
        for (int lanes = 1; lanes < sum_lanes / 32; lanes *= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
        __syncthreads();
        return value;
    }

    template <int sums>
    __device__ __forceinline__ void sum_blocks(const real* block_sums, int blocks, double (&sum)[sums]) {
        for (int s = 0; s < sums; ++s) {
            sum[s] = 0;
            for (int n = threadIdx.x; n < blocks; n += sum_lanes) sum[s] += double(block_sums[(long long)n * sums + s]);
            sum[s] = sum_of_lanes(sum[s]);
        }
    }
)cpp";

constexpr const char* cpu_sums = R"cpp(
#define FIRST_THREAD

    template <int sums>
    void sum_blocks(const real* block_sums, int blocks, double (&sum)[sums]) {
        for (int s = 0; s < sums; ++s) {
            double lanes[sum_lanes] = {};
            for (int n = 0; n < blocks; ++n) lanes[n % sum_lanes] += double(block_sums[(long long)n * sums + s]);
            for (int step = 1; step < sum_lanes; step *= 2)
                for (int lane = 0; lane < sum_lanes; lane += 2 * step) lanes[lane] += lanes[lane + step];
            sum[s] = lanes[0];
        }
    }
)cpp";

// The words as poisson::scalar has them.
constexpr const char* words = R"cpp(
    namespace scalar {
    enum Word { alpha, beta, gamma, delta, residual_square, mean, own_weight, neighbour_weight, mean_weight, breakdown, iterations };
    }
)cpp";

std::string next_of(const char* half) {
    const bool residual = std::string_view(half) == "residual";
    Holes holes;
    if (residual) holes.emplace_back("keep_in_history", Block().line("history[iteration % {}] = real(residual_square);", history_words));
    Block kernel;
    kernel.open(fmt::format("KERNEL {}(const real* block_sums, real* scalars, real* history, int nx, int ny, int nz, int first, int last)", half));
    kernel.line("double sum[{}];", residual ? 3 : 1);
    kernel.text("sum_blocks(block_sums, last - first, sum);");
    kernel.text("for (double& each : sum) each = each * cells_per_block / (double(nx) * ny * nz);");
    kernel.open("FIRST_THREAD");
    kernel.lines_of(render("poisson7/next_scalars.cpp", holes, {{"apply_dot", false}, {"direction", !residual}, {"residual", residual}}));
    kernel.close().close();
    return fmt::format("\n{}\n", fmt::join(kernel.lines(), "\n"));
}

}  // namespace

KernelSource NextScalars::source(Target target, Precision precision) {
    KernelSource source;
    source.target = target;
    source.precision = precision;
    source.text = item_kernels("What follows from the sums of an iteration, those of all ranks.", target, precision,
                               fmt::format("constexpr int sum_lanes = {}, cells_per_block = {};\n{}{}{}{}", item_threads, cells_per_block, words,
                                           target == Target::cuda ? cuda_sums : cpu_sums, next_of("direction"), next_of("residual")));
    source.arrays = {{"block_sums", Access::in, 0, "", ""}, {"scalars", Access::inout, 0, "", ""}, {"history", Access::inout, 0, "", ""}};
    source.scalars = {{"nx", 0}, {"ny", 0}, {"nz", 0}};
    for (const char* entry : {"direction", "residual"}) {
        source.entries.emplace_back(entry);
        source.step.push_back({.entry = entry, .block = {item_threads, 1, 1}, .constants = {}});
    }
    return source;
}

NextScalars::NextScalars(Backend& backend, Precision precision, int nx, int ny, int nz) : nx_(nx), ny_(ny), nz_(nz) {
    const CompileOutcome outcome = backend.compiler().compile(source(backend.device().limits.target, precision));
    if (!outcome.ok)
        throw Error("the kernels of conjugate gradients' scalars", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
    module_ = backend.load(outcome.code);
    direction_ = module_->entry("direction");
    residual_ = module_->entry("residual");
}

void NextScalars::launch(int entry, const void* block_sums, void* scalars, void* history) const {
    int nx = nx_, ny = ny_, nz = nz_, first = 0;
    int last = static_cast<int>((nz + chunk_planes - 1) / chunk_planes * blocks_of_chunk(nx, ny));
    std::array<void*, 8> arguments{
        static_cast<void*>(&block_sums), static_cast<void*>(&scalars), static_cast<void*>(&history), &nx, &ny, &nz, &first, &last};
    module_->launch(entry, {1, 1, 1}, {item_threads, 1, 1}, 0, {}, arguments.data());
}

void NextScalars::after_direction(const void* block_sums, void* scalars, void* history) const {
    launch(direction_, block_sums, scalars, history);
}

void NextScalars::after_residual(const void* block_sums, void* scalars, void* history) const {
    launch(residual_, block_sums, scalars, history);
}

}  // namespace hone::examples
