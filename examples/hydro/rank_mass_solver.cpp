#include "examples/hydro/rank_mass_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "examples/hydro/zone_kernels.hpp"
#include "examples/item_kernels/item_kernels.hpp"
#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/families/csr_spmv/family.hpp"
#include "runtime/buffers.hpp"

namespace hone::examples::hydro {
namespace {

// sum_chunks<rows of a chunk>(sums, rows, item): sums of what `item(row, values)` gives for each component of a row, by chunks, in pairs of
// neighbours; [component][chunk]. What ends the sums are the chunks of all ranks.
constexpr const char* cuda_sums = R"cpp(
#define DEVICE __device__ __forceinline__
    DEVICE double multiply_add(double a, double b, double c) {
        return fma(a, b, c);
    }

    template <int chunk_rows, typename Item>
    DEVICE void sum_chunks(double* sums, int rows, Item item) {
        __shared__ double of_warp[components][block_rows / 32];
        const int row = blockIdx.x * block_rows + threadIdx.x, chunks = (rows + chunk_rows - 1) / chunk_rows;
        double values[components] = {};
        if (row < rows) item(row, values);
        for (int joined = 1; joined < 32; joined *= 2)
            for (int c = 0; c < components; ++c) values[c] += __shfl_xor_sync(0xffffffffu, values[c], joined);
        if (threadIdx.x % 32 == 0)
            for (int c = 0; c < components; ++c) of_warp[c][threadIdx.x / 32] = values[c];
        __syncthreads();
        constexpr int warps = chunk_rows / 32, of_block = block_rows / chunk_rows;
        if (threadIdx.x >= of_block || blockIdx.x * of_block + threadIdx.x >= chunks) return;
        for (int c = 0; c < components; ++c) {
            double* const pairs = of_warp[c] + threadIdx.x * warps;
            for (int count = warps / 2; count > 0; count /= 2)
                for (int i = 0; i < count; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
            sums[(long long)c * chunks + blockIdx.x * of_block + threadIdx.x] = pairs[0];
        }
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

    template <int chunk_rows, typename Item>
    DEVICE void sum_chunks(double* sums, int rows, Item item) {
        const int chunks = (rows + chunk_rows - 1) / chunk_rows;
#pragma omp parallel for if (rows > 4096)
        for (int chunk = 0; chunk < chunks; ++chunk) {
            double pairs[components][chunk_rows] = {};
            const int begin = chunk * chunk_rows, count = rows - begin < chunk_rows ? rows - begin : chunk_rows;
            for (int i = 0; i < count; ++i) {
                double values[components];
                item(begin + i, values);
                for (int c = 0; c < components; ++c) pairs[c][i] = values[c];
            }
            for (int c = 0; c < components; ++c) {
                for (int half = chunk_rows / 2; half > 0; half /= 2)
                    for (int i = 0; i < half; ++i) pairs[c][i] = pairs[c][2 * i] + pairs[c][2 * i + 1];
                sums[(long long)c * chunks + chunk] = pairs[c][0];
            }
        }
    }
)cpp";

// Items are rows from `first` to `last`: own ones, or all that are here. Vectors are [components][stride].
constexpr const char* body = R"cpp(
#define ARGUMENTS                                                                                                                        \
        const double *b, const double *q, const int *held, const double *w, const double *from, const double *scalars, double *x, double *r, \
            double *p, double *sums, int stride, int first, int last

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
        sum_chunks<block_rows>(sums, last, [=](int row, double* squares) {
            const double inverse = q[row];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                const double residual = is_held(held[row], c) ? 0 : b[at];
                r[at] = residual, p[at] = inverse * residual;
                squares[c] = weighted_square(inverse, residual);
            }
        });
    }

    // p . w, in chunks as the products with the matrix sum them up.
    KERNEL dots(ARGUMENTS) {
        sum_chunks<dot_rows>(sums, last, [=](int row, double* products) {
            for (int c = 0; c < components; ++c) products[c] = multiply_add(w[(long long)c * stride + row], p[(long long)c * stride + row], 0.0);
        });
    }

    KERNEL update(ARGUMENTS) {
        sum_chunks<block_rows>(sums, last, [=](int row, double* squares) {
            const double inverse = q[row];
            for (int c = 0; c < components; ++c) {
                const long long at = (long long)c * stride + row;
                const double found = is_held(held[row], c) ? 0.0 : multiply_add(-scalars[c], w[at], r[at]);
                r[at] = found;
                squares[c] = weighted_square(inverse, found);
            }
        });
    }

    // The next direction of own rows, elsewhere than the last one.
    KERNEL turn(ARGUMENTS) {
        FOR_ITEMS(row)
        for (int c = 0; c < components; ++c) {
            const long long at = (long long)c * stride + row;
            p[at] = multiply_add(scalars[components + c], from[at], q[row] * r[at]);
        }
    }

    KERNEL advance(ARGUMENTS) {
        FOR_ITEMS(row)
        for (int c = 0; c < components; ++c) {
            const long long at = (long long)c * stride + row;
            x[at] = multiply_add(scalars[c], from[at], x[at]);
        }
    }
)cpp";

constexpr int dot_rows = spmv::chunk_rows;   // that csr_spmv and fe_mass sum up first,
constexpr int residual_rows = item_threads;  // that MassKernels sum up first, and as many lanes
constexpr std::size_t dot_lanes = 1024;      // and how many lanes they deal these sums to

enum Step : std::size_t { clear_step, start_step, dots_step, update_step, turn_step, advance_step };

// Sums of chunks from the first to the last, dealt to lanes by number, these in pairs of neighbours.
double sum_of_chunks(std::span<const double> chunks, std::size_t lanes) {
    std::vector<double> sums(lanes);
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) sums[chunk % lanes] += chunks[chunk];
    for (std::size_t pairs = lanes / 2; pairs > 0; pairs /= 2)
        for (std::size_t i = 0; i < pairs; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    return sums[0];
}

std::int64_t chunks_of(std::int64_t rows, std::int64_t chunk) {
    return (rows + chunk - 1) / chunk;
}

// One component's scalars, and what becomes of them, as in MassKernels.
struct Scalars {
    double alpha = 0, beta = 0, delta = 0, first_delta = 0, threshold = 0;
    bool active = false, breakdown = false;
    int iterations = 0;

    void begin(double square, double tolerance) {
        *this = {};
        delta = first_delta = square;
        threshold = tolerance * tolerance * square;
        breakdown = !(square >= 0);
        active = square > threshold;
    }
    void finish(double square, double dot) {
        const bool steps = active && dot > 0;
        if (active && !(steps && square >= 0)) breakdown = true;
        alpha = steps ? delta / dot : 0;
        beta = steps ? square / delta : 0;
        if (steps) delta = square, ++iterations;
        active = steps && square > threshold;
    }
};

}  // namespace

struct RankMassSolver::State {
    const ZonePart& part;
    Backend& backend;
    int components, rows, own;
    std::shared_ptr<const Kernel> product;
    KernelSource source;
    std::unique_ptr<Module> module;
    std::vector<DeviceArray> matrix;
    DeviceArray q, held, r, w, sums, scalars;
    std::array<DeviceArray, 2> p;       // this iteration's direction and the last one's, in turn
    std::vector<BoundKernel> multiply;  // of each
    GatherExchange directions;
    HostBuffer host_sums, host_scalars;

    State(const ZonePart& of, Backend& on, KernelLibrary& library, MassForm form, const std::string& configuration)
        : part(of),
          backend(on),
          components(system().components),
          rows(system().matrix.rows()),
          own(static_cast<int>(of.own_nodes())),
          product(chosen(library, product_problem(system(), form, false), configuration)),
          source(kernels(on.device().limits.target, components)),
          module(on.load(compiled())),
          matrix(product_arrays(on, system(), form)),
          q(uploaded(on, inverse_diagonal(system()))),
          held(uploaded(on, held_components(system()))),
          r(vectors()),
          w(vectors()),
          sums(on, sum_words() * word),
          scalars(on, std::int64_t{2} * components * word),
          p{vectors(), vectors()},
          directions(of.ranks(), on, of.links(), sizeof(double)),
          host_sums(on, plain_rows(Precision::f64, sum_words(), 1), HostMemory::pinned),
          host_scalars(on, plain_rows(Precision::f64, std::int64_t{2} * components, 1), HostMemory::pinned) {
        for (const DeviceArray& direction : p) {
            std::vector<void*> arrays;
            for (const DeviceArray& array : matrix) arrays.push_back(array.data());
            arrays.insert(arrays.end(), {direction.data(), w.data()});
            multiply.emplace_back(product, arrays);
        }
    }

    static constexpr std::int64_t word = sizeof(double);
    const MassSystem& system() const { return part.here().velocity_mass; }
    DeviceArray vectors() const { return {backend, std::int64_t{components} * rows * word}; }
    std::int64_t sum_words() const { return components * chunks_of(own, dot_rows); }  // of the smaller chunks

    std::shared_ptr<const Kernel> chosen(KernelLibrary& library, const Problem& problem, const std::string& configuration) const {
        if (configuration.empty()) return library.kernel(problem);
        return library.kernel(problem, built_in_families().of(problem).space(problem, backend.device().limits).parse(configuration));
    }

    CompiledCode compiled() const {
        CompileOutcome outcome = backend.compiler().compile(source);
        if (!outcome.ok)
            throw Error("the kernels of the mass solver", outcome.failure + "\n" + outcome.code.log, "'hone doctor' says what is missing");
        return std::move(outcome.code);
    }

    // `turned`: which of the directions is `p`; `from` is the other.
    void launch(Step step, const void* b, void* x, std::size_t turned, int items) const {
        std::array<const void*, 10> pointers{b, q.data(), held.data(),         w.data(),   p.at(1 - turned).data(), scalars.data(),
                                             x, r.data(), p.at(turned).data(), sums.data()};
        int stride = rows, first = 0, last = items;
        std::vector<void*> arguments;
        arguments.reserve(pointers.size() + 3);
        for (const void*& pointer : pointers) arguments.push_back(static_cast<void*>(&pointer));
        arguments.insert(arguments.end(), {&stride, &first, &last});
        module->launch(module->entry(source.step[step].entry), item_blocks(items), {item_threads, 1, 1}, 0, {}, arguments.data());
    }

    // Sums over all nodes of all ranks, over the number of nodes, of chunks of so many rows.
    std::vector<double> all_sums(int rows_of_chunk, std::size_t lanes) {
        const std::int64_t chunks = chunks_of(own, rows_of_chunk);
        backend.copy(host_sums.data(), sums.data(), components * chunks * word);
        backend.synchronise();
        // By chunks of nodes as ranks share them: each has several of the smaller ones, the last one of all perhaps fewer.
        const auto per_share = static_cast<std::int64_t>(Discretisation::node_chunk) / rows_of_chunk;
        const std::int64_t shares = chunks_of(own, Discretisation::node_chunk), words = components * per_share;
        std::vector<double> mine(static_cast<std::size_t>(shares * words));
        const auto found = host_sums.row<double>(0);
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
                mine[static_cast<std::size_t>(chunk / per_share * words + c * per_share + chunk % per_share)] =
                    found[static_cast<std::size_t>(c * chunks + chunk)];
        const std::vector<double> all = part.chunks().all(mine, static_cast<int>(words));
        const std::int64_t all_chunks = chunks_of(part.whole_nodes(), rows_of_chunk);
        std::vector<double> result;
        for (std::int64_t c = 0; c < components; ++c) {
            std::vector<double> of_component;
            of_component.reserve(static_cast<std::size_t>(all_chunks));
            for (std::int64_t chunk = 0; chunk < all_chunks; ++chunk)
                of_component.push_back(all[static_cast<std::size_t>(chunk / per_share * words + c * per_share + chunk % per_share)]);
            result.push_back(sum_of_chunks(of_component, lanes) / static_cast<double>(part.whole_nodes()));
        }
        return result;
    }

    void write_scalars(const std::vector<Scalars>& of) {
        const auto to = host_scalars.row<double>(0);
        for (std::size_t c = 0; c < of.size(); ++c) to[c] = of[c].alpha, to[of.size() + c] = of[c].beta;
        backend.copy(scalars.data(), host_scalars.data(), scalars.bytes());
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
    std::vector<Scalars> scalars(static_cast<std::size_t>(s.components));
    std::size_t turned = 0;
    s.launch(clear_step, b, x, turned, s.rows);
    s.launch(start_step, b, x, turned, s.own);
    s.exchange(turned);
    const std::vector<double> first = s.all_sums(residual_rows, residual_rows);
    s.directions.end();
    for (std::size_t c = 0; c < first.size(); ++c) scalars[c].begin(first[c], settings.tolerance);
    const auto any_active = [&] { return std::any_of(scalars.begin(), scalars.end(), [](const Scalars& of) { return of.active; }); };
    MassSolve result;
    while (any_active() && result.executed < settings.most_iterations) {
        s.multiply[turned].launch();
        s.launch(dots_step, b, x, turned, s.own);
        const std::vector<double> dots = s.all_sums(dot_rows, dot_lanes);
        for (std::size_t c = 0; c < dots.size(); ++c) scalars[c].alpha = scalars[c].active && dots[c] > 0 ? scalars[c].delta / dots[c] : 0;
        s.write_scalars(scalars);
        s.launch(update_step, b, x, turned, s.own);
        const std::vector<double> squares = s.all_sums(residual_rows, residual_rows);
        for (std::size_t c = 0; c < dots.size(); ++c) scalars[c].finish(squares[c], dots[c]);
        s.write_scalars(scalars);
        turned = 1 - turned;
        s.launch(turn_step, b, x, turned, s.own);
        s.exchange(turned);
        s.launch(advance_step, b, x, turned, s.rows);
        s.directions.end();
        ++result.executed;
    }
    for (const Scalars& of : scalars) {
        if (of.active) result.ending = std::max(result.ending, MassEnding::too_many_iterations);
        if (of.breakdown) result.ending = MassEnding::breakdown;
        result.iterations.push_back(of.iterations);
        result.residuals.push_back(of.first_delta == 0 ? 0 : std::sqrt(of.delta / of.first_delta));
    }
    return result;
}

std::string RankMassSolver::family() const {
    return state_->product->problem().family();
}

std::string RankMassSolver::kernel() const {
    const Match& match = state_->product->match();
    return fmt::format("{}: {}", to_string(match.grade), match.config.key());
}

Grade RankMassSolver::grade() const {
    return state_->product->match().grade;
}

KernelSource RankMassSolver::kernels(Target target, int components) {
    KernelSource source;
    source.target = target;
    source.precision = Precision::f64;
    const std::string constants =
        fmt::format("constexpr int components = {}, block_rows = {}, dot_rows = {};\n", components, residual_rows, dot_rows);
    source.text = item_kernels("Conjugate gradients on several ranks beside the product with the matrix.", target, source.precision,
                               constants + (target == Target::cuda ? cuda_sums : cpu_sums) + body);
    for (const char* name : {"b", "q", "held", "w", "from", "scalars"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"x", "r", "p", "sums"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    source.scalars = {{"stride", 0}};
    for (const char* entry : {"clear", "start", "dots", "update", "turn", "advance"}) {
        source.entries.emplace_back(entry);
        source.step.push_back({.entry = entry, .block = {item_threads, 1, 1}, .constants = {}});
    }
    return source;
}

}  // namespace hone::examples::hydro
