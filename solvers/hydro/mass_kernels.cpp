#include "solvers/hydro/mass_kernels.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "foundation/error.hpp"
#include "solvers/item_kernels/item_kernels.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr int chunk_rows = MassKernels::chunk_rows;
static_assert(chunk_rows == item_threads);

constexpr const char* cuda_words = R"cpp(
#define DEVICE __device__ __forceinline__
    DEVICE double multiply_add(double a, double b, double c) {
        return fma(a, b, c);
    }
)cpp";

constexpr const char* cpu_words = R"cpp(
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
        for (int pairs = count / 2; pairs > 0; pairs /= 2)
            for (int i = 0; i < pairs; ++i) values[i] = values[2 * i] + values[2 * i + 1];
        return values[0];
    }
)cpp";

// Sums of what `item(row, words, all, values)` gives for each component of a row whose words
// `load(row, words)` has loaded, and with the scalars of `all` components, of which
// `prepare(component)` makes one: by a block of threads for each chunk, then over all chunks by the
// block that ends last, of which a thread for each component calls `finish(component, scalars,
// sum)`. So a reduction is one launch, and its sums have one order. Scalars are prepared once for a
// block: a division by each thread takes longer than the rest of its work.
constexpr const char* cuda_sums = R"cpp(
    // With as many blocks at a time as a multiprocessor has threads for: they wait for each other's words most of their time.
#define SUMS_KERNEL extern "C" __global__ void __launch_bounds__(chunk_rows, 2048 / chunk_rows)

    // In pairs of neighbours; every thread gets them.
    DEVICE void sum_of_block(double (&values)[components]) {
        __shared__ double of_warp[components][chunk_rows / 32];
        for (int joined = 1; joined < 32; joined *= 2)
            for (int c = 0; c < components; ++c) values[c] += __shfl_xor_sync(0xffffffffu, values[c], joined);
        if (threadIdx.x % 32 == 0)
            for (int c = 0; c < components; ++c) of_warp[c][threadIdx.x / 32] = values[c];
        __syncthreads();
        for (int c = 0; c < components; ++c) values[c] = of_warp[c][threadIdx.x % (chunk_rows / 32)];
        for (int joined = 1; joined < chunk_rows / 32; joined *= 2)
            for (int c = 0; c < components; ++c) values[c] += __shfl_xor_sync(0xffffffffu, values[c], joined);
        __syncthreads();
    }

    __device__ unsigned int blocks_done;

    template <typename Words, typename Load, typename Prepare, typename Item, typename Finish>
    DEVICE void sum_rows(double* sums, int rows, Load load, Prepare prepare, Item item, Finish finish) {
        __shared__ int is_last;
        __shared__ Scalars all[components];
        const int row = blockIdx.x * chunk_rows + threadIdx.x, chunks = gridDim.x;
        Words loaded;
        if (threadIdx.x < components) all[threadIdx.x] = prepare((int)threadIdx.x);
        if (row < rows) load(row, loaded);
        __syncthreads();
        double values[components] = {};
        if (row < rows) item(row, loaded, all, values);
        sum_of_block(values);
        if (threadIdx.x == 0) {
            for (int c = 0; c < components; ++c) sums[(long long)c * chunks + blockIdx.x] = values[c];
            __threadfence();
            is_last = atomicAdd(&blocks_done, 1u) == (unsigned int)chunks - 1;
        }
        __syncthreads();
        if (!is_last) return;
        __threadfence();
        for (int c = 0; c < components; ++c) values[c] = 0;
#pragma unroll 8
        for (int chunk = threadIdx.x; chunk < chunks; chunk += chunk_rows)
            for (int c = 0; c < components; ++c) values[c] += sums[(long long)c * chunks + chunk];
        sum_of_block(values);
        if (threadIdx.x == 0) blocks_done = 0;
        if (threadIdx.x >= components) return;
        double mine = values[0];
        for (int c = 1; c < components; ++c)
            if ((int)threadIdx.x == c) mine = values[c];
        finish((int)threadIdx.x, all[threadIdx.x], mine);
    }
)cpp";

constexpr const char* cpu_sums = R"cpp(
#define SUMS_KERNEL KERNEL

    template <typename Words, typename Load, typename Prepare, typename Item, typename Finish>
    DEVICE void sum_rows(double* sums, int rows, Load load, Prepare prepare, Item item, Finish finish) {
        const int chunks = (rows + chunk_rows - 1) / chunk_rows;
        Scalars all[components];
        for (int c = 0; c < components; ++c) all[c] = prepare(c);
#pragma omp parallel for if (rows > 4096)
        for (int chunk = 0; chunk < chunks; ++chunk) {
            double lanes[components][chunk_rows] = {};
            const int begin = chunk * chunk_rows, count = rows - begin < chunk_rows ? rows - begin : chunk_rows;
            for (int i = 0; i < count; ++i) {
                Words words;
                double values[components];
                load(begin + i, words);
                item(begin + i, words, all, values);
                for (int c = 0; c < components; ++c) lanes[c][i] = values[c];
            }
            for (int c = 0; c < components; ++c) sums[(long long)c * chunks + chunk] = sum_in_pairs(lanes[c], chunk_rows);
        }
        for (int c = 0; c < components; ++c) {
            double lanes[chunk_rows] = {};
            for (int chunk = 0; chunk < chunks; ++chunk) lanes[chunk % chunk_rows] += sums[(long long)c * chunks + chunk];
            finish(c, all[c], sum_in_pairs(lanes, chunk_rows));
        }
    }
)cpp";

// What a component's scalars are and what follows from sums, and a row's part of them. All words of
// a row are loaded before any is stored: a compiler that cannot tell arrays apart would wait for
// each.
constexpr const char* arithmetic_body =
    R"cpp(
    enum Word { alpha, beta, delta, first_delta, threshold, tolerance, active, iterations, breakdown, words };

    // Those of a component, all loaded at once, and its step along the direction: 0 where it takes none.
    struct Scalars {
        double of[words], step;
        bool steps;
    };

    DEVICE Scalars scalars_of(const double* component) {
        Scalars own{};
        for (int i = 0; i < words; ++i) own.of[i] = component[i];
        return own;
    }

    DEVICE void store_scalars(const Scalars& own, double* component) {
        for (int i = 0; i < words; ++i) component[i] = own.of[i];
    }

    // The first ones: `square` is the first r . Q r.
    DEVICE void store_first_scalars(double square, double wanted, double* component) {
        const double least = wanted * square;
        component[alpha] = component[beta] = component[iterations] = 0;
        component[delta] = component[first_delta] = square;
        component[threshold] = least;
        component[breakdown] = square >= 0 ? 0 : 1;
        component[active] = square > least ? 1 : 0;
    }

    // A component's step along p: `product` is p . w.
    DEVICE void step_along(Scalars& own, double product) {
        own.steps = own.of[active] != 0 && product > 0;
        own.step = own.steps ? own.of[delta] / product : 0.0;
    }

    // They follow the step: `square` is the new r . Q r.
    DEVICE void scalars_after(Scalars& own, double square) {
        if (own.of[active] != 0 && !(own.steps && square >= 0)) own.of[breakdown] = 1;
        own.of[alpha] = own.step;
        own.of[beta] = own.steps ? square / own.of[delta] : 0;
        if (own.steps) own.of[delta] = square, own.of[iterations] += 1;
        own.of[active] = own.steps && square > own.of[threshold] ? 1 : 0;
    }

    // z . r of a row, rounded by itself.
    DEVICE double weighted_square(double q, double r) {
        return multiply_add(q * r, r, 0.0);
    }

    // Whether a component is held at 0 there.
    DEVICE bool is_held(int held, int c) {
        return (held >> c & 1) != 0;
    }

    // Of a row. Components of vectors lie `stride` words apart.
    struct Row {
        double inverse, residual[components], product[components];
        int fixed;
    };

    // A row's words for r -= alpha w, but for w. For the first residual `r` is the right-hand side.
    DEVICE void load_row(const double* q, const int* held, const double* r, int stride, int row, Row& own) {
        own.inverse = q[row], own.fixed = held[row];
        for (int c = 0; c < components; ++c) own.residual[c] = r[(long long)c * stride + row];
    }

    DEVICE void load_product(const double* w, int stride, int row, double* product) {
        for (int c = 0; c < components; ++c) product[c] = w[(long long)c * stride + row];
    }

    // The row's first residual, and its squares by Q.
    DEVICE void first_residual(const Row& own, double* found, double* squares) {
        for (int c = 0; c < components; ++c) {
            found[c] = is_held(own.fixed, c) ? 0.0 : own.residual[c];
            squares[c] = weighted_square(own.inverse, found[c]);
        }
    }

    // Its next one; `step(c)` is the component's along p.
    template <typename Step>
    DEVICE void new_residual(const Row& own, Step step, double* found, double* squares) {
        for (int c = 0; c < components; ++c) {
            found[c] = is_held(own.fixed, c) ? 0.0 : multiply_add(-step(c), own.product[c], own.residual[c]);
            squares[c] = weighted_square(own.inverse, found[c]);
        }
    }

    DEVICE double next_direction(double beta, double along, double inverse, double residual) {
        return multiply_add(beta, along, inverse * residual);
    }
    )cpp";

constexpr const char* mass_body = R"cpp(
#define POINTERS                                                                                                                          \
        const double *b, const double *q, const int *held, const double *w, const double *dot, double *x, double *r, double *p, double *sums, \
            double *scalars
#define ARGUMENTS POINTERS, int first, int last

    SUMS_KERNEL start(ARGUMENTS) {
        const int rows = last - first;
        const auto load = [=](int row, Row& own) { load_row(q, held, b, rows, row, own); };
        const auto residuals = [=](int row, const Row& own, const Scalars*, double* squares) {
            double found[components];
            first_residual(own, found, squares);
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * rows + row;
                x[at] = 0, r[at] = found[c], p[at] = own.inverse * found[c];
            }
        };
        const auto prepare = [=](int c) { return scalars_of(scalars + c * words); };
        sum_rows<Row>(sums, rows, load, prepare, residuals,
                      [=](int c, const Scalars& own, double sum) { store_first_scalars(sum / rows, own.of[tolerance], scalars + c * words); });
    }

    SUMS_KERNEL update(ARGUMENTS) {
        const int rows = last - first;
        const auto load = [=](int row, Row& own) {
            load_row(q, held, r, rows, row, own);
            load_product(w, rows, row, own.product);
        };
        const auto residuals = [=](int row, const Row& own, const Scalars* all, double* squares) {
            double found[components];
            new_residual(
                own, [=](int c) { return all[c].step; }, found, squares);
            for (int c = 0; c < components; ++c) r[(long long)c * rows + row] = found[c];
        };
        const auto prepare = [=](int c) {
            Scalars own = scalars_of(scalars + c * words);
            step_along(own, dot[c]);
            return own;
        };
        sum_rows<Row>(sums, rows, load, prepare, residuals, [=](int c, const Scalars& before, double sum) {
            Scalars own = before;
            scalars_after(own, sum / rows);
            store_scalars(own, scalars + c * words);
        });
    }

    KERNEL direction(ARGUMENTS) {
        const int rows = last - first;
        double step[components], share[components];
        for (int c = 0; c < components; ++c) step[c] = scalars[c * words + alpha], share[c] = scalars[c * words + beta];
        FOR_LANES(row) {
            const double inverse = q[row];
            double found[components], along[components], residual[components];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * rows + row;
                found[c] = x[at], along[c] = p[at], residual[c] = r[at];
            }
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * rows + row;
                x[at] = multiply_add(step[c], along[c], found[c]);
                p[at] = next_direction(share[c], along[c], inverse, residual[c]);
            }
        }
    }
)cpp";

enum Step : std::size_t { start_step, update_step, direction_step };

}  // namespace

CompiledCode compiled_mass_kernels(const Backend& backend, const KernelSource& source) {
    CompileOutcome outcome = backend.compiler().compile(source);
    if (!outcome.ok) throw Error("the kernels of the mass solver", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
    return std::move(outcome.code);
}

void launch_mass_kernel(const Module& module, const Launch& how, std::vector<const void*> pointers, std::vector<int> numbers, Stream stream,
                        bool cooperative) {
    std::vector<void*> arguments;
    arguments.reserve(pointers.size() + numbers.size());
    for (const void*& pointer : pointers) arguments.push_back(static_cast<void*>(&pointer));
    for (int& number : numbers) arguments.push_back(&number);
    const int entry = module.entry(how.entry);
    if (cooperative) return module.launch_together(entry, how.grid, how.block, how.shared_bytes, stream, arguments.data());
    module.launch(entry, how.grid, how.block, how.shared_bytes, stream, arguments.data());
}

std::int64_t MassKernels::sum_words(int components, int rows) {
    return std::int64_t{components} * ((rows + chunk_rows - 1) / chunk_rows);
}

std::string MassKernels::arithmetic(Target target, int components) {
    return fmt::format("constexpr int components = {}, chunk_rows = {};\n", components, chunk_rows) +
           (traits_of(target).has_blocks ? cuda_words : cpu_words) + arithmetic_body;
}

std::string MassKernels::text(Target target, int components) {
    return item_kernels("Conjugate gradients beside the product with the matrix.", target, Precision::f64,
                        arithmetic(target, components) + (traits_of(target).has_blocks ? cuda_sums : cpu_sums) + mass_body);
}

KernelSource MassKernels::source(Target target, int components, int rows) {
    KernelSource source;
    source.target = target;
    source.precision = Precision::f64;
    source.text = text(target, components);
    for (const char* name : {"b", "q", "held", "w", "dot"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"x", "r", "p", "sums", "scalars"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    const Dim3 chunks{(rows + chunk_rows - 1) / chunk_rows, 1, 1};
    for (const auto& [entry, grid] :
         std::initializer_list<std::pair<const char*, Dim3>>{{"start", chunks}, {"update", chunks}, {"direction", item_blocks(rows)}}) {
        source.entries.emplace_back(entry);
        source.step.push_back({.entry = entry, .grid = grid, .block = {chunk_rows, 1, 1}, .constants = {}});
    }
    return source;
}

MassKernels::MassKernels(Backend& backend, int components, int rows)
    : MassKernels(backend, source(backend.device().limits.target, components, rows), rows) {
}

MassKernels::MassKernels(Backend& backend, const KernelSource& source, int rows)
    : steps_(source.step), rows_(rows), module_(backend.load(compiled_mass_kernels(backend, source))) {
}

void MassKernels::launch(std::size_t step, const Arrays& arrays, Stream stream) const {
    launch_mass_kernel(*module_, steps_[step], arrays.pointers(), {0, rows_}, stream);
}

void MassKernels::start(const Arrays& arrays) const {
    launch(start_step, arrays, {});
}

void MassKernels::update(const Arrays& arrays, Stream stream) const {
    launch(update_step, arrays, stream);
}

void MassKernels::direction(const Arrays& arrays, Stream stream) const {
    launch(direction_step, arrays, stream);
}

}  // namespace hone::inline v0_1::solvers::hydro
