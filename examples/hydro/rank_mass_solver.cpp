#include "examples/hydro/rank_mass_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
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

// sum_chunks<rows of a chunk>(sums, rows, item): sums of what `item(row, values)` gives for each component of a row, by chunks, in pairs of
// neighbours; [component][chunk].
//
// sum_all<lanes, rows of a chunk>(all, places, component, chunks): the sum of all ranks' chunks of a component from the first to the last, dealt to
// lanes by number, these in pairs of neighbours. Chunks of a share of nodes follow each other; where a share's begin among `all` says `places`,
// [component][share]. On a GPU one block has as many threads as there are lanes, and all of them get the sum.
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

// Items are rows from `first` to `last`: own ones, or all that are here. Vectors are [components][stride]. Of the last three entries `last` is the
// number of rows of all ranks; scalars are [word][component], of all ranks the same.
constexpr const char* body = R"cpp(
#define ARGUMENTS                                                                                                                            \
        const double *b, const double *q, const int *held, const double *w, const double *from, const double *all, const int *places, double *x, \
            double *r, double *p, double *sums, double *scalars, int stride, int first, int last

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
                const double found = is_held(held[row], c) ? 0.0 : multiply_add(-scalars[alpha * components + c], w[at], r[at]);
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
            p[at] = multiply_add(scalars[beta * components + c], from[at], q[row] * r[at]);
        }
    }

    KERNEL advance(ARGUMENTS) {
        FOR_ITEMS(row)
        for (int c = 0; c < components; ++c) {
            const long long at = (long long)c * stride + row;
            x[at] = multiply_add(scalars[alpha * components + c], from[at], x[at]);
        }
    }

    // What follows from the sums of `start`, `dots` and `update`, as in MassKernels. Sums are per row.
    DEVICE double& scalar(double* scalars, Word word, int c) {
        return scalars[word * components + c];
    }

    KERNEL started(ARGUMENTS) {
        FOR_COMPONENTS(c) {
            const double square = sum_all<block_rows, block_rows>(all, places, c, (last + block_rows - 1) / block_rows) / last;
            ONE_THREAD {
                const double least = scalar(scalars, tolerance_square, c) * square;
                scalar(scalars, alpha, c) = scalar(scalars, beta, c) = scalar(scalars, iterations, c) = 0;
                scalar(scalars, delta, c) = scalar(scalars, first_delta, c) = square;
                scalar(scalars, threshold, c) = least;
                scalar(scalars, breakdown, c) = square >= 0 ? 0 : 1;
                scalar(scalars, active, c) = square > least ? 1 : 0;
            }
        }
    }

    KERNEL dotted(ARGUMENTS) {
        FOR_COMPONENTS(c) {
            const double product = sum_all<dot_lanes, dot_rows>(all, places, c, (last + dot_rows - 1) / dot_rows) / last;
            ONE_THREAD {
                scalar(scalars, dot, c) = product;
                scalar(scalars, alpha, c) = scalar(scalars, active, c) != 0 && product > 0 ? scalar(scalars, delta, c) / product : 0;
            }
        }
    }

    KERNEL updated(ARGUMENTS) {
        FOR_COMPONENTS(c) {
            const double square = sum_all<block_rows, block_rows>(all, places, c, (last + block_rows - 1) / block_rows) / last;
            ONE_THREAD {
                const bool is_active = scalar(scalars, active, c) != 0, steps = is_active && scalar(scalars, dot, c) > 0;
                if (is_active && !(steps && square >= 0)) scalar(scalars, breakdown, c) = 1;
                scalar(scalars, beta, c) = steps ? square / scalar(scalars, delta, c) : 0;
                if (steps) scalar(scalars, delta, c) = square, scalar(scalars, iterations, c) += 1;
                scalar(scalars, active, c) = steps && square > scalar(scalars, threshold, c) ? 1 : 0;
            }
        }
    }
)cpp";

constexpr int dot_rows = spmv::chunk_rows;   // that csr_spmv and fe_mass sum up first,
constexpr int dot_lanes = 1024;              // and how many lanes they deal these sums to
constexpr int residual_rows = item_threads;  // that MassKernels sum up first, and as many lanes

enum Step : std::size_t { clear_step, start_step, dots_step, update_step, turn_step, advance_step, started_step, dotted_step, updated_step };

// Of each component, as the kernels have them.
struct Scalar {
    enum Word : int { alpha, beta, delta, first_delta, threshold, tolerance_square, dot, active, iterations, breakdown, words };
};

std::int64_t chunks_of(std::int64_t rows, std::int64_t chunk) {
    return (rows + chunk - 1) / chunk;
}

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
    // The sums of all ranks' chunks of so many rows, and where those of a share of nodes begin among them.
    struct Sums {
        std::unique_ptr<DeviceGather> gather;
        DeviceArray places;
    };
    Sums of_dots, of_residuals;
    HostBuffer look;             // the scalars, for the host
    double tolerance = -1;       // that is among the scalars
    std::array<int, 2> usual{};  // iterations of the last two solves: a time step's two take turns

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
          scalars(on, std::int64_t{Scalar::words} * components * word),
          p{vectors(), vectors()},
          directions(of.ranks(), on, of.links(), sizeof(double)),
          of_dots(sums_of(dot_rows)),
          of_residuals(sums_of(residual_rows)),
          look(on, plain_rows(Precision::f64, std::int64_t{Scalar::words} * components, 1), HostMemory::pinned) {
        for (const DeviceArray& direction : p) {
            std::vector<void*> arrays;
            for (const DeviceArray& array : matrix) arrays.push_back(array.data());
            arrays.insert(arrays.end(), {direction.data(), w.data()});
            multiply.emplace_back(product, arrays);
            backend.fill(direction.data(), 0, direction.bytes());
        }
        exchange(0);  // the first one finds the ways to other ranks
        directions.end();
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

    // By chunks of nodes as ranks share them: each has several of the smaller ones, the last one of all perhaps fewer.
    Sums sums_of(int rows_of_chunk) {
        const auto per_share = static_cast<std::int64_t>(Discretisation::node_chunk) / rows_of_chunk;
        const double own_rows = own;
        std::vector<double> rows_of_ranks(static_cast<std::size_t>(part.ranks().size()));
        part.ranks().all_gather({&own_rows, 1}, equal_counts(part.ranks(), 1), rows_of_ranks);
        std::vector<std::int64_t> bytes;
        bytes.reserve(rows_of_ranks.size());
        for (const double count : rows_of_ranks) bytes.push_back(components * chunks_of(static_cast<std::int64_t>(count), rows_of_chunk) * word);
        const auto before = bytes.begin() + part.ranks().rank();
        const std::int64_t begin = std::accumulate(bytes.begin(), before, std::int64_t{0}) / word;
        // Numbers below 2^53 are words, too.
        const std::int64_t chunks = chunks_of(own, rows_of_chunk), shares = chunks_of(own, Discretisation::node_chunk);
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

    // What a launch of an entry reads and writes. `turned`: which of the directions is `p`; `from` is the other.
    struct Vectors {
        const void* b;
        void* x;
        std::size_t turned = 0;
    };
    void launch(Step step, const Vectors& of, int items, const void* all = nullptr, const void* places = nullptr) const {
        std::array<const void*, 12> pointers{of.b,        q.data(),      held.data(), w.data(), p.at(1 - of.turned).data(),
                                             all,         places,        of.x,        r.data(), p.at(of.turned).data(),
                                             sums.data(), scalars.data()};
        int stride = rows, first = 0, last = items;
        std::vector<void*> arguments;
        arguments.reserve(pointers.size() + 3);
        for (const void*& pointer : pointers) arguments.push_back(static_cast<void*>(&pointer));
        arguments.insert(arguments.end(), {&stride, &first, &last});
        const Launch& how = source.step[step];
        module->launch(module->entry(how.entry), step < started_step ? item_blocks(items) : Dim3{components, 1, 1}, how.block, 0, {},
                       arguments.data());
    }
    // What `step` makes of the sums of all ranks that the last launch left chunks of.
    void finish(Step step, const Vectors& of, const Sums& with) const {
        launch(step, of, static_cast<int>(part.whole_nodes()), with.gather->gather(sums.data()), with.places.data());
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
    s.launch(clear_step, of, s.rows);
    s.launch(start_step, of, s.own);
    s.exchange(of.turned);
    s.directions.end();
    s.finish(started_step, of, s.of_residuals);
    const auto iterate = [&] {
        s.multiply[of.turned].launch();
        s.launch(dots_step, of, s.own);
        s.finish(dotted_step, of, s.of_dots);
        s.launch(update_step, of, s.own);
        s.finish(updated_step, of, s.of_residuals);
        of.turned = 1 - of.turned;
        s.launch(turn_step, of, s.own);
        s.exchange(of.turned);
        s.launch(advance_step, of, s.rows);
        s.directions.end();
    };
    int executed = 0;
    do {
        // As MassSolver: no look before the last solves' number of iterations. All ranks see the same scalars.
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
    const std::string constants = fmt::format("constexpr int components = {}, block_rows = {}, dot_rows = {}, dot_lanes = {}, share_rows = {};\n",
                                              components, residual_rows, dot_rows, dot_lanes, Discretisation::node_chunk);
    source.text = item_kernels("Conjugate gradients on several ranks beside the product with the matrix.", target, source.precision,
                               constants + (target == Target::cuda ? cuda_sums : cpu_sums) + body);
    for (const char* name : {"b", "q", "held", "w", "from", "all", "places"}) source.arrays.push_back({name, Access::in, 0, "", ""});
    for (const char* name : {"x", "r", "p", "sums", "scalars"}) source.arrays.push_back({name, Access::inout, 0, "", ""});
    source.scalars = {{"stride", 0}};
    for (const char* entry : {"clear", "start", "dots", "update", "turn", "advance", "started", "dotted", "updated"}) {
        source.entries.emplace_back(entry);
        const int threads = source.entries.back() == "dotted" ? dot_lanes : item_threads;
        source.step.push_back({.entry = entry, .block = {threads, 1, 1}, .constants = {}});
    }
    return source;
}

}  // namespace hone::examples::hydro
