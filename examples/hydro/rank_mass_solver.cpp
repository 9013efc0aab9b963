#include "examples/hydro/rank_mass_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "examples/hydro/zone_kernels.hpp"
#include "examples/item_kernels/item_kernels.hpp"
#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/families/csr_spmv/family.hpp"
#include "runtime/buffers.hpp"
#include "runtime/ranks/device_gather.hpp"

namespace hone::examples::hydro {
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
#define DEVICE __device__ __forceinline__
    DEVICE double multiply_add(double a, double b, double c) {
        return fma(a, b, c);
    }

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
#define DEVICE inline
    DEVICE double multiply_add(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
        return __builtin_fma(a, b, c);
#else
        return a * b + c;
#endif
    }

    // In pairs of neighbours.
    DEVICE double sum_in_pairs(double* values, int count) {
        for (int half = count / 2; half > 0; half /= 2)
            for (int i = 0; i < half; ++i) values[i] = values[2 * i] + values[2 * i + 1];
        return values[0];
    }

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
constexpr const char* body = R"cpp(
#define POINTERS                                                                                                                  \
        const double *b, const double *q, const int *held, const double *w, const double *from, const double *all, const int *places, \
            const int *border, double *x, double *r, double *p, double *sums, double *scalars
#define NUMBERS int stride, int own, int first, int last
#define ARGUMENTS POINTERS, NUMBERS

    enum Word { alpha, beta, delta, first_delta, threshold, tolerance_square, dot, active, iterations, breakdown };

    // z . r of a row, rounded by itself.
    DEVICE double weighted_square(double q, double r) {
        return multiply_add(q * r, r, 0.0);
    }

    DEVICE bool is_held(int held, int c) {
        return (held >> c & 1) != 0;
    }

    KERNEL clear(ARGUMENTS) {
        FOR_ITEMS(row)
        for (int c = 0; c < components; ++c) x[(long long)c * stride + row] = r[(long long)c * stride + row] = p[(long long)c * stride + row] = 0;
    }

    KERNEL start(ARGUMENTS) {
        sum_chunks<block_rows>(sums, first, last, (own + block_rows - 1) / block_rows, [=](int row, double* squares) {
            const double inverse = q[row];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                const double residual = is_held(held[row], c) ? 0 : b[at];
                r[at] = residual, p[at] = inverse * residual;
                squares[c] = weighted_square(inverse, residual);
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
            const double inverse = q[row];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                const double found = is_held(held[row], c) ? 0.0 : multiply_add(-scalars[alpha * components + c], w[at], r[at]);
                r[at] = found;
                squares[c] = weighted_square(inverse, found);
            }
        });
    }

    // The next direction of rows that are sent, elsewhere than the last one: ahead of all others.
    KERNEL turn(ARGUMENTS) {
        FOR_ITEMS(item) {
            const int row = border[item];
            const double inverse = q[row];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                p[at] = multiply_add(scalars[beta * components + c], from[at], inverse * r[at]);
            }
        }
    }

    // The solution's step, and own rows' next direction. All words of a row are loaded before any is stored.
    KERNEL direction(ARGUMENTS) {
        double step[components], share[components];
        for (int c = 0; c < components; ++c) step[c] = scalars[alpha * components + c], share[c] = scalars[beta * components + c];
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
                if (is_own) p[at] = multiply_add(share[c], along[c], inverse * residual[c]);
            }
        }
    }

    // What follows from the sums of `start`, `dots` and `update`, as in MassKernels. Sums are per row.
    DEVICE double& scalar(double* scalars, Word word, int c) {
        return scalars[word * components + c];
    }

    DEVICE void finish_started(double* scalars, int c, double square) {
        const double least = scalar(scalars, tolerance_square, c) * square;
        scalar(scalars, alpha, c) = scalar(scalars, beta, c) = scalar(scalars, iterations, c) = 0;
        scalar(scalars, delta, c) = scalar(scalars, first_delta, c) = square;
        scalar(scalars, threshold, c) = least;
        scalar(scalars, breakdown, c) = square >= 0 ? 0 : 1;
        scalar(scalars, active, c) = square > least ? 1 : 0;
    }

    DEVICE void finish_dotted(double* scalars, int c, double product) {
        scalar(scalars, dot, c) = product;
        scalar(scalars, alpha, c) = scalar(scalars, active, c) != 0 && product > 0 ? scalar(scalars, delta, c) / product : 0;
    }

    DEVICE void finish_updated(double* scalars, int c, double square) {
        const bool is_active = scalar(scalars, active, c) != 0, steps = is_active && scalar(scalars, dot, c) > 0;
        if (is_active && !(steps && square >= 0)) scalar(scalars, breakdown, c) = 1;
        scalar(scalars, beta, c) = steps ? square / scalar(scalars, delta, c) : 0;
        if (steps) scalar(scalars, delta, c) = square, scalar(scalars, iterations, c) += 1;
        scalar(scalars, active, c) = steps && square > scalar(scalars, threshold, c) ? 1 : 0;
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
constexpr const char* sharing_body = R"cpp(
#define SHARING_KERNEL extern "C" __global__ void __launch_bounds__(sharing_threads)
#define SHARED_POINTERS unsigned *const *boxes, unsigned *done, double *of_groups, unsigned *groups_done
#define SHARED_NUMBERS int words, int ranks, int rank, int data, int flags, int epoch

    template <int lanes, int chunk_rows, typename Finish>
    DEVICE void share_and_sum(const double* own_sums, const double* all, const int* places, int rows, SHARED_POINTERS, SHARED_NUMBERS,
                              Finish finish) {
        share_words(own_sums, words / 2, boxes, done, ranks, rank, data, flags, epoch);
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
            is_last = atomicAdd(groups_done, 1u) == gridDim.x - 1;
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
        share_and_sum<block_rows, block_rows>(sums, all, places, last, boxes, done, of_groups, groups_done, words, ranks, rank, data, flags, epoch,
                                              [=](int c, double sum) { finish_started(scalars, c, sum); });
    }

    SHARING_KERNEL share_dotted(POINTERS, SHARED_POINTERS, NUMBERS, SHARED_NUMBERS) {
        share_and_sum<dot_lanes, dot_rows>(sums, all, places, last, boxes, done, of_groups, groups_done, words, ranks, rank, data, flags, epoch,
                                           [=](int c, double sum) { finish_dotted(scalars, c, sum); });
    }

    SHARING_KERNEL share_updated(POINTERS, SHARED_POINTERS, NUMBERS, SHARED_NUMBERS) {
        share_and_sum<block_rows, block_rows>(sums, all, places, last, boxes, done, of_groups, groups_done, words, ranks, rank, data, flags, epoch,
                                              [=](int c, double sum) { finish_updated(scalars, c, sum); });
    }
)cpp";

constexpr int lane_groups = 8, sharing_threads = 512;
constexpr int dot_rows = spmv::chunk_rows;   // that csr_spmv and fe_mass sum up first,
constexpr int dot_lanes = 1024;              // and how many lanes they deal these sums to
constexpr int residual_rows = item_threads;  // that MassKernels sum up first, and as many lanes

enum Step : std::size_t { clear_step, start_step, dots_step, update_step, turn_step, direction_step, started_step, dotted_step, updated_step };

// Of each component, as the kernels have them.
struct Scalar {
    enum Word : int { alpha, beta, delta, first_delta, threshold, tolerance_square, dot, active, iterations, breakdown, words };
};

// All kernels' text and arguments; `more` stands behind the text.
KernelSource source_of(Target target, int components, const std::string& more) {
    KernelSource source;
    source.target = target;
    source.precision = Precision::f64;
    const std::string constants = fmt::format(
        "constexpr int components = {}, block_rows = {}, dot_rows = {}, dot_lanes = {}, share_rows = {}, lane_groups = {}, sharing_threads = {};\n",
        components, residual_rows, dot_rows, dot_lanes, Discretisation::node_chunk, lane_groups, sharing_threads);
    source.text = item_kernels("Conjugate gradients on several ranks beside the product with the matrix.", target, source.precision,
                               constants + (target == Target::cuda ? cuda_sums : cpu_sums) + body + more);
    for (const char* name : {"b", "q", "held", "w", "from", "all", "places", "border"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"x", "r", "p", "sums", "scalars"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    source.scalars = {{"stride", 0}, {"own", 0}};
    return source;
}

std::int64_t chunks_of(std::int64_t rows, std::int64_t chunk) {
    return (rows + chunk - 1) / chunk;
}

}  // namespace

struct RankMassSolver::State {
    const ZonePart& part;
    Backend& backend;
    int components, rows, own;
    Match found;                            // for the product with dot products,
    std::shared_ptr<const Kernel> product;  // and the one that has its configuration
    bool sums_rows;                         // it sums dot products up by itself
    KernelSource source;
    std::unique_ptr<Module> module;
    std::vector<DeviceArray> matrix;
    DeviceArray q, held, border, r, w, dot_sums, sums, scalars, of_groups;
    int border_rows;
    std::array<DeviceArray, 2> p;       // this iteration's direction and the last one's, in turn
    std::vector<BoundKernel> multiply;  // of each
    GatherExchange directions;
    // The sums of all ranks' chunks of so many rows, and where those of a share of nodes begin
    // among them.
    struct Sums {
        std::unique_ptr<DeviceGather> gather;
        DeviceArray places;
    };
    Sums of_dots, of_residuals;
    KernelSource sharing;  // kernels that gather sums by themselves, where they can
    std::unique_ptr<Module> sharing_module;
    HostBuffer look;             // the scalars, for the host
    double tolerance = -1;       // that is among the scalars
    std::array<int, 2> usual{};  // iterations of the last two solves: a time step's two take turns

    State(const ZonePart& of, Backend& on, KernelLibrary& library, MassForm form, const std::string& configuration)
        : part(of),
          backend(on),
          components(system().components),
          rows(system().matrix.rows()),
          own(static_cast<int>(of.own_nodes())),
          found(matching(library, form, configuration)),
          product(library.kernel(rank_product(form), found.config)),
          sums_rows(product->problem().word("kernel") == "apply_sums"),
          source(kernels(on.device().limits.target, components)),
          module(on.load(compiled(source))),
          matrix(product_arrays(on, system(), form)),
          q(uploaded(on, inverse_diagonal(system()))),
          held(uploaded(on, held_components(system()))),
          border(uploaded(on, rows_that_are_sent())),
          r(vectors()),
          w(vectors()),
          dot_sums(on, components * chunks_of(rows, dot_rows) * word),
          sums(on, components * chunks_of(own, residual_rows) * word),
          scalars(on, std::int64_t{Scalar::words} * components * word),
          of_groups(on, (components * lane_groups + 1) * word),  // and how many of them are done
          border_rows(static_cast<int>(rows_that_are_sent().size())),
          p{vectors(), vectors()},
          directions(of.ranks(), on, of.links(), sizeof(double)),
          of_dots(sums_of(dot_rows, rows)),
          of_residuals(sums_of(residual_rows, own)),
          sharing(sharing_kernels(components)),
          look(on, plain_rows(Precision::f64, std::int64_t{Scalar::words} * components, 1), HostMemory::pinned) {
        for (const DeviceArray& direction : p) {
            std::vector<void*> arrays;
            for (const DeviceArray& array : matrix) arrays.push_back(array.data());
            arrays.insert(arrays.end(), {direction.data(), w.data()});
            if (sums_rows) arrays.push_back(dot_sums.data());
            multiply.emplace_back(product, arrays);
            backend.fill(direction.data(), 0, direction.bytes());
        }
        backend.fill(of_groups.data(), 0, of_groups.bytes());
        if (of_dots.gather->for_kernels() != nullptr) sharing_module = backend.load(compiled(sharing));
        exchange(0);  // the first one finds the ways to other ranks
        directions.end();
    }

    static constexpr std::int64_t word = sizeof(double);
    const MassSystem& system() const { return part.here().velocity_mass; }
    DeviceArray vectors() const { return {backend, std::int64_t{components} * rows * word}; }

    // By rows of a matrix it has no sums of chunks.
    Problem rank_product(MassForm form) const {
        Problem dotted = product_problem(system(), form, form == MassForm::elements);
        if (form == MassForm::rows) return dotted;
        std::vector<Assignment> parameters = dotted.parameters();
        for (Assignment& parameter : parameters)
            if (parameter.name == "kernel") parameter.value = "apply_sums";
        return built_in_families().make_problem(std::string(dotted.family()), parameters);
    }
    Match matching(const KernelLibrary& library, MassForm form, const std::string& configuration) const {
        const Device& device = backend.device();
        const Problem problem = product_problem(system(), form, form == MassForm::elements);
        Match match = library.database().best(problem, device.fingerprint, device.limits);
        if (!configuration.empty()) match.config = built_in_families().of(problem).space(problem, device.limits).parse(configuration);
        return match;
    }

    // Own ones of which other ranks have copies, each once.
    std::vector<std::int32_t> rows_that_are_sent() const {
        std::set<std::int32_t> all;
        for (const GatherLink& link : part.links())
            for (const std::int64_t place : link.own) all.insert(static_cast<std::int32_t>(place % rows));
        return {all.begin(), all.end()};
    }

    CompiledCode compiled(const KernelSource& text) const {
        CompileOutcome outcome = backend.compiler().compile(text);
        if (!outcome.ok)
            throw Error("the kernels of the mass solver", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
        return std::move(outcome.code);
    }

    // By chunks of nodes as ranks share them: each has several of the smaller ones, the last one of
    // all perhaps fewer. `summed`: the rows whose chunks are there, own ones first.
    Sums sums_of(int rows_of_chunk, int summed) {
        const auto per_share = static_cast<std::int64_t>(Discretisation::node_chunk) / rows_of_chunk;
        const double own_rows = summed;
        std::vector<double> rows_of_ranks(static_cast<std::size_t>(part.ranks().size()));
        part.ranks().all_gather({&own_rows, 1}, equal_counts(part.ranks(), 1), rows_of_ranks);
        std::vector<std::int64_t> bytes;
        bytes.reserve(rows_of_ranks.size());
        for (const double count : rows_of_ranks) bytes.push_back(components * chunks_of(static_cast<std::int64_t>(count), rows_of_chunk) * word);
        const auto before = bytes.begin() + part.ranks().rank();
        const std::int64_t begin = std::accumulate(bytes.begin(), before, std::int64_t{0}) / word;
        // Numbers below 2^53 are words, too.
        const std::int64_t chunks = chunks_of(summed, rows_of_chunk), shares = chunks_of(own, Discretisation::node_chunk);
        std::vector<double> own_places;
        for (std::int64_t share = 0; share < shares; ++share)
            for (std::int64_t c = 0; c < components; ++c) own_places.push_back(static_cast<double>(begin + c * chunks + share * per_share));
        const std::vector<double> of_shares = part.chunks().all(own_places, components);
        const std::int64_t all_shares = part.chunks().items();
        std::vector<std::int32_t> places;
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t share = 0; share < all_shares; ++share)
                places.push_back(static_cast<std::int32_t>(of_shares[static_cast<std::size_t>(share * components + c)]));
        return {std::make_unique<DeviceGather>(part.ranks(), backend, bytes), uploaded(backend, places)};
    }

    // What a launch of an entry reads and writes. `turned`: which of the directions is `p`; `from`
    // is the other.
    struct Vectors {
        const void* b;
        void* x;
        std::size_t turned = 0;
    };
    struct Range {
        int first = 0, last = 0;
    };
    // A launch's arguments: pointers, then numbers.
    struct Arguments {
        std::vector<const void*> pointers;
        std::vector<int> numbers;
    };
    Arguments arguments_of(const Vectors& of, const DeviceArray& to, Range items, const void* all, const void* places) const {
        return {{of.b, q.data(), held.data(), w.data(), p.at(1 - of.turned).data(), all, places, border.data(), of.x, r.data(),
                 p.at(of.turned).data(), to.data(), scalars.data()},
                {rows, own, items.first, items.last}};
    }
    static void launch(const Module& with, const Launch& how, Dim3 grid, Arguments of, Stream stream = {}) {
        std::vector<void*> all;
        for (const void*& pointer : of.pointers) all.push_back(static_cast<void*>(&pointer));
        for (int& number : of.numbers) all.push_back(&number);
        with.launch(with.entry(how.entry), grid, how.block, 0, stream, all.data());
    }
    void launch(Step step, const Vectors& of, Range items, Stream stream = {}) const {
        launch(*module, source.step[step], item_blocks(items.last - items.first),
               arguments_of(of, step == dots_step ? dot_sums : sums, items, nullptr, nullptr), stream);
    }
    // What `step` makes of the sums of all ranks that the last launches left chunks of.
    void finish(Step step, const Vectors& of, const Sums& with) const {
        const DeviceArray& from = step == dotted_step ? dot_sums : sums;
        const Range all_rows{0, static_cast<int>(part.whole_nodes())};
        PeerWords* const words = with.gather->for_kernels();
        if (words == nullptr) {
            const void* const all = with.gather->gather(from.data());
            return launch(*module, source.step[step], {components, 1, 1}, arguments_of(of, from, all_rows, all, with.places.data()));
        }
        const PeerWords::Turn turn = words->next();
        Arguments arguments = arguments_of(of, from, all_rows, turn.all, with.places.data());
        auto* const groups = static_cast<double*>(of_groups.data());
        arguments.pointers.insert(arguments.pointers.end(), {turn.boxes, turn.done, groups, groups + components * lane_groups});
        arguments.numbers.insert(arguments.numbers.end(), {turn.words, turn.ranks, turn.rank, turn.data, turn.flags, turn.epoch});
        const Launch& how = sharing.step[step - started_step];
        launch(*sharing_module, how, how.grid, std::move(arguments));
    }

    // w = M p, and p . w by chunks: those of own rows count.
    void multiply_with(const Vectors& of) const {
        multiply[of.turned].launch();
        // A chunk of own rows may end before it is full, where those of other ranks go on here.
        const int full = sums_rows ? own / dot_rows * dot_rows : 0;
        if (!sums_rows || (full < own && own < rows)) launch(dots_step, of, {full, own});
    }

    // The next direction: first of the rows that are sent, which travel while all others are made.
    void take_direction(const Vectors& of) {
        if (border_rows > 0) launch(turn_step, of, {0, border_rows});
        exchange(of.turned);
        launch(direction_step, of, {0, rows});
        directions.end();
    }

    std::vector<double> words_of(Scalar::Word which) {
        const auto all = look.row<double>(0).subspan(static_cast<std::size_t>(which * components), static_cast<std::size_t>(components));
        return {all.begin(), all.end()};
    }
    bool any(Scalar::Word which) {
        const std::vector<double> all = words_of(which);
        return std::any_of(all.begin(), all.end(), [](double value) { return value != 0; });
    }
    void read_scalars() {
        backend.copy(look.data(), scalars.data(), scalars.bytes());
        backend.synchronise();
    }
    // It stays there.
    void write_tolerance(double wanted) {
        if (wanted == tolerance) return;
        tolerance = wanted;
        const auto all = look.row<double>(0);
        std::fill(all.begin(), all.end(), 0.0);
        std::fill_n(all.begin() + Scalar::tolerance_square * components, components, wanted * wanted);
        backend.copy(scalars.data(), look.data(), scalars.bytes());
        backend.synchronise();
    }

    void exchange(std::size_t turned) { directions.begin(std::array<void*, 1>{p.at(turned).data()}); }
};

RankMassSolver::RankMassSolver(const ZonePart& part, Backend& backend, KernelLibrary& library, MassForm form, const std::string& configuration)
    : state_(std::make_unique<State>(part, backend, library, form, configuration)) {
}
RankMassSolver::~RankMassSolver() = default;
RankMassSolver::RankMassSolver(RankMassSolver&&) noexcept = default;
RankMassSolver& RankMassSolver::operator=(RankMassSolver&&) noexcept = default;

MassSolve RankMassSolver::solve(const void* b, void* x, const MassSettings& settings) {
    State& s = *state_;
    if (settings.check_every < 1) throw Error("settings of the mass solver", fmt::format("check_every is {}", settings.check_every), "use 1 or more");
    s.write_tolerance(settings.tolerance);
    State::Vectors of{b, x};
    s.launch(clear_step, of, {0, s.rows});
    s.launch(start_step, of, {0, s.own});
    s.exchange(of.turned);
    s.directions.end();
    s.finish(started_step, of, s.of_residuals);
    const auto iterate = [&] {
        s.multiply_with(of);
        s.finish(dotted_step, of, s.of_dots);
        s.launch(update_step, of, {0, s.own});
        s.finish(updated_step, of, s.of_residuals);
        of.turned = 1 - of.turned;
        s.take_direction(of);
    };
    int executed = 0;
    do {
        // As MassSolver: no look before the last solves' number of iterations. All ranks see the
        // same scalars.
        const bool first_look = executed == 0 && settings.check_every > 1;
        const int wanted = first_look ? std::max({s.usual[0], s.usual[1], settings.check_every}) : settings.check_every;
        const int steps = std::min(wanted, settings.most_iterations - executed);
        for (int step = 0; step < steps; ++step) iterate();
        executed += steps;
        s.read_scalars();
    } while (s.any(Scalar::active) && executed < settings.most_iterations);
    MassSolve result;
    result.executed = executed;
    if (s.any(Scalar::active)) result.ending = MassEnding::too_many_iterations;
    if (s.any(Scalar::breakdown)) result.ending = MassEnding::breakdown;
    for (const double count : s.words_of(Scalar::iterations)) result.iterations.push_back(static_cast<int>(count));
    const std::vector<double> first = s.words_of(Scalar::first_delta);
    for (const double last : s.words_of(Scalar::delta)) {
        const double of_first = first[result.residuals.size()];
        result.residuals.push_back(of_first == 0 ? 0 : std::sqrt(last / of_first));
    }
    s.usual = {s.usual[1], *std::max_element(result.iterations.begin(), result.iterations.end())};
    return result;
}

void RankMassSolver::multiply(int times) {
    for (int n = 0; n < times; ++n) state_->multiply.front().launch();
}

std::string RankMassSolver::family() const {
    return state_->product->problem().family();
}

std::string RankMassSolver::kernel() const {
    const Match& match = state_->found;
    return fmt::format("{}: {}", to_string(match.grade), match.config.key());
}

Grade RankMassSolver::grade() const {
    return state_->found.grade;
}

KernelSource RankMassSolver::kernels(Target target, int components) {
    KernelSource source = source_of(target, components, "");
    for (const char* entry : {"clear", "start", "dots", "update", "turn", "direction", "started", "dotted", "updated"}) {
        source.entries.emplace_back(entry);
        const int threads = source.entries.back() == "dotted" ? dot_lanes : item_threads;
        source.step.push_back({.entry = entry, .block = {threads, 1, 1}, .constants = {}});
    }
    return source;
}

KernelSource RankMassSolver::sharing_kernels(int components) {
    KernelSource source = source_of(Target::cuda, components, PeerWords::device_functions() + sharing_body);
    for (const char* name : {"boxes", "done", "of_groups", "groups_done"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    for (const char* entry : {"share_started", "share_dotted", "share_updated"}) {
        source.entries.emplace_back(entry);
        source.step.push_back(
            {.entry = entry, .grid = {components * lane_groups, 1, 1}, .block = {sharing_threads, 1, 1}, .constants = std::vector<int>(6)});
    }
    return source;
}

}  // namespace hone::examples::hydro
