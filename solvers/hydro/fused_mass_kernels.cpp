#include "solvers/hydro/fused_mass_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr int chunk_rows = MassKernels::chunk_rows;
// Of dot products, as fe_mass sums them up: chunks of so many rows, dealt to so many lanes.
constexpr int dot_rows = 32, dot_lanes = 1024;
constexpr int dot_groups = dot_lanes / dot_rows;  // of lanes that a warp has

// How rows are dealt to blocks, one to a multiprocessor: `teams` chunks at a time, `passes` times.
// The rows of the last `kept` passes stay in registers.
struct Plan {
    Plan(const Limits& limits, int rows) {
        const int chunks = (rows + chunk_rows - 1) / chunk_rows;
        const int of_multiprocessor = (chunks + limits.multiprocessors - 1) / limits.multiprocessors;
        teams = std::min(of_multiprocessor, most_teams);
        blocks = std::min(limits.multiprocessors, (chunks + teams - 1) / teams);
        passes = (chunks + blocks * teams - 1) / (blocks * teams);
        kept = std::min(passes, most_kept);
    }

    // So that a thread has 80 registers, which hold three rows of three components.
    static constexpr int most_teams = 3, most_kept = 3;

    int teams = 1, blocks = 1, passes = 1, kept = 1;
};

// `meet_here`, and sums of warps.
constexpr const char* meetings = R"cpp(
    __device__ unsigned int meetings;

    // All blocks wait here for each other, and see behind it what they stored before it. The highest bit turns when the last one comes.
    template <typename Meanwhile>
    DEVICE void meet_here(Meanwhile meanwhile) {
        unsigned int before = 0;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            before = atomicAdd(&meetings, blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u);
        }
        meanwhile();
        if (threadIdx.x == 0) {
            while (((before ^ *(volatile unsigned int*)&meetings) & 0x80000000u) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
    }

    // In pairs of neighbours; all get it.
    DEVICE double sum_of_warp(double value) {
        for (int joined = 1; joined < 32; joined *= 2) value += __shfl_xor_sync(0xffffffffu, value, joined);
        return value;
    }

    // Of several numbers at once.
    template <int count>
    DEVICE void sum_in_warp(double (&values)[count]) {
        for (int joined = 1; joined < 32; joined *= 2)
            for (int i = 0; i < count; ++i) values[i] += __shfl_xor_sync(0xffffffffu, values[i], joined);
    }

    // The rest of a sum over a chunk's threads: of what each of its warps has.
    DEVICE double sum_of_warps(const double* of_warp) {
        double pairs[chunk_rows / 32];
#pragma unroll
        for (int i = 0; i < chunk_rows / 32; ++i) pairs[i] = of_warp[i];
#pragma unroll
        for (int count = chunk_rows / 64; count > 0; count /= 2)
#pragma unroll
            for (int i = 0; i < count; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
        return pairs[0];
    }

    // Sums of chunks of all rows, [component][chunk], which all blocks leave and find. On several ranks something else stands in its place.
    struct OwnSums {
        double* all;
        int rows;

        DEVICE void put(int c, int chunks, int chunk, double sum) const { all[(long long)c * chunks + chunk] = sum; }
        template <typename Meanwhile>
        DEVICE void meet(Meanwhile meanwhile) const {
            meet_here(meanwhile);
        }
    };

    // Towards the second cache, for a load that comes later.
    DEVICE void fetch_ahead(const void* word) {
#ifdef __CUDA_ARCH__
        asm volatile("prefetch.global.L2 [%0];" : : "l"(word));
#endif
    }

    DEVICE int row_of(int pass) {
        const int team = threadIdx.x / chunk_rows, lane = threadIdx.x % chunk_rows;
        return ((pass * (int)gridDim.x + (int)blockIdx.x) * teams + team) * chunk_rows + lane;
    }
)cpp";

// The part of an iteration behind p . w. `next` is the row of pass 0, product(pass, row, words)
// gives what M p is there, `all` are the components' scalars before the step, shared by the block;
// ahead() comes when they are those behind it, before any direction changes.
constexpr const char* halves = R"cpp(
    template <typename Sums, typename Product, typename Ahead>
    DEVICE void take_halves(const double* q, const int* held, double* x, double* r, double* p, Sums squares_of_all, double* scalars, int rows,
                            int stride, Row next, Scalars* all, Product product, Ahead ahead) {
        __shared__ double of_warp[2][teams][components][chunk_rows / 32];
        const int own_chunks = (rows + chunk_rows - 1) / chunk_rows, chunks = (squares_of_all.rows + chunk_rows - 1) / chunk_rows;
        const int team = threadIdx.x / chunk_rows, lane = threadIdx.x % chunk_rows, warp = lane / 32;
        constexpr int first_kept = passes - kept;

        // r -= alpha w, and r . Q r by chunks.
        const auto take_residual = [&](int pass, double(&found)[components], double& inverse) {
            Row own = next;
            const int row = row_of(pass);
            if (row < rows) product(pass, row, own.product);
            if (pass + 1 < passes && row_of(pass + 1) < rows) load_row(q, held, r, stride, row_of(pass + 1), next);
            double squares[components] = {};
            if (row < rows) {
                new_residual(
                    own, [=](int c) { return all[c].step; }, found, squares);
                for (int c = 0; c < components; ++c) r[(long long)c * stride + row] = found[c];
                inverse = own.inverse;
            }
            sum_in_warp(squares);
            if (lane % 32 == 0)
                for (int c = 0; c < components; ++c) of_warp[pass % 2][team][c][warp] = squares[c];
            __syncthreads();
            if (threadIdx.x >= teams * components) return;
            const int of = threadIdx.x / components, c = threadIdx.x % components, chunk = (pass * (int)gridDim.x + (int)blockIdx.x) * teams + of;
            if (chunk < own_chunks) squares_of_all.put(c, chunks, chunk, sum_of_warps(of_warp[pass % 2][of][c]));
        };
        double residual[kept][components], inverse[kept];
#pragma unroll 1
        for (int pass = 0; pass < first_kept; ++pass) take_residual(pass, residual[0], inverse[0]);
#pragma unroll
        for (int k = 0; k < kept; ++k) take_residual(first_kept + k, residual[k], inverse[k]);

        // x += alpha p, p = Q r + beta p.
        struct Step {
            double found[components], along[components];
        };
        const auto load_step = [=](int row, Step& step) {
            if (row >= rows) return;
            for (int c = 0; c < components; ++c) step.found[c] = x[(long long)c * stride + row], step.along[c] = p[(long long)c * stride + row];
        };
        Step step;
        squares_of_all.meet([&] {
            load_step(row_of(first_kept), step);
            for (int k = 1; fetches_ahead && k < kept; ++k) {
                const int row = row_of(first_kept + k);
                for (int c = 0; c < components && row < rows; ++c)
                    fetch_ahead(x + (long long)c * stride + row), fetch_ahead(p + (long long)c * stride + row);
            }
        });
        for (int c = team; c < components; c += teams) {
            double sum = 0;
#pragma unroll 8
            for (int chunk = lane; chunk < chunks; chunk += chunk_rows) sum += __ldcg(squares_of_all.all + (long long)c * chunks + chunk);
            sum = sum_of_warp(sum);
            if (lane % 32 == 0) of_warp[0][0][c][warp] = sum;
        }
        __syncthreads();
        if (threadIdx.x < components) {
            Scalars own = all[threadIdx.x];
            scalars_after(own, sum_of_warps(of_warp[0][0][threadIdx.x]) / squares_of_all.rows);
            all[threadIdx.x] = own;
            if (blockIdx.x == 0) store_scalars(own, scalars + threadIdx.x * words);
        }
        __syncthreads();
        ahead();
        const auto take_step = [&](int row, const Step& of, const double(&residuals)[components], double weight) {
            if (row >= rows) return;
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                x[at] = multiply_add(all[c].of[alpha], of.along[c], of.found[c]);
                p[at] = next_direction(all[c].of[beta], of.along[c], weight, residuals[c]);
            }
        };
#pragma unroll
        for (int k = 0; k < kept; ++k) {
            const Step now = step;
            if (k + 1 < kept) load_step(row_of(first_kept + k + 1), step);
            take_step(row_of(first_kept + k), now, residual[k], inverse[k]);
        }
#pragma unroll 2
        for (int pass = first_kept - 1; pass >= 0; --pass) {
            const int row = row_of(pass);
            double again[components] = {}, weight = 0;
            load_step(row, step);
            if (row < rows) {
                weight = q[row];
                for (int c = 0; c < components; ++c) again[c] = r[(long long)c * stride + row];
            }
            take_step(row, step, again, weight);
        }
    }

#define FUSED_KERNEL extern "C" __global__ void __launch_bounds__(teams* chunk_rows, 1)
)cpp";

constexpr const char* behind_rows = R"cpp(
    FUSED_KERNEL iterate(ARGUMENTS) {
        __shared__ Scalars all[components];
        const int rows = last - first;
        Row next;
        if (row_of(0) < rows) load_row(q, held, r, rows, row_of(0), next);
        if (threadIdx.x < components) {
            Scalars own = scalars_of(scalars + threadIdx.x * words);
            step_along(own, dot[threadIdx.x]);
            all[threadIdx.x] = own;
        }
        __syncthreads();
        take_halves(
            q, held, x, r, p, OwnSums{sums, rows}, scalars, rows, rows, next, all,
            [=](int, int row, double* product) { load_product(w, rows, row, product); }, [] {});
    }
)cpp";

// Behind the text of fe_mass, whose in_sums says where elements leave what they have for a node.
constexpr const char* behind_elements = R"cpp(
    struct Corners {
        const int *starts, *places;
        const double* sums;
        int elements;
    };

    // M p at some rows, added up as fe_mass does.
    template <int count>
    DEVICE void gather(const Corners& from, int rows, const int (&row)[count], double (&sum)[count][components]) {
        int corner[count], end[count], place[count][corners_together];
#pragma unroll
        for (int k = 0; k < count; ++k) {
            corner[k] = end[k] = 0;
            if (row[k] < rows) corner[k] = from.starts[row[k]], end[k] = from.starts[row[k] + 1];
        }
#pragma unroll
        for (int k = 0; k < count; ++k)
#pragma unroll
            for (int i = 0; i < corners_together; ++i) place[k][i] = corner[k] + i < end[k] ? from.places[corner[k] + i] : -1;
#pragma unroll
        for (int k = 0; k < count; ++k) {
            for (int c = 0; c < components; ++c) sum[k][c] = 0;
            while (corner[k] < end[k]) {
                double of_corner[corners_together][components];
#pragma unroll
                for (int i = 0; i < corners_together; ++i)
#pragma unroll
                    for (int c = 0; c < components; ++c)
                        of_corner[i][c] =
                            place[k][i] >= 0
                                ? from.sums[in_sums(place[k][i] / element_nodes_count, place[k][i] % element_nodes_count, c, from.elements)]
                                : 0.0;
                corner[k] += corners_together;
#pragma unroll
                for (int i = 0; i < corners_together; ++i) place[k][i] = corner[k] + i < end[k] ? from.places[corner[k] + i] : -1;
#pragma unroll
                for (int i = 0; i < corners_together; ++i)
#pragma unroll
                    for (int c = 0; c < components; ++c) sum[k][c] += of_corner[i][c];
            }
        }
    }

    // p . w of 32 rows each, a warp's. All words of p are on their way before the first is wanted.
    template <int count, typename Sums>
    DEVICE void put_dots(const double* p, int rows, int stride, const int (&row)[count], const double (&sum)[count][components], Sums dots) {
        const int dot_chunks = (dots.rows + dot_rows - 1) / dot_rows;
        double along[count][components];
#pragma unroll
        for (int k = 0; k < count; ++k)
            for (int c = 0; c < components; ++c) along[k][c] = row[k] < rows ? p[(long long)c * stride + row[k]] : 0.0;
#pragma unroll
        for (int k = 0; k < count; ++k) {
            for (int c = 0; c < components; ++c) along[k][c] = row[k] < rows ? multiply_add(sum[k][c], along[k][c], 0.0) : 0.0;
            sum_in_warp(along[k]);
            if (threadIdx.x % 32 == 0 && row[k] < rows)
                for (int c = 0; c < components; ++c) dots.put(c, dot_chunks, row[k] / dot_rows, along[k][c]);
        }
    }

    // Of a lane, of which a warp has a share: group number % dot_groups of component number / dot_groups.
    template <int unrolled>
    DEVICE double sum_of_lane(const double* dot_sums, int rows, int number) {
        const int dot_chunks = (rows + dot_rows - 1) / dot_rows, c = number / dot_groups, group = number % dot_groups;
        double sum = 0;
#pragma unroll unrolled
        for (int chunk = group * 32 + (int)threadIdx.x % 32; chunk < dot_chunks; chunk += dot_lanes)
            sum += __ldcg(dot_sums + (long long)c * dot_chunks + chunk);
        return sum;
    }

    // An iteration behind what elements leave for their nodes.
    template <typename Dots, typename Squares, typename Ahead>
    DEVICE void iterate_behind(Corners from, const double* q, const int* held, double* w, double* x, double* r, double* p, double* scalars, Dots dots,
                               Squares squares, double* groups, int rows, int stride, Scalars* all, Ahead ahead) {
        __shared__ double groups_here[components * dot_groups];
        constexpr int first_kept = passes - kept, warps = teams * chunk_rows / 32;
        if (threadIdx.x < components) all[threadIdx.x] = scalars_of(scalars + threadIdx.x * words);
#pragma unroll 1
        for (int pass = 0; pass < first_kept; ++pass) {
            const int row[1] = {row_of(pass)};
            double sum[1][components];
            gather(from, rows, row, sum);
            put_dots(p, rows, stride, row, sum, dots);
            if (row[0] < rows)
                for (int c = 0; c < components; ++c) w[(long long)c * stride + row[0]] = sum[0][c];
        }
        int row[kept];
        double product[kept][components];
#pragma unroll
        for (int k = 0; k < kept; ++k) row[k] = row_of(first_kept + k);
        gather(from, rows, row, product);
        put_dots(p, rows, stride, row, product, dots);

        Row next;
        dots.meet([&] {
            if (row_of(0) < rows) load_row(q, held, r, stride, row_of(0), next);
            for (int pass = 1; fetches_ahead && pass < passes && pass < kept; ++pass) {
                const int ahead_row = row_of(pass);
                if (ahead_row >= rows) break;
                fetch_ahead(q + ahead_row), fetch_ahead(held + ahead_row);
                for (int c = 0; c < components; ++c) fetch_ahead(r + (long long)c * stride + ahead_row);
            }
        });
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        constexpr int numbers = components * dot_groups, of_a_warp = (numbers + warps - 1) / warps;
        if (alone) {
            // All are on their way before the first is added up.
            double sum[of_a_warp];
#pragma unroll
            for (int i = 0; i < of_a_warp; ++i) sum[i] = warp + i * warps < numbers ? sum_of_lane<2>(dots.all, dots.rows, warp + i * warps) : 0.0;
#pragma unroll
            for (int i = 0; i < of_a_warp; ++i) {
                sum[i] = sum_of_warp(sum[i]);
                if (lane == 0 && warp + i * warps < numbers) groups_here[warp + i * warps] = sum[i];
            }
            __syncthreads();
        } else {
            for (int number = blockIdx.x + gridDim.x * warp; number < numbers; number += gridDim.x * warps) {
                const double sum = sum_of_warp(sum_of_lane<8>(dots.all, dots.rows, number));
                if (lane == 0) groups[number] = sum;
            }
            meet_here([] {});
        }
        if (warp < components) {
            const int number = warp * dot_groups + lane;
            const double sum = sum_of_warp(alone ? groups_here[number] : __ldcg(groups + number));
            if (lane == 0) {
                Scalars own = all[warp];
                step_along(own, sum / dots.rows);
                all[warp] = own;
            }
        }
        __syncthreads();
        take_halves(
            q, held, x, r, p, squares, scalars, rows, stride, next, all,
            [&](int pass, int row_here, double* to) {
                if (pass < first_kept) return load_product(w, stride, row_here, to);
#pragma unroll
                for (int k = 0; k < kept; ++k)
                    if (pass == first_kept + k)
                        for (int c = 0; c < components; ++c) to[c] = product[k][c];
            },
            ahead);
    }
)cpp";

constexpr const char* elements_of_one_rank = R"cpp(
    FUSED_KERNEL iterate(POINTERS, const int* corner_starts, const int* corners, const double* element_sums, double* dot_sums, double* groups,
                         int elements, int first, int last) {
        __shared__ Scalars all[components];
        const int rows = last - first;
        iterate_behind(Corners{corner_starts, corners, element_sums, elements}, q, held, (double*)w, x, r, p, scalars, OwnSums{dot_sums, rows},
                       OwnSums{sums, rows}, groups, rows, rows, all, [] {});
    }
)cpp";

}  // namespace

KernelSource FusedMassKernels::source_of(const Limits& limits, int components, int rows, const KernelSource* product, bool alone,
                                         const std::string& kernels, const std::string& entry) {
    const Plan plan(limits, rows);
    KernelSource source;
    source.target = Target::cuda;
    source.precision = Precision::f64;
    const std::string constants =
        fmt::format("constexpr int teams = {}, passes = {}, kept = {};\nconstexpr int dot_rows = {}, dot_lanes = {}, dot_groups = {};\n", plan.teams,
                    plan.passes, plan.kept, dot_rows, dot_lanes, dot_groups) +
        // Blocks of several GPUs wait longer for each other, and memory has nothing to do then.
        fmt::format("constexpr bool alone = {}, fetches_ahead = {};\n", alone, entry == "iterate_on_ranks");
    const std::string own = MassKernels::text(Target::cuda, components) + constants + meetings + halves;
    // What fe_mass names is hidden by what this names alike.
    source.text = product == nullptr ? own + kernels
                                     : fmt::format("{}\nnamespace conjugate_gradients {{\n{}{}{}}}\nusing conjugate_gradients::{};\n", product->text,
                                                   own, behind_elements, kernels, entry);
    source.entries = {entry};
    source.step.push_back({.entry = entry, .grid = {plan.blocks, 1, 1}, .block = {plan.teams * chunk_rows, 1, 1}, .constants = {}});
    return source;
}

int FusedMassKernels::block_of(const Limits& limits, int rows, int row) {
    const Plan plan(limits, rows);
    return row / chunk_rows / plan.teams % plan.blocks;
}

KernelSource FusedMassKernels::source(const Limits& limits, int components, int rows, const KernelSource* product, int few_rows) {
    KernelSource source =
        source_of(limits, components, rows, product, rows <= few_rows, product == nullptr ? behind_rows : elements_of_one_rank, "iterate");
    for (const char* name : {"b", "q", "held", "w", "dot"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"x", "r", "p", "sums", "scalars"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    if (product != nullptr) {
        for (const char* name : {"corner_starts", "corners", "element_sums"}) source.arrays.push_back({name, Access::in, 0, "", ""});
        for (const char* name : {"dot_sums", "groups"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
        source.scalars = {product->scalars.front()};
    }
    return source;
}

ElementProduct::ElementProduct(Backend& backend, KernelSource source, std::vector<const void*> matrix)
    : elements_(source.step.front()), module_(backend.load(compiled_mass_kernels(backend, source))), matrix_(std::move(matrix)) {
    for (const ScalarSpec& scalar : source.scalars) scalars_.push_back(scalar.value);
    constexpr std::int64_t word = sizeof(double);
    sums_ = DeviceArray(backend, source.tables.at(0).words * word);
    dot_sums_ = DeviceArray(backend, source.tables.at(1).words * word);
}

void ElementProduct::launch(const void* p, const void* w, const void* dot, Stream stream) const {
    std::vector<const void*> pointers = matrix_;
    pointers.insert(pointers.end(), {p, w, dot, sums_.data(), dot_sums_.data()});
    std::vector<int> numbers = scalars_;
    numbers.insert(numbers.end(), {0, elements()});
    launch_mass_kernel(*module_, elements_, std::move(pointers), std::move(numbers), stream);
}

FusedMassKernels::FusedMassKernels(Backend& backend, int components, int rows, const Product* product)
    : FusedMassKernels(backend, source(backend.device().limits, components, rows, product == nullptr ? nullptr : &product->source), rows, product,
                       product == nullptr ? KernelSource{} : product->source) {
}

FusedMassKernels::FusedMassKernels(Backend& backend, const KernelSource& source, int rows, const Product* product, const KernelSource& of_product)
    : rows_(rows), own_(source.step.front()), module_(backend.load(compiled_mass_kernels(backend, source))) {
    if (product == nullptr) return;
    product_.emplace(backend, of_product, product->matrix);
    dot_groups_ = DeviceArray(backend, group_words(most_components) * static_cast<std::int64_t>(sizeof(double)));
}

void FusedMassKernels::iterate(const MassKernels::Arrays& arrays, bool cooperative, Stream stream) const {
    if (product_) product_->launch(arrays.p, arrays.w, arrays.dot, stream);
    std::vector<const void*> pointers = arrays.pointers();
    std::vector<int> numbers{0, rows_};
    if (product_) {
        pointers.insert(pointers.end(), {product_->corner_starts(), product_->corners(), product_->sums(), product_->dot_sums(), dot_groups_.data()});
        numbers.insert(numbers.begin(), product_->elements());
    }
    launch_mass_kernel(*module_, own_, std::move(pointers), std::move(numbers), stream, cooperative);
}

}  // namespace hone::inline v0_1::solvers::hydro
