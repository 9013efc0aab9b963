#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "foundation/value.hpp"
#include "runtime/cuda/shared_library.hpp"

namespace hone {

/// Minimal declarations of cuSPARSE (generic API, 12) and cuBLAS (12, 13), which are loaded at run
/// time. Enumerations are ints, descriptors and handles pointers, arguments that are real numbers
/// pointers to either precision.
namespace cusparse {

constexpr int index_32_bits = 2, base_zero = 0, no_transpose = 0, pointers_on_device = 1;
constexpr int f32_values = 0, f64_values = 1;
constexpr int column_major = 1, row_major = 2;
inline constexpr std::array spmv_algorithms{2, 3};      // CUSPARSE_SPMV_CSR_ALG1, which may change digits from run to run, and ALG2
inline constexpr std::array spmm_algorithms{4, 6, 12};  // CUSPARSE_SPMM_CSR_ALG1 to ALG3

using Handle = void*;
/// Product of a matrix with a vector, or with a dense matrix of few columns.
using Product = int(Handle, int, const void*, const void*, const void*, const void*, void*, int, int, void*);
using MatrixProduct = int(Handle, int, int, const void*, const void*, const void*, const void*, void*, int, int, void*);

struct Sparse {
    cuda::SharedLibrary library;
    int (*create)(Handle*) = nullptr;
    int (*destroy)(Handle) = nullptr;
    int (*set_pointer_mode)(Handle, int) = nullptr;
    int (*create_csr)(void**, std::int64_t, std::int64_t, std::int64_t, void*, void*, void*, int, int, int, int) = nullptr;
    int (*create_vector)(void**, std::int64_t, void*, int) = nullptr;
    int (*create_dense)(void**, std::int64_t, std::int64_t, std::int64_t, void*, int, int) = nullptr;
    int (*destroy_csr)(const void*) = nullptr;
    int (*destroy_vector)(const void*) = nullptr;
    int (*destroy_dense)(const void*) = nullptr;
    int (*spmv_buffer)(Handle, int, const void*, const void*, const void*, const void*, void*, int, int, std::size_t*) = nullptr;
    Product* spmv = nullptr;
    Product* spmv_preprocess = nullptr;  // since 12.3
    int (*spmm_buffer)(Handle, int, int, const void*, const void*, const void*, const void*, void*, int, int, std::size_t*) = nullptr;
    MatrixProduct* spmm = nullptr;
    MatrixProduct* spmm_preprocess = nullptr;

    bool bind();
};

struct Blas {
    cuda::SharedLibrary library;
    int (*create)(Handle*) = nullptr;
    int (*destroy)(Handle) = nullptr;
    int (*set_pointer_mode)(Handle, int) = nullptr;
    int (*dot)(Handle, int, const void*, int, const void*, int, void*) = nullptr;
    int (*axpy)(Handle, int, const void*, const void*, int, void*, int) = nullptr;
    int (*scal)(Handle, int, const void*, void*, int) = nullptr;

    bool bind(Precision precision);
};

/// Both libraries, loaded and bound, from the loader's own search or the folder that NVRTC came
/// from. False with `missing` saying why not.
bool load(Sparse& sparse, Blas& blas, Precision precision, std::string& missing);

/// Throws Error when `status` is not success.
void check(int status, const char* what);

}  // namespace cusparse
}  // namespace hone
