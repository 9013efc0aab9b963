#include "solvers/poisson/next_scalars.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "foundation/error.hpp"
#include "generator/families/poisson7/family.hpp"
#include "generator/render.hpp"
#include "runtime/ranks/peer_words.hpp"
#include "solvers/item_kernels/item_kernels.hpp"

namespace hone::inline v0_1::solvers {
namespace {

using namespace poisson;

// sum_blocks<sums>(block_sums, blocks, sum): by number modulo the lanes, then these in pairs of
// neighbours. On a GPU a block's first threads are the lanes, and all get the sums.
constexpr const char* cuda_sums = R"cpp(
#define FIRST_THREAD if (threadIdx.x == 0)

    __device__ __forceinline__ double sum_of_lanes(double value) {
        __shared__ double of_warp[sum_lanes / 32];
        for (int lanes = 1; lanes < 32; lanes *= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
        if (threadIdx.x % 32 == 0 && threadIdx.x < sum_lanes) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        value = of_warp[threadIdx.x % (sum_lanes / 32)];
        for (int lanes = 1; lanes < sum_lanes / 32; lanes *= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
        __syncthreads();
        return value;
    }

    template <int sums>
    __device__ __forceinline__ void sum_blocks(const real* block_sums, int blocks, double (&sum)[sums]) {
        for (int s = 0; s < sums; ++s) sum[s] = 0;
#pragma unroll 8
        for (int n = threadIdx.x < sum_lanes ? threadIdx.x : blocks; n < blocks; n += sum_lanes)
            for (int s = 0; s < sums; ++s) sum[s] += double(block_sums[(long long)n * sums + s]);
        for (int s = 0; s < sums; ++s) sum[s] = sum_of_lanes(sum[s]);
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

constexpr int sharing_threads = 1024;  // of the one block that gathers first

// `by_kernels`: gathers the sums of all ranks' blocks first.
std::string next_of(const char* half, bool by_kernels) {
    const bool residual = std::string_view(half) == "residual";
    Holes holes;
    if (residual) holes.emplace_back("keep_in_history", Block().line("history[iteration % {}] = real(residual_square);", history_words));
    Block kernel;
    const char* const pointers = "const real* block_sums, real* scalars, real* history";
    const char* const numbers = "int nx, int ny, int nz, int first, int last";
    if (by_kernels) {
        kernel.open(
            fmt::format("KERNEL share_{}({}, const real* own, unsigned* const* boxes, unsigned* done, {}, int words, int ranks, int rank, "
                        "int data, int flags, int epoch)",
                        half, pointers, numbers));
        kernel.text("share_words(own, words / int(sizeof(real) / 4), boxes, done, ranks, rank, data, flags, epoch);");
        kernel.text("await_words(boxes, ranks, rank, flags, epoch);");
    } else {
        kernel.open(fmt::format("KERNEL {}({}, {})", half, pointers, numbers));
    }
    kernel.line("double sum[{}];", residual ? 3 : 1);
    kernel.text("sum_blocks(block_sums, last - first, sum);");
    kernel.text("for (double& each : sum) each = each * cells_per_block / (double(nx) * ny * nz);");
    kernel.open("FIRST_THREAD");
    kernel.lines_of(render("poisson7/next_scalars.cpp", holes, {{"apply_dot", false}, {"direction", !residual}, {"residual", residual}}));
    kernel.close().close();
    return fmt::format("\n{}\n", fmt::join(kernel.lines(), "\n"));
}

}  // namespace

KernelSource NextScalars::source(Target target, Precision precision, bool by_kernels) {
    KernelSource source;
    source.target = target;
    source.precision = precision;
    const std::string text = fmt::format("constexpr int sum_lanes = {}, cells_per_block = {};\n{}{}{}{}{}", item_threads, cells_per_block, words,
                                         traits_of(target).has_blocks ? cuda_sums : cpu_sums, by_kernels ? PeerWords::device_functions() : "",
                                         next_of("direction", by_kernels), next_of("residual", by_kernels));
    source.text = item_kernels("What follows from the sums of an iteration, those of all ranks.", target, precision, text);
    source.arrays = {{"block_sums", Access::in, 0, "", ""}, {"scalars", Access::inout, 0, "", ""}, {"history", Access::inout, 0, "", ""}};
    if (by_kernels)
        for (const char* name : {"own", "boxes", "done"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    source.scalars = {{"nx", 0}, {"ny", 0}, {"nz", 0}};
    for (const char* half : {"direction", "residual"}) {
        source.entries.push_back(by_kernels ? fmt::format("share_{}", half) : half);
        source.step.push_back({.entry = source.entries.back(),
                               .grid = {1, 1, 1},
                               .block = {by_kernels ? sharing_threads : item_threads, 1, 1},
                               .constants = std::vector<int>(by_kernels ? 6 : 0)});
    }
    return source;
}

NextScalars::NextScalars(Backend& backend, Precision precision, int nx, int ny, int nz, bool by_kernels)
    : nx_(nx), ny_(ny), nz_(nz), source_(source(backend.device().limits.target, precision, by_kernels)) {
    const CompileOutcome outcome = backend.compiler().compile(source_);
    if (!outcome.ok)
        throw Error("the kernels of conjugate gradients' scalars", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
    module_ = backend.load(outcome.code);
}

int NextScalars::blocks() const {
    return static_cast<int>((nz_ + chunk_planes - 1) / chunk_planes * blocks_of_chunk(nx_, ny_));
}

void NextScalars::launch(std::size_t half, DeviceGather& gather, const void* own, void* scalars, void* history) const {
    PeerWords* const peers = gather.for_kernels();
    PeerWords::Turn turn = peers != nullptr ? peers->next() : PeerWords::Turn{};
    const void* all = peers != nullptr ? turn.all : gather.gather(own);
    int nx = nx_, ny = ny_, nz = nz_, first = 0, last = blocks();
    std::vector<void*> arguments{static_cast<void*>(&all), static_cast<void*>(&scalars), static_cast<void*>(&history)};
    if (peers != nullptr)
        arguments.insert(arguments.end(), {static_cast<void*>(&own), static_cast<void*>(&turn.boxes), static_cast<void*>(&turn.done)});
    arguments.insert(arguments.end(), {&nx, &ny, &nz, &first, &last});
    if (peers != nullptr) arguments.insert(arguments.end(), {&turn.words, &turn.ranks, &turn.rank, &turn.data, &turn.flags, &turn.epoch});
    const Launch& how = source_.step[half];
    module_->launch(module_->entry(how.entry), how.grid, how.block, 0, {}, arguments.data());
}

void NextScalars::after_direction(DeviceGather& gather, const void* own, void* scalars, void* history) const {
    launch(0, gather, own, scalars, history);
}

void NextScalars::after_residual(DeviceGather& gather, const void* own, void* scalars, void* history) const {
    launch(1, gather, own, scalars, history);
}

}  // namespace hone::inline v0_1::solvers
