#pragma once
#ifdef HONE_HAVE_CUBLAS

#include <cublas_v2.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/dg_product_route.hpp"
#include "benchmarks/rivals.hpp"
#include "generator/families/dg/shape.hpp"

namespace hone {

/// The volume right-hand side as libraries make it: one GEMM of the stacked d Np x Np operator with
/// all fields (Np x fields K, column-major), then a memory-bound chain-rule kernel. `problem` is of
/// dg_volume or dg_stage.
class CublasRoute {
  public:
    CublasRoute(Backend& backend, const DeviceProblem& problem)
        : problem_(problem),
          shape_(problem.problem()),
          elements_(static_cast<int>(shape_.elements)),
          derivatives_(backend, shape_.dimension * words() * shape_.bytes()),
          rhs_(backend, words() * shape_.bytes()),
          operator_(benchmarks::stacked_operator(backend, shape_)) {
        KernelSource source;
        source.target = Target::cuda;
        source.precision = shape_.precision;
        source.entries = {"chain_rule"};
        source.text = benchmarks::chain_rule_text(shape_);
        source.text += benchmarks::rival_text("dg_chain_rule.cu");
        module_ = benchmarks::rival_module(backend, source);
        entry_ = module_->entry("chain_rule");
        check(cublasCreate(&handle_));
        check(cublasSetStream(handle_, cudaStreamLegacy));
    }
    ~CublasRoute() { cublasDestroy(handle_); }
    CublasRoute(const CublasRoute&) = delete;
    CublasRoute& operator=(const CublasRoute&) = delete;

    /// One GEMM: derivatives (d Np x fields K) = D (d Np x Np) q (Np x fields K).
    void product() {
        const int k = shape_.nodes;
        const int m = shape_.dimension * k;
        const int n = shape_.fields * elements_;
        const float one_f = 1, zero_f = 0;
        const double one = 1, zero = 0;
        if (shape_.precision == Precision::f32)
            check(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one_f, static_cast<const float*>(operator_.data()), m,
                              static_cast<const float*>(problem_.array(0)), k, &zero_f, static_cast<float*>(derivatives_.data()), m));
        else
            check(cublasDgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, static_cast<const double*>(operator_.data()), m,
                              static_cast<const double*>(problem_.array(0)), k, &zero, static_cast<double*>(derivatives_.data()), m));
    }

    void step() {
        product();
        void* d = derivatives_.data();
        void* geometry = problem_.array(1);
        void* rhs = rhs_.data();
        int elements = elements_;
        std::array<void*, 4> arguments{&d, &geometry, &rhs, &elements};
        constexpr std::int64_t threads = 256;
        module_->launch(entry_, {(shape_.nodes * shape_.elements + threads - 1) / threads, 1, 1}, {threads, 1, 1}, 0, {}, arguments.data());
    }

    const void* rhs() const { return rhs_.data(); }
    std::int64_t words() const { return shape_.words() * shape_.elements; }

  private:
    static void check(cublasStatus_t status) {
        if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
    }

    const DeviceProblem& problem_;
    dg::Shape shape_;
    int elements_;
    DeviceArray derivatives_;
    DeviceArray rhs_;
    DeviceArray operator_;
    std::unique_ptr<Module> module_;
    int entry_ = 0;
    cublasHandle_t handle_ = nullptr;
};

}  // namespace hone

#endif
