#include "benchmarks/cpu_products.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "foundation/environment.hpp"

namespace hone::benchmarks {
namespace {

// The C interface of BLAS and oneMKL's enumerations.
constexpr int column_major = 102, as_it_lies = 111, turned = 112;

template <typename Real, typename Int>
using Gemm = void(int, int, int, Int, Int, Int, Real, const Real*, Int, const Real*, Int, Real, Real*, Int);
template <typename Real, typename Int>
using GemmBatch = void(int, int, int, Int, Int, Int, Real, const Real*, Int, Int, const Real*, Int, Int, Real, Real*, Int, Int, Int);
template <typename Real>
using JitKernel = void(void*, const Real*, const Real*, Real*);
template <typename Real>
using XsmmKernel = void(const Real*, const Real*, Real*);

cuda::SharedLibrary load(const char* variable, std::vector<std::string> names) {
    if (std::string named = environment_variable(variable); !named.empty()) names = {std::move(named)};
    return cuda::SharedLibrary(names);
}

// Functions of one precision; null where a library lacks them.
template <typename Real>
struct Mkl {
    GemmBatch<Real, int>* batch = nullptr;
    Gemm<Real, int>* gemm = nullptr;
    int (*jit)(void**, int, int, int, int, int, int, Real, int, int, Real, int) = nullptr;
    JitKernel<Real>* (*jit_kernel)(const void*) = nullptr;
};

template <typename Real>
struct Openblas {
    Gemm<Real, std::int64_t>* wide = nullptr;  // with 64-bit integers, as NumPy and SciPy bring it
    Gemm<Real, int>* narrow = nullptr;

    void operator()(const gemm::Shape& of, const Real* a, const Real* b, Real* c) const {
        const int at = of.transposed_a ? turned : as_it_lies, bt = of.transposed_b ? turned : as_it_lies;
        const int lda = of.transposed_a ? of.k : of.m, ldb = of.transposed_b ? of.n : of.k;
        if (wide != nullptr)
            wide(column_major, at, bt, of.m, of.n, of.k, 1, a, lda, b, ldb, 0, c, of.m);
        else
            narrow(column_major, at, bt, of.m, of.n, of.k, 1, a, lda, b, ldb, 0, c, of.m);
    }
    explicit operator bool() const { return wide != nullptr || narrow != nullptr; }
};

template <typename Real>
using Dispatch = XsmmKernel<Real>*(int, int, int, const int*, const int*, const int*, const Real*, const Real*, const int*, const int*);

struct Libraries {
    cuda::SharedLibrary mkl = mkl_library();
    cuda::SharedLibrary openblas = load("HONE_OPENBLAS", {"libopenblas.so.0", "libopenblas.so"});
    cuda::SharedLibrary xsmm = load("HONE_LIBXSMM", {"libxsmm.so.1", "libxsmm.so"});
    std::pair<Mkl<float>, Mkl<double>> mkls;
    std::pair<Openblas<float>, Openblas<double>> blases;
    std::pair<Dispatch<float>*, Dispatch<double>*> dispatches{};

    Libraries() {
        bind_mkl(mkls.first, "s");
        bind_mkl(mkls.second, "d");
        bind_openblas(blases.first, "s");
        bind_openblas(blases.second, "d");
        void (*one_thread)(int) = nullptr;
        if (openblas && (openblas.bind("scipy_openblas_set_num_threads64_", one_thread) || openblas.bind("openblas_set_num_threads", one_thread)))
            one_thread(1);
        if (!xsmm) return;
        xsmm.bind("libxsmm_smmdispatch", dispatches.first);
        xsmm.bind("libxsmm_dmmdispatch", dispatches.second);
    }

    template <typename Real>
    void bind_mkl(Mkl<Real>& of, const std::string& type) const {
        if (!mkl) return;
        mkl.bind(("cblas_" + type + "gemm_batch_strided").c_str(), of.batch);
        mkl.bind(("cblas_" + type + "gemm").c_str(), of.gemm);
        mkl.bind(("mkl_cblas_jit_create_" + type + "gemm").c_str(), of.jit);
        mkl.bind(("mkl_jit_get_" + type + "gemm_ptr").c_str(), of.jit_kernel);
    }
    template <typename Real>
    void bind_openblas(Openblas<Real>& of, const std::string& type) const {
        if (!openblas) return;
        if (!openblas.bind(("scipy_cblas_" + type + "gemm64_").c_str(), of.wide)) openblas.bind(("cblas_" + type + "gemm").c_str(), of.narrow);
    }
};

const Libraries& libraries() {
    static const Libraries loaded;
    return loaded;
}

template <typename Real>
struct Generated {
    void* jitter = nullptr;
    JitKernel<Real>* kernel = nullptr;
};

/// oneMKL's kernel for this shape alone; it lives as long as the program.
template <typename Real>
Generated<Real> generated(const gemm::Shape& of) {
    const auto& mkl = std::get<Mkl<Real>>(libraries().mkls);
    Generated<Real> result;
    if (mkl.jit == nullptr || mkl.jit_kernel == nullptr) return result;
    constexpr int failed = 2;
    if (mkl.jit(&result.jitter, column_major, of.transposed_a ? turned : as_it_lies, of.transposed_b ? turned : as_it_lies, of.m, of.n, of.k, 1,
                of.transposed_a ? of.k : of.m, of.transposed_b ? of.n : of.k, 0, of.m) != failed)
        result.kernel = mkl.jit_kernel(result.jitter);
    return result;
}

/// libxsmm's kernel, where it makes one: not for a transposed A.
template <typename Real>
XsmmKernel<Real>* specialised(const gemm::Shape& of) {
    const auto dispatch = std::get<Dispatch<Real>*>(libraries().dispatches);
    constexpr int turned_b = 2;  // LIBXSMM_GEMM_FLAG_TRANS_B
    if (dispatch == nullptr || of.transposed_a) return nullptr;
    const Real one = 1, zero = 0;
    const int ldb = of.transposed_b ? of.n : of.k, flags = of.transposed_b ? turned_b : 0;
    return dispatch(of.m, of.n, of.k, &of.m, &ldb, &of.m, &one, &zero, &flags, nullptr);
}

template <typename Real>
struct Data {
    const Real *a, *b;
    Real* c;
};

/// Calls product(a, b, c) for the whole batch, by all threads.
template <typename Real, typename Product>
void for_batch(const gemm::Shape& of, const Data<Real>& data, const Product& product) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < of.batch; ++i) product(data.a + i * of.stride_a(), data.b + i * of.stride_b(), data.c + i * of.stride_c());
}

template <typename Real>
void mkl_batch(const gemm::Shape& of, const Data<Real>& data, std::int64_t batch) {
    std::get<Mkl<Real>>(libraries().mkls)
        .batch(column_major, of.transposed_a ? turned : as_it_lies, of.transposed_b ? turned : as_it_lies, of.m, of.n, of.k, 1, data.a,
               of.transposed_a ? of.k : of.m, static_cast<int>(of.stride_a()), data.b, of.transposed_b ? of.n : of.k, static_cast<int>(of.stride_b()),
               0, data.c, of.m, static_cast<int>(of.stride_c()), static_cast<int>(batch));
}

/// Each thread's part by a call of its own, which oneMKL computes by that thread alone.
template <typename Real>
void mkl_batch_by_threads(const gemm::Shape& of, const Data<Real>& data) {
#pragma omp parallel
    {
        const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        const std::int64_t first = of.batch * thread / threads, last = of.batch * (thread + 1) / threads;
        if (first < last)
            mkl_batch<Real>(of, {data.a + first * of.stride_a(), data.b + first * of.stride_b(), data.c + first * of.stride_c()}, last - first);
    }
}

template <typename Real>
std::vector<Way> batched(const gemm::Shape& of, const Data<Real>& data) {
    std::vector<Way> ways;
    if (std::get<Mkl<Real>>(libraries().mkls).batch != nullptr) {
        ways.push_back({"oneMKL batch", [=] { mkl_batch(of, data, of.batch); }});
        ways.push_back({"oneMKL batch by threads", [=] { mkl_batch_by_threads(of, data); }});
    }
    if (const auto jit = generated<Real>(of); jit.kernel != nullptr)
        ways.push_back({"oneMKL jit", [=] { for_batch(of, data, [&](const Real* a, const Real* b, Real* c) { jit.kernel(jit.jitter, a, b, c); }); }});
    if (const auto kernel = specialised<Real>(of)) ways.push_back({"libxsmm", [=] { for_batch(of, data, kernel); }});
    if (const auto& blas = std::get<Openblas<Real>>(libraries().blases))
        ways.push_back({"OpenBLAS", [=] { for_batch(of, data, [&](const Real* a, const Real* b, Real* c) { blas(of, a, b, c); }); }});
    return ways;
}

template <typename Real, typename Product>
ThreadProduct thread_product(const char* name, const Product& product) {
    return {name, [product](const void* a, const void* b, void* c) {
                product(static_cast<const Real*>(a), static_cast<const Real*>(b), static_cast<Real*>(c));
            }};
}

template <typename Real>
std::vector<ThreadProduct> by_thread(const gemm::Shape& of) {
    std::vector<ThreadProduct> products;
    if (const auto gemm = std::get<Mkl<Real>>(libraries().mkls).gemm)
        products.push_back(thread_product<Real>("oneMKL", [=](const Real* a, const Real* b, Real* c) {
            gemm(column_major, of.transposed_a ? turned : as_it_lies, of.transposed_b ? turned : as_it_lies, of.m, of.n, of.k, 1, a,
                 of.transposed_a ? of.k : of.m, b, of.transposed_b ? of.n : of.k, 0, c, of.m);
        }));
    if (const auto jit = generated<Real>(of); jit.kernel != nullptr)
        products.push_back(thread_product<Real>("oneMKL jit", [=](const Real* a, const Real* b, Real* c) { jit.kernel(jit.jitter, a, b, c); }));
    if (const auto kernel = specialised<Real>(of)) products.push_back(thread_product<Real>("libxsmm", kernel));
    if (const auto& blas = std::get<Openblas<Real>>(libraries().blases))
        products.push_back(thread_product<Real>("OpenBLAS", [=](const Real* a, const Real* b, Real* c) { blas(of, a, b, c); }));
    return products;
}

}  // namespace

std::vector<Way> batched_products(const gemm::Shape& shape, const void* a, const void* b, void* c) {
    if (shape.precision == Precision::f32)
        return batched<float>(shape, {static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c)});
    return batched<double>(shape, {static_cast<const double*>(a), static_cast<const double*>(b), static_cast<double*>(c)});
}

std::vector<ThreadProduct> thread_products(const gemm::Shape& shape) {
    return shape.precision == Precision::f32 ? by_thread<float>(shape) : by_thread<double>(shape);
}

cuda::SharedLibrary mkl_library() {
    return load("HONE_MKL", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"});
}

std::string product_libraries() {
    const auto found = [](const cuda::SharedLibrary& library) { return library ? library.path() : "none (" + library.reason() + ")"; };
    return fmt::format("oneMKL: {}; OpenBLAS: {}; libxsmm: {}", found(libraries().mkl), found(libraries().openblas), found(libraries().xsmm));
}

}  // namespace hone::benchmarks
