#include "benchmarks/cusparse_spmv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "benchmarks/cusparse_library.hpp"
#include "foundation/error.hpp"
#include "generator/workload.hpp"

namespace hone {

using cusparse::check;
using cusparse::no_transpose;

struct CusparseSpmv::State {
    Backend& backend;
    spmv::Shape shape;
    void* const* arrays;
    cusparse::Sparse sparse;
    cusparse::Blas blas;
    cusparse::Handle sparse_handle = nullptr, blas_handle = nullptr;
    DeviceArray product, numbers, buffer;
    void* matrix = nullptr;
    std::vector<void*> vectors_in, vectors_out;  // one after the other
    void *dense_in = nullptr, *dense_out = nullptr;
    bool at_once = false;
    int algorithm = 0;
    std::string name;

    State(Backend& on, const spmv::Shape& of, void* const* with) : backend(on), shape(of), arrays(with) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        for (const auto* list : {&vectors_in, &vectors_out})
            for (const void* vector : *list) sparse.destroy_vector(vector);
        for (const void* dense : {dense_in, dense_out})
            if (dense != nullptr) sparse.destroy_dense(dense);
        if (matrix != nullptr) sparse.destroy_csr(matrix);
        if (sparse_handle != nullptr) sparse.destroy(sparse_handle);
        if (blas_handle != nullptr) blas.destroy(blas_handle);
    }

    int type() const { return shape.precision == Precision::f32 ? cusparse::f32_values : cusparse::f64_values; }
    void* number(int which) const { return static_cast<char*>(numbers.data()) + which * shape.bytes(); }
    void* one() const { return number(0); }
    void* zero() const { return number(1); }
    char* component(void* vectors, int c, std::int64_t count) const { return static_cast<char*>(vectors) + shape.place(0, c, count) * shape.bytes(); }
    int stride() const { return shape.interleaved ? shape.components : 1; }

    void prepare() {
        product = DeviceArray(backend, shape.components * shape.rows * shape.bytes());
        HostArray start(shape.precision, 2 + shape.components);
        for (std::int64_t i = 0; i < start.words(); ++i) start.set_word(i, i == 0 ? 1 : 0);
        numbers = DeviceArray(backend, start.bytes());
        backend.copy(numbers.data(), start.data(), start.bytes());
        backend.synchronise();
        check(sparse.create(&sparse_handle), "cusparseCreate");
        check(blas.create(&blas_handle), "cublasCreate");
        check(sparse.set_pointer_mode(sparse_handle, cusparse::pointers_on_device), "cusparseSetPointerMode");
        check(blas.set_pointer_mode(blas_handle, cusparse::pointers_on_device), "cublasSetPointerMode");
        for (int c = 0; c < shape.components && !shape.interleaved; ++c) {
            vectors_in.push_back(nullptr), vectors_out.push_back(nullptr);
            check(sparse.create_vector(&vectors_in.back(), shape.columns, component(arrays[3], c, shape.columns), type()), "cusparseCreateDnVec");
            check(sparse.create_vector(&vectors_out.back(), shape.rows, component(product.data(), c, shape.rows), type()), "cusparseCreateDnVec");
        }
        const auto dense = [&](void** descriptor, std::int64_t count, void* words) {
            check(sparse.create_dense(descriptor, count, shape.components, shape.interleaved ? shape.components : count, words, type(),
                                      shape.interleaved ? cusparse::row_major : cusparse::column_major),
                  "cusparseCreateDnMat");
        };
        dense(&dense_in, shape.columns, arrays[3]);
        dense(&dense_out, shape.rows, product.data());
    }

    // A descriptor of its own for each way: it remembers what was prepared for it. False where
    // cuSPARSE refuses that way.
    bool use(bool all_at_once, int which) {
        at_once = all_at_once, algorithm = which;
        if (matrix != nullptr) check(sparse.destroy_csr(matrix), "cusparseDestroySpMat");
        matrix = nullptr;
        check(sparse.create_csr(&matrix, shape.rows, shape.columns, shape.entries, arrays[2], arrays[1], arrays[0], cusparse::index_32_bits,
                                cusparse::index_32_bits, cusparse::base_zero, type()),
              "cusparseCreateCsr");
        std::size_t bytes = 0;
        const int status =
            at_once
                ? sparse.spmm_buffer(sparse_handle, no_transpose, no_transpose, one(), matrix, dense_in, zero(), dense_out, type(), algorithm, &bytes)
                : sparse.spmv_buffer(sparse_handle, no_transpose, one(), matrix, vectors_in[0], zero(), vectors_out[0], type(), algorithm, &bytes);
        if (status != 0) return false;
        buffer = DeviceArray(backend, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 16)));
        if (at_once && sparse.spmm_preprocess != nullptr)
            sparse.spmm_preprocess(sparse_handle, no_transpose, no_transpose, one(), matrix, dense_in, zero(), dense_out, type(), algorithm,
                                   buffer.data());
        if (!at_once && sparse.spmv_preprocess != nullptr)
            sparse.spmv_preprocess(sparse_handle, no_transpose, one(), matrix, vectors_in[0], zero(), vectors_out[0], type(), algorithm,
                                   buffer.data());
        return multiply() == 0;
    }

    int multiply() {
        int status = 0;
        if (at_once)
            status =
                sparse.spmm(sparse_handle, no_transpose, no_transpose, one(), matrix, dense_in, zero(), dense_out, type(), algorithm, buffer.data());
        for (std::size_t c = 0; c < vectors_in.size() && !at_once; ++c)
            status +=
                sparse.spmv(sparse_handle, no_transpose, one(), matrix, vectors_in[c], zero(), vectors_out[c], type(), algorithm, buffer.data());
        for (int c = 0; c < shape.components && shape.dotted; ++c)
            status += blas.dot(blas_handle, static_cast<int>(shape.rows), component(arrays[3], c, shape.columns), stride(),
                               component(product.data(), c, shape.rows), stride(), number(2 + c));
        return status;
    }

    void choose() {
        double fastest = std::numeric_limits<double>::infinity();
        bool best_at_once = false;
        int best = -1;
        const auto contend = [&](bool all_at_once, int which) {
            if (!use(all_at_once, which)) return;
            double seconds = std::numeric_limits<double>::infinity();
            for (int round = 0; round < 5; ++round) seconds = std::min(seconds, backend.seconds({}, [&] { multiply(); }));
            if (seconds < fastest) fastest = seconds, best_at_once = all_at_once, best = which;
        };
        for (const int which : cusparse::spmv_algorithms)
            if (!vectors_in.empty()) contend(false, which);
        for (const int which : cusparse::spmm_algorithms)
            if (shape.components > 1) contend(true, which);
        if (best < 0) throw Error("the cuSPARSE rival", "it refuses every way to multiply", "see its manual");
        use(best_at_once, best);
        name = fmt::format("cuSPARSE {} algorithm {}", at_once ? "SpMM" : "SpMV", algorithm);
    }
};

std::unique_ptr<CusparseSpmv> CusparseSpmv::make(Backend& backend, const spmv::Shape& shape, void* const* arrays, std::string& missing) {
    if (backend.device().fingerprint.target != Target::cuda) {
        missing = "cuSPARSE needs a GPU";
        return nullptr;
    }
    auto state = std::make_unique<State>(backend, shape, arrays);
    if (!cusparse::load(state->sparse, state->blas, shape.precision, missing)) return nullptr;
    state->prepare();
    state->choose();
    return std::unique_ptr<CusparseSpmv>(new CusparseSpmv(std::move(state)));
}

CusparseSpmv::CusparseSpmv(std::unique_ptr<State> state) : state_(std::move(state)) {
}
CusparseSpmv::~CusparseSpmv() = default;

void CusparseSpmv::multiply() {
    check(state_->multiply(), "cuSPARSE");
}
const void* CusparseSpmv::y() const {
    return state_->product.data();
}
const std::string& CusparseSpmv::name() const {
    return state_->name;
}

}  // namespace hone
