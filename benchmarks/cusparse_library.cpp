#include "benchmarks/cusparse_library.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/cuda/nvrtc.hpp"

namespace hone::cusparse {
namespace {

cuda::SharedLibrary load_one(const std::vector<std::string>& names) {
    const std::string nvrtc = cuda::load_nvrtc(cuda::library_candidates()).library.path();
    std::vector<std::string> candidates = names;
    for (const auto& name : names) candidates.push_back((std::filesystem::path(nvrtc).parent_path() / name).string());
    return cuda::SharedLibrary(candidates);
}

}  // namespace

bool Sparse::bind() {
    library.bind("cusparseSpMV_preprocess", spmv_preprocess);
    library.bind("cusparseSpMM_preprocess", spmm_preprocess);
    return library.bind("cusparseCreate", create) && library.bind("cusparseDestroy", destroy) &&
           library.bind("cusparseSetPointerMode", set_pointer_mode) && library.bind("cusparseCreateCsr", create_csr) &&
           library.bind("cusparseCreateDnVec", create_vector) && library.bind("cusparseCreateDnMat", create_dense) &&
           library.bind("cusparseDestroySpMat", destroy_csr) && library.bind("cusparseDestroyDnVec", destroy_vector) &&
           library.bind("cusparseDestroyDnMat", destroy_dense) && library.bind("cusparseSpMV_bufferSize", spmv_buffer) &&
           library.bind("cusparseSpMV", spmv) && library.bind("cusparseSpMM_bufferSize", spmm_buffer) && library.bind("cusparseSpMM", spmm);
}

bool Blas::bind(Precision precision) {
    const bool single = precision == Precision::f32;
    return library.bind("cublasCreate_v2", create) && library.bind("cublasDestroy_v2", destroy) &&
           library.bind("cublasSetPointerMode_v2", set_pointer_mode) && library.bind(single ? "cublasSdot_v2" : "cublasDdot_v2", dot) &&
           library.bind(single ? "cublasSaxpy_v2" : "cublasDaxpy_v2", axpy) && library.bind(single ? "cublasSscal_v2" : "cublasDscal_v2", scal);
}

bool load(Sparse& sparse, Blas& blas, Precision precision, std::string& missing) {
    sparse.library = load_one({"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so.11", "libcusparse.so"});
    blas.library = load_one({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"});
    if (sparse.bind() && blas.bind(precision)) return true;
    missing = fmt::format("no cuSPARSE or cuBLAS ({} {})", sparse.library.reason(), blas.library.reason());
    return false;
}

void check(int status, const char* what) {
    if (status != 0) throw Error(what, fmt::format("it failed with status {}", status), "see the library's manual");
}

}  // namespace hone::cusparse
