#include "benchmarks/cusparse_cg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <vector>

#include "benchmarks/cusparse_library.hpp"
#include "benchmarks/rivals.hpp"
#include "foundation/error.hpp"
#include "generator/workload.hpp"

namespace hone {
namespace {

using namespace cusparse;

// Words of the array of numbers.
enum Number { delta, new_delta, gamma_word, alpha, minus_alpha, beta, one, zero, number_count };

}  // namespace

struct CusparseCg::State {
    Backend& backend;
    Precision precision;
    int n;
    int cells = n * n * n;
    std::int64_t entries = std::int64_t{7} * cells - std::int64_t{6} * n * n;
    Sparse sparse;
    Blas blas;
    std::unique_ptr<Module> module;
    Handle sparse_handle = nullptr, blas_handle = nullptr;
    DeviceArray rows, columns, values, x, r, p, w, number, buffer;
    void *matrix = nullptr, *p_vector = nullptr, *w_vector = nullptr;
    int algorithm = spmv_algorithms[0];
    std::string names;

    State(Backend& on, Precision in, int size) : backend(on), precision(in), n(size) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        for (const void* vector : {p_vector, w_vector})
            if (vector != nullptr) sparse.destroy_vector(vector);
        if (matrix != nullptr) sparse.destroy_csr(matrix);
        if (sparse_handle != nullptr) sparse.destroy(sparse_handle);
        if (blas_handle != nullptr) blas.destroy(blas_handle);
    }

    int word() const { return bytes_per_word(precision); }
    int type() const { return precision == Precision::f32 ? f32_values : f64_values; }
    void* at(Number which) const { return static_cast<char*>(number.data()) + which * word(); }

    void compile() {
        KernelSource source;
        source.target = Target::cuda;
        source.precision = precision;
        source.entries = {"build", "step_length", "direction_share"};
        source.text = benchmarks::real_type(precision);
        source.text += benchmarks::rival_text("poisson_cg.cu");
        module = benchmarks::rival_module(backend, source);
    }

    void allocate() {
        const std::int64_t vector_bytes = std::int64_t{cells} * word();
        rows = DeviceArray(backend, (std::int64_t{cells} + 1) * 4);
        columns = DeviceArray(backend, entries * 4);
        values = DeviceArray(backend, entries * word());
        for (auto* vector : {&x, &r, &p, &w}) *vector = DeviceArray(backend, vector_bytes);
        number = DeviceArray(backend, number_count * word());
        HostArray start(precision, number_count);
        for (int i = 0; i < number_count; ++i) start.set_word(i, i == one ? 1 : 0);
        backend.copy(number.data(), start.data(), start.bytes());
        backend.synchronise();
    }

    void launch(const char* entry, const Dim3& grid, const Dim3& block, std::span<void* const> arguments) const {
        std::vector<void*> values_of(arguments.begin(), arguments.end());
        module->launch(module->entry(entry), grid, block, 0, {}, values_of.data());
    }
    // A kernel of one thread on the numbers.
    void compute(const char* entry) const {
        void* words = number.data();
        launch(entry, {1, 1, 1}, {1, 1, 1}, std::array<void*, 1>{&words});
    }
    void build() {
        constexpr std::int64_t threads = 128;
        std::array<void*, 3> arrays{rows.data(), columns.data(), values.data()};
        launch("build", {(n + threads - 1) / threads, n, n}, {threads, 1, 1}, std::array<void*, 4>{&arrays[0], &arrays[1], &arrays[2], &n});
    }

    void prepare() {
        build();
        check(sparse.create(&sparse_handle), "cusparseCreate");
        check(blas.create(&blas_handle), "cublasCreate");
        check(sparse.set_pointer_mode(sparse_handle, pointers_on_device), "cusparseSetPointerMode");
        check(blas.set_pointer_mode(blas_handle, pointers_on_device), "cublasSetPointerMode");
        check(sparse.create_vector(&p_vector, cells, p.data(), type()), "cusparseCreateDnVec");
        check(sparse.create_vector(&w_vector, cells, w.data(), type()), "cusparseCreateDnVec");
    }

    // A descriptor of its own for each algorithm: it remembers what was prepared for it.
    void use(int which) {
        algorithm = which;
        if (matrix != nullptr) check(sparse.destroy_csr(matrix), "cusparseDestroySpMat");
        matrix = nullptr;
        check(sparse.create_csr(&matrix, cells, cells, entries, rows.data(), columns.data(), values.data(), index_32_bits, index_32_bits, base_zero,
                                type()),
              "cusparseCreateCsr");
        std::size_t bytes = 0;
        check(sparse.spmv_buffer(sparse_handle, no_transpose, at(one), matrix, p_vector, at(zero), w_vector, type(), algorithm, &bytes),
              "cusparseSpMV_bufferSize");
        buffer = DeviceArray(backend, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 16)));
        if (sparse.spmv_preprocess != nullptr)
            check(
                sparse.spmv_preprocess(sparse_handle, no_transpose, at(one), matrix, p_vector, at(zero), w_vector, type(), algorithm, buffer.data()),
                "cusparseSpMV_preprocess");
    }

    void multiply() {
        check(sparse.spmv(sparse_handle, no_transpose, at(one), matrix, p_vector, at(zero), w_vector, type(), algorithm, buffer.data()),
              "cusparseSpMV");
    }

    void choose_algorithm() {
        backend.fill(p.data(), 0, p.bytes());
        double fastest = std::numeric_limits<double>::infinity();
        int best = spmv_algorithms[0];
        for (const int candidate : spmv_algorithms) {
            use(candidate);
            double seconds = std::numeric_limits<double>::infinity();
            for (int round = 0; round < 5; ++round) seconds = std::min(seconds, backend.seconds({}, [&] { multiply(); }));
            if (seconds < fastest) fastest = seconds, best = candidate;
        }
        use(best);
        names = fmt::format("{}, {}, CSR algorithm {}", std::filesystem::path(sparse.library.path()).filename().string(),
                            std::filesystem::path(blas.library.path()).filename().string(), best == spmv_algorithms[0] ? 1 : 2);
    }

    void dot(const DeviceArray& a, const DeviceArray& b, Number to) const {
        check(blas.dot(blas_handle, cells, a.data(), 1, b.data(), 1, at(to)), "cublas dot");
    }
    void axpy(Number factor, const DeviceArray& from, const DeviceArray& to) const {
        check(blas.axpy(blas_handle, cells, at(factor), from.data(), 1, to.data(), 1), "cublas axpy");
    }

    void iterate() {
        multiply();
        dot(p, w, gamma_word);
        compute("step_length");
        axpy(alpha, p, x);
        axpy(minus_alpha, w, r);
        dot(r, r, new_delta);
        compute("direction_share");
        check(blas.scal(blas_handle, cells, at(beta), p.data(), 1), "cublas scal");
        axpy(one, r, p);
    }

    double residual_square() const {
        HostArray words(precision, 1);
        backend.copy(words.data(), at(delta), words.bytes());
        backend.synchronise();
        return words.word(0);
    }
};

std::unique_ptr<CusparseCg> CusparseCg::make(Backend& backend, Precision precision, int n, std::string& missing) {
    if (backend.device().fingerprint.target != Target::cuda) {
        missing = "cuSPARSE needs a GPU";
        return nullptr;
    }
    auto state = std::make_unique<State>(backend, precision, n);
    if (state->entries > std::numeric_limits<int>::max()) throw Error("the cuSPARSE rival", "32-bit indices are too few", "choose a smaller grid");
    if (!load(state->sparse, state->blas, precision, missing)) return nullptr;
    state->compile();
    state->allocate();
    state->prepare();
    state->choose_algorithm();
    return std::unique_ptr<CusparseCg>(new CusparseCg(std::move(state)));
}

CusparseCg::CusparseCg(std::unique_ptr<State> state) : state_(std::move(state)) {
}
CusparseCg::~CusparseCg() = default;

CusparseCg::Solve CusparseCg::solve(const void* b, double tolerance, int most_iterations, int check_every) {
    State& s = *state_;
    s.backend.fill(s.x.data(), 0, s.x.bytes());
    for (const auto* vector : {&s.r, &s.p}) s.backend.copy(vector->data(), b, vector->bytes());
    s.dot(s.r, s.r, delta);
    const double first = s.residual_square();
    Solve result;
    const auto start = std::chrono::steady_clock::now();
    while (result.executed < most_iterations && !result.converged) {
        const int steps = std::min(check_every, most_iterations - result.executed);
        for (int step = 0; step < steps; ++step) s.iterate();
        result.executed += steps;
        result.residual = std::sqrt(s.residual_square() / first);
        result.converged = result.residual <= tolerance;
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

double CusparseCg::bytes_per_iteration() const {
    const State& s = *state_;
    // The matrix and its row starts; then words per cell: two for the product, two and one for the
    // dot products, three for each axpy, two for scal.
    const double matrix = static_cast<double>(s.entries) * (s.word() + 4) + 4.0 * s.cells;
    return matrix + (2 + 2 + 1 + 3 * 3 + 2) * static_cast<double>(s.cells) * s.word();
}

const std::string& CusparseCg::names() const {
    return state_->names;
}
const void* CusparseCg::solution() const {
    return state_->x.data();
}

}  // namespace hone
