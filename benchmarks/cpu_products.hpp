#pragma once

#include <functional>
#include <string>
#include <vector>

#include "generator/families/batched_gemm/shape.hpp"
#include "runtime/cuda/shared_library.hpp"

namespace hone::benchmarks {

/// Products by libraries for processors, loaded at run time where they are there: no headers of
/// theirs are needed. They are oneMKL, OpenBLAS and libxsmm, each looked for in the file that
/// HONE_MKL, HONE_OPENBLAS or HONE_LIBXSMM names, then by the loader's own search. OpenBLAS is told
/// to use one thread; batches are dealt to OpenMP's threads here.

/// A way to compute something; all ways to the same thing are rivals, of which the fastest counts.
struct Way {
    std::string name;
    std::function<void()> run;
};

/// Ways to compute C = op(A) op(B) for the whole batch of a problem that only stores: oneMKL's
/// batched product on all threads, the same for each thread's part of the batch, its generated
/// kernels (`mkl_jit`), OpenBLAS's and libxsmm's products in a parallel loop.
std::vector<Way> batched_products(const gemm::Shape& shape, const void* a, const void* b, void* c);

/// One product of a shape, whatever its batch, by the thread that calls.
struct ThreadProduct {
    std::string name;
    std::function<void(const void* a, const void* b, void* c)> run;
};

/// By each library that is there.
std::vector<ThreadProduct> thread_products(const gemm::Shape& shape);

/// oneMKL, where it is.
cuda::SharedLibrary mkl_library();

/// Which libraries were found, in one line: "oneMKL /opt/...; OpenBLAS: none (...)".
std::string product_libraries();

}  // namespace hone::benchmarks
