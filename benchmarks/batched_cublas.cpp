#include "benchmarks/batched_cublas.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "runtime/cuda/shared_library.hpp"

namespace hone {
namespace {

// cuBLAS Library, NVIDIA's documentation: types of its C interface.
using BlasHandle = void*;
constexpr int as_it_lies = 0;
constexpr int turned = 1;

template <typename Real>
using Gemm = int(BlasHandle, int, int, int, int, int, const Real*, const Real*, int, long long, const Real*, int, long long, const Real*, Real*, int,
                 long long, int);
template <typename Real>
using Gemv = int(BlasHandle, int, int, int, const Real*, const Real*, int, long long, const Real*, int, long long, const Real*, Real*, int, long long,
                 int);

// The loader's own search, then wherever NVRTC is looked for: they come together.
std::vector<std::string> cublas_candidates() {
    const std::vector<std::string> names{"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    std::vector<std::string> result = names;
    for (const std::string& nvrtc : cuda::library_candidates().nvrtc) {
        const std::filesystem::path folder = std::filesystem::path(nvrtc).parent_path();
        if (folder.empty()) continue;
        for (const std::string& name : names) result.push_back((folder / name).string());
    }
    return result;
}

void check_blas(int status) {
    if (status != 0) throw std::runtime_error(fmt::format("cuBLAS: status {}", status));
}

}  // namespace

struct BatchedCublas::Functions {
    cuda::SharedLibrary library{cublas_candidates()};
    int (*create)(BlasHandle*) = nullptr;
    int (*destroy)(BlasHandle) = nullptr;
    Gemm<float>* gemm_f32 = nullptr;
    Gemm<double>* gemm_f64 = nullptr;
    Gemv<float>* gemv_f32 = nullptr;
    Gemv<double>* gemv_f64 = nullptr;
    BlasHandle handle = nullptr;

    bool bind() {
        return library.bind("cublasCreate_v2", create) && library.bind("cublasDestroy_v2", destroy) &&
               library.bind("cublasSgemmStridedBatched", gemm_f32) && library.bind("cublasDgemmStridedBatched", gemm_f64) &&
               library.bind("cublasSgemvStridedBatched", gemv_f32) && library.bind("cublasDgemvStridedBatched", gemv_f64);
    }
};

BatchedCublas::BatchedCublas() : functions_(std::make_unique<Functions>()) {
    if (!functions_->library)
        reason_ = functions_->library.reason();
    else if (!functions_->bind())
        reason_ = functions_->library.path() + " has no strided batched products";
    else if (const int status = functions_->create(&functions_->handle); status != 0) {
        functions_->handle = nullptr;
        reason_ = fmt::format("cuBLAS does not start: status {}", status);
    }
}

BatchedCublas::~BatchedCublas() {
    if (functions_->handle != nullptr) functions_->destroy(functions_->handle);
}

bool BatchedCublas::there() const {
    return functions_->handle != nullptr;
}

const std::string& BatchedCublas::reason() const {
    return reason_;
}

namespace {

template <typename Real>
void call_gemm(BlasHandle handle, Gemm<Real>* function, const gemm::Shape& shape, const void* a, const void* b, void* c) {
    const Real one = 1;
    const Real zero = 0;
    check_blas(function(handle, shape.transposed_a ? turned : as_it_lies, shape.transposed_b ? turned : as_it_lies, shape.m, shape.n, shape.k, &one,
                        static_cast<const Real*>(a), shape.transposed_a ? shape.k : shape.m, shape.stride_a(), static_cast<const Real*>(b),
                        shape.transposed_b ? shape.n : shape.k, shape.stride_b(), &zero, static_cast<Real*>(c), shape.m, shape.stride_c(),
                        static_cast<int>(shape.batch)));
}

template <typename Real>
void call_gemv(BlasHandle handle, Gemv<Real>* function, const gemm::Shape& shape, const void* a, const void* x, void* y) {
    const Real one = 1;
    const Real zero = 0;
    const int rows = shape.transposed_a ? shape.k : shape.m;
    const int columns = shape.transposed_a ? shape.m : shape.k;
    check_blas(function(handle, shape.transposed_a ? turned : as_it_lies, rows, columns, &one, static_cast<const Real*>(a), rows, shape.stride_a(),
                        static_cast<const Real*>(x), 1, shape.stride_b(), &zero, static_cast<Real*>(y), 1, shape.stride_c(),
                        static_cast<int>(shape.batch)));
}

}  // namespace

void BatchedCublas::gemm(const gemm::Shape& shape, const void* a, const void* b, void* c) const {
    if (shape.precision == Precision::f32)
        call_gemm<float>(functions_->handle, functions_->gemm_f32, shape, a, b, c);
    else
        call_gemm<double>(functions_->handle, functions_->gemm_f64, shape, a, b, c);
}

void BatchedCublas::gemv(const gemm::Shape& shape, const void* a, const void* x, void* y) const {
    if (shape.precision == Precision::f32)
        call_gemv<float>(functions_->handle, functions_->gemv_f32, shape, a, x, y);
    else
        call_gemv<double>(functions_->handle, functions_->gemv_f64, shape, a, x, y);
}

}  // namespace hone
