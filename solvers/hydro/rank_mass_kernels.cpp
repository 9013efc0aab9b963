#include "solvers/hydro/rank_mass_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "runtime/ranks/peer_words.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

// sum_chunks<rows of a chunk>(sums, first, last, chunks, item): sums of what `item(row, values)`
// gives for each component of the rows from `first`, where a chunk begins, to `last`, by chunks, in
// pairs of neighbours; [component][chunk of all `chunks`].
//
// sum_all<lanes, rows of a chunk>(all, places, component, chunks): the sum of all ranks' chunks of
// a component from the first to the last, dealt to lanes by number, these in pairs of neighbours.
// Chunks of a share of nodes follow each other; where a share's begin among `all` says `places`,
// [component][share]. On a GPU one block has as many threads as there are lanes, and all of them
// get the sum.
constexpr const char* cuda_sums = R"cpp(
    template <int chunk_rows, typename Item>
    DEVICE void sum_chunks(double* sums, int first, int last, int chunks, Item item) {
        __shared__ double of_warp[components][block_rows / 32];
        const int row = first + blockIdx.x * block_rows + threadIdx.x;
        double values[components] = {};
        if (row < last) item(row, values);
        for (int joined = 1; joined < 32; joined *= 2)
            for (int c = 0; c < components; ++c) values[c] += __shfl_xor_sync(0xffffffffu, values[c], joined);
        if (threadIdx.x % 32 == 0)
            for (int c = 0; c < components; ++c) of_warp[c][threadIdx.x / 32] = values[c];
        __syncthreads();
        constexpr int warps = chunk_rows / 32, of_block = block_rows / chunk_rows;
        const int chunk = first / chunk_rows + blockIdx.x * of_block + threadIdx.x;
        if (threadIdx.x >= of_block || chunk * chunk_rows >= last) return;
        for (int c = 0; c < components; ++c) {
            double* const pairs = of_warp[c] + threadIdx.x * warps;
            for (int count = warps / 2; count > 0; count /= 2)
                for (int i = 0; i < count; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
            sums[(long long)c * chunks + chunk] = pairs[0];
        }
    }

#define FOR_COMPONENTS(c) const int c = blockIdx.x;
#define ONE_THREAD if (threadIdx.x == 0)

    template <int lanes, int chunk_rows>
    DEVICE double sum_all(const double* all, const int* places, int component, int chunks) {
        __shared__ double of_warp[lanes / 32];
        constexpr int of_share = share_rows / chunk_rows;
        const int* const begins = places + (long long)component * ((chunks + of_share - 1) / of_share);
        double sum = 0;
#pragma unroll 16
        for (int chunk = threadIdx.x; chunk < chunks; chunk += lanes) sum += all[begins[chunk / of_share] + chunk % of_share];
        for (int joined = 1; joined < 32; joined *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, joined);
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
        __syncthreads();
        sum = of_warp[threadIdx.x % (lanes / 32)];
        for (int joined = 1; joined < lanes / 32; joined *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, joined);
        return sum;
    }
)cpp";

constexpr const char* cpu_sums = R"cpp(
    template <int chunk_rows, typename Item>
    DEVICE void sum_chunks(double* sums, int first, int last, int chunks, Item item) {
#pragma omp parallel for if (last - first > 4096)
        for (int chunk = first / chunk_rows; chunk < (last + chunk_rows - 1) / chunk_rows; ++chunk) {
            double pairs[components][chunk_rows] = {};
            const int begin = chunk * chunk_rows, count = last - begin < chunk_rows ? last - begin : chunk_rows;
            for (int i = 0; i < count; ++i) {
                double values[components];
                item(begin + i, values);
                for (int c = 0; c < components; ++c) pairs[c][i] = values[c];
            }
            for (int c = 0; c < components; ++c) sums[(long long)c * chunks + chunk] = sum_in_pairs(pairs[c], chunk_rows);
        }
    }

#define FOR_COMPONENTS(c) for (int c = 0; c < components; ++c)
#define ONE_THREAD

    template <int lanes, int chunk_rows>
    DEVICE double sum_all(const double* all, const int* places, int component, int chunks) {
        constexpr int of_share = share_rows / chunk_rows;
        const int* const begins = places + (long long)component * ((chunks + of_share - 1) / of_share);
        double sums[lanes] = {};
        for (int chunk = 0; chunk < chunks; ++chunk) sums[chunk % lanes] += all[begins[chunk / of_share] + chunk % of_share];
        return sum_in_pairs(sums, lanes);
    }
)cpp";

// Items are rows from `first` to `last`: own ones, of which there are `own`, or all that are here,
// `stride`, or for `turn` those that are sent, by their place in `border`. Vectors are
// [components][stride]. Of the last three entries `last` is the number of rows of all ranks;
// scalars are [word][component], of all ranks the same.
constexpr const char* body =
    R"cpp(
#define POINTERS                                                                                                                  \
        const double *b, const double *q, const int *held, const double *w, const double *from, const double *all, const int *places, \
            const int *border, double *x, double *r, double *p, double *sums, double *scalars
#define NUMBERS int stride, int own, int first, int last
#define ARGUMENTS POINTERS, NUMBERS

    // Behind the scalars: p . w of each component, and the last step that was taken along p.
    DEVICE double* dots_in(double* scalars) {
        return scalars + components * words;
    }
    DEVICE double* taken_in(double* scalars) {
        return scalars + components * words + components;
    }

    KERNEL clear(ARGUMENTS) {
        FOR_ITEMS(row)
        for (int c = 0; c < components; ++c) x[(long long)c * stride + row] = r[(long long)c * stride + row] = p[(long long)c * stride + row] = 0;
    }

    KERNEL start(ARGUMENTS) {
        sum_chunks<block_rows>(sums, first, last, (own + block_rows - 1) / block_rows, [=](int row, double* squares) {
            Row of;
            double found[components];
            load_row(q, held, b, stride, row, of);
            first_residual(of, found, squares);
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                r[at] = found[c], p[at] = of.inverse * found[c];
            }
        });
    }

    // p . w, in chunks as the products with the matrix sum them up: of all rows that are here.
    KERNEL dots(ARGUMENTS) {
        sum_chunks<dot_rows>(sums, first, last, (stride + dot_rows - 1) / dot_rows, [=](int row, double* products) {
            for (int c = 0; c < components; ++c) products[c] = multiply_add(w[(long long)c * stride + row], p[(long long)c * stride + row], 0.0);
        });
    }

    KERNEL update(ARGUMENTS) {
        sum_chunks<block_rows>(sums, first, last, (own + block_rows - 1) / block_rows, [=](int row, double* squares) {
            Row of;
            double found[components];
            load_row(q, held, r, stride, row, of);
            load_product(w, stride, row, of.product);
            new_residual(
                of, [=](int c) { return scalars[c * words + alpha]; }, found, squares);
            for (int c = 0; c < components; ++c) r[(long long)c * stride + row] = found[c];
        });
    }

    // The next direction of rows that are sent, elsewhere than the last one: ahead of all others.
    KERNEL turn(ARGUMENTS) {
        FOR_ITEMS(item) {
            const int row = border[item];
            const double inverse = q[row];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                p[at] = next_direction(scalars[c * words + beta], from[at], inverse, r[at]);
            }
        }
    }

    // The solution's step, and own rows' next direction. All words of a row are loaded before any is stored.
    KERNEL direction(ARGUMENTS) {
        double step[components], share[components];
        for (int c = 0; c < components; ++c) step[c] = scalars[c * words + alpha], share[c] = scalars[c * words + beta];
        FOR_ITEMS(row) {
            const bool is_own = row < own;
            const double inverse = q[row];
            double found[components], along[components], residual[components];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                found[c] = x[at], along[c] = from[at], residual[c] = is_own ? r[at] : 0.0;
            }
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                x[at] = multiply_add(step[c], along[c], found[c]);
                if (is_own) p[at] = next_direction(share[c], along[c], inverse, residual[c]);
            }
        }
    }

    // The halves of `direction` where the solution's step goes beside the sums of all ranks: own
    // rows' next direction, and what is left of the last iteration's step.
    KERNEL aim(ARGUMENTS) {
        double share[components];
        for (int c = 0; c < components; ++c) share[c] = scalars[c * words + beta];
        FOR_ITEMS(row) {
            const double inverse = q[row];
            double along[components], residual[components];
            for (int c = 0; c < components; ++c) along[c] = from[(long long)c * stride + row], residual[c] = r[(long long)c * stride + row];
            for (int c = 0; c < components; ++c) p[(long long)c * stride + row] = next_direction(share[c], along[c], inverse, residual[c]);
        }
    }

    KERNEL go_on(ARGUMENTS) {
        FOR_ITEMS(row)
        for (int c = 0; c < components; ++c) {
            const long long at = (long long)c * stride + row;
            x[at] = multiply_add(taken_in(scalars)[c], from[at], x[at]);
        }
    }

    // What follows from the sums of `start`, `dots` and `update`. Sums are per row.
    DEVICE void finish_started(double* scalars, int c, double square) {
        double* const own = scalars + c * words;
        taken_in(scalars)[c] = 0;
        store_first_scalars(square, own[tolerance], own);
    }

    DEVICE void finish_dotted(double* scalars, int c, double product) {
        Scalars own = scalars_of(scalars + c * words);
        step_along(own, product);
        dots_in(scalars)[c] = product;
        scalars[c * words + alpha] = own.step;
    }

    DEVICE void finish_updated(double* scalars, int c, double square) {
        Scalars own = scalars_of(scalars + c * words);
        step_along(own, dots_in(scalars)[c]);
        scalars_after(own, square);
        taken_in(scalars)[c] = own.step;
        store_scalars(own, scalars + c * words);
    }

    KERNEL started(ARGUMENTS) {
        FOR_COMPONENTS(c) {
            const double square = sum_all<block_rows, block_rows>(all, places, c, (last + block_rows - 1) / block_rows) / last;
            ONE_THREAD finish_started(scalars, c, square);
        }
    }

    KERNEL dotted(ARGUMENTS) {
        FOR_COMPONENTS(c) {
            const double product = sum_all<dot_lanes, dot_rows>(all, places, c, (last + dot_rows - 1) / dot_rows) / last;
            ONE_THREAD finish_dotted(scalars, c, product);
        }
    }

    KERNEL updated(ARGUMENTS) {
        FOR_COMPONENTS(c) {
            const double square = sum_all<block_rows, block_rows>(all, places, c, (last + block_rows - 1) / block_rows) / last;
            ONE_THREAD finish_updated(scalars, c, square);
        }
    }
    )cpp";

// share_...: the sums of all ranks' chunks are gathered first, in the same launch. Of each
// component a few blocks have neighbouring lanes; the block that is done last puts theirs together.
// All other blocks take the solution's step at some rows meanwhile, for sums leave most of a GPU
// idle: the first ones behind the residuals, the others behind the next products.
constexpr const char* sharing_body = R"cpp(
#define SHARING_KERNEL extern "C" __global__ void __launch_bounds__(sharing_threads)
#define SHARED_POINTERS unsigned *const *boxes, unsigned *done, double *of_groups, unsigned *groups_done
#define SHARED_NUMBERS int own_words, int ranks, int rank, int data, int flags, int epoch, int first_step, int last_step

    constexpr int summing_blocks = components * lane_groups;

    // x += step p, of the blocks behind those that sum; components' steps lie `apart`.
    DEVICE void take_steps(double* x, const double* p, const double* steps, int apart, int stride, int first, int last) {
        constexpr int together = 2;
        const int threads = ((int)gridDim.x - summing_blocks) * blockDim.x;
        double step[components];
        for (int c = 0; c < components; ++c) step[c] = steps[c * apart];
        for (int begin = first + ((int)blockIdx.x - summing_blocks) * blockDim.x + threadIdx.x; begin < last; begin += together * threads) {
            double found[together][components], along[together][components];
#pragma unroll
            for (int i = 0; i < together; ++i)
                if (begin + i * threads < last)
                    for (int c = 0; c < components; ++c) {
                        const long long at = (long long)c * stride + begin + i * threads;
                        found[i][c] = x[at], along[i][c] = p[at];
                    }
#pragma unroll
            for (int i = 0; i < together; ++i)
                if (begin + i * threads < last)
                    for (int c = 0; c < components; ++c) x[(long long)c * stride + begin + i * threads] = multiply_add(step[c], along[i][c], found[i][c]);
        }
    }

    template <int lanes, int chunk_rows, typename Finish>
    DEVICE void share_and_sum(const double* own_sums, const double* all, const int* places, int rows, double* x, const double* p, const double* steps,
                              int apart, int stride, SHARED_POINTERS, SHARED_NUMBERS, Finish finish) {
        share_words(own_sums, own_words / 2, boxes, done, ranks, rank, data, flags, epoch);
        if (blockIdx.x >= summing_blocks) return take_steps(x, p, steps, apart, stride, first_step, last_step);
        await_words(boxes, ranks, rank, flags, epoch);
        constexpr int of_share = share_rows / chunk_rows, of_group = lanes / lane_groups;
        __shared__ double of_warp[of_group / 32];
        __shared__ int is_last;
        const int c = blockIdx.x / lane_groups, group = blockIdx.x % lane_groups, chunks = (rows + chunk_rows - 1) / chunk_rows;
        const int* const begins = places + (long long)c * ((chunks + of_share - 1) / of_share);
        double sum = 0;
        if (threadIdx.x < of_group) {
            // Many loads are under way together; the order of the sum stays, and a 0 more changes no sum that begins with one.
            constexpr int at_once = 24;
            for (int begin = group * of_group + threadIdx.x; begin < chunks; begin += at_once * lanes) {
                double loaded[at_once];
#pragma unroll
                for (int i = 0; i < at_once; ++i) {
                    const int chunk = min(begin + i * lanes, chunks - 1);
                    loaded[i] = all[begins[chunk / of_share] + chunk % of_share];
                }
#pragma unroll
                for (int i = 0; i < at_once; ++i) sum += begin + i * lanes < chunks ? loaded[i] : 0.0;
            }
            for (int joined = 1; joined < 32; joined *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, joined);
            if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int joined = 1; joined < of_group / 32; joined *= 2)
                for (int i = 0; i < of_group / 32; i += 2 * joined) of_warp[i] += of_warp[i + joined];
            *(volatile double*)(of_groups + blockIdx.x) = of_warp[0];
            __threadfence();
            is_last = atomicAdd(groups_done, 1u) == summing_blocks - 1;
            if (is_last) *groups_done = 0;
        }
        __syncthreads();
        if (!is_last || threadIdx.x >= components) return;
        __threadfence();
        double groups[lane_groups];
        for (int i = 0; i < lane_groups; ++i) groups[i] = *(volatile double*)(of_groups + threadIdx.x * lane_groups + i);
        for (int joined = 1; joined < lane_groups; joined *= 2)
            for (int i = 0; i < lane_groups; i += 2 * joined) groups[i] += groups[i + joined];
        finish((int)threadIdx.x, groups[0] / rows);
    }

    SHARING_KERNEL share_started(POINTERS, SHARED_POINTERS, NUMBERS, SHARED_NUMBERS) {
        share_and_sum<block_rows, block_rows>(sums, all, places, last, x, p, scalars, 0, stride, boxes, done, of_groups, groups_done, own_words,
                                              ranks, rank, data, flags, epoch, 0, 0, [=](int c, double sum) { finish_started(scalars, c, sum); });
    }

    SHARING_KERNEL share_dotted(POINTERS, SHARED_POINTERS, NUMBERS, SHARED_NUMBERS) {
        share_and_sum<dot_lanes, dot_rows>(sums, all, places, last, x, from, taken_in(scalars), 1, stride, boxes, done, of_groups, groups_done,
                                           own_words, ranks, rank, data, flags, epoch, first_step, last_step,
                                           [=](int c, double sum) { finish_dotted(scalars, c, sum); });
    }

    SHARING_KERNEL share_updated(POINTERS, SHARED_POINTERS, NUMBERS, SHARED_NUMBERS) {
        share_and_sum<block_rows, block_rows>(sums, all, places, last, x, p, scalars + alpha, words, stride, boxes, done, of_groups, groups_done,
                                              own_words, ranks, rank, data, flags, epoch, first_step, last_step,
                                              [=](int c, double sum) { finish_updated(scalars, c, sum); });
    }
)cpp";

// All kernels' text and arguments; `more` stands behind the text.
KernelSource source_of(Target target, int components, const std::string& more) {
    KernelSource source;
    source.target = target;
    source.precision = Precision::f64;
    const std::string constants =
        fmt::format("constexpr int block_rows = {}, dot_rows = {}, dot_lanes = {}, share_rows = {}, lane_groups = {}, sharing_threads = {};\n",
                    RankMassKernels::residual_rows, RankMassKernels::dot_rows, RankMassKernels::dot_lanes, Discretisation::node_chunk,
                    RankMassKernels::lane_groups, RankMassKernels::sharing_threads);
    source.text =
        item_kernels("Conjugate gradients on several ranks beside the product with the matrix.", target, source.precision,
                     MassKernels::arithmetic(target, components) + constants + (traits_of(target).has_blocks ? cuda_sums : cpu_sums) + body + more);
    for (const char* name : {"b", "q", "held", "w", "from", "all", "places", "border"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"x", "r", "p", "sums", "scalars"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    source.scalars = {{"stride", 0}, {"own", 0}};
    return source;
}

}  // namespace

KernelSource RankMassKernels::source(Target target, int components) {
    KernelSource source = source_of(target, components, "");
    for (const char* entry : {"clear", "start", "dots", "update", "turn", "direction", "aim", "go_on", "started", "dotted", "updated"}) {
        source.entries.emplace_back(entry);
        const int threads = source.entries.back() == "dotted" ? dot_lanes : item_threads;
        source.step.push_back({.entry = entry, .block = {threads, 1, 1}, .constants = {}});
    }
    return source;
}

KernelSource RankMassKernels::sharing_source(int components, int blocks) {
    KernelSource source = source_of(Target::cuda, components, PeerWords::device_functions() + sharing_body);
    for (const char* name : {"boxes", "done", "of_groups", "groups_done"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    const int grid = std::max(blocks, components * lane_groups + 1);
    for (const char* entry : {"share_started", "share_dotted", "share_updated"}) {
        source.entries.emplace_back(entry);
        source.step.push_back({.entry = entry, .grid = {grid, 1, 1}, .block = {sharing_threads, 1, 1}, .constants = std::vector<int>(8)});
    }
    return source;
}

}  // namespace hone::inline v0_1::solvers::hydro
