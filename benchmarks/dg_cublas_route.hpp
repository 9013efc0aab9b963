#pragma once
#ifdef HONE_HAVE_CUBLAS

#include <cublas_v2.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "benchmarks/device_bench.hpp"
#include "generator/reference_element.hpp"

namespace hone {

// One thread per node: reads the three derivatives of each field, applies the element's geometric factors, writes the right-hand side.
inline constexpr const char* maxwell_chain_rule = R"(
extern "C" __global__ void chain_rule(const real* __restrict__ d, const real* __restrict__ geometry, real* __restrict__ rhs, int elements) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long k = i / nodes;
    const int n = (int)(i - k * nodes);
    if (k >= elements) return;
    real g[9];
    for (int j = 0; j < 9; ++j) g[j] = geometry[k * 9 + j];
    const real* q = d + k * 6 * 3 * nodes + n;
    real x[6], y[6], z[6];
#pragma unroll
    for (int v = 0; v < 6; ++v) {
        const real r = q[(v * 3 + 0) * nodes], s = q[(v * 3 + 1) * nodes], t = q[(v * 3 + 2) * nodes];
        x[v] = g[0] * r + g[3] * s + g[6] * t;
        y[v] = g[1] * r + g[4] * s + g[7] * t;
        z[v] = g[2] * r + g[5] * s + g[8] * t;
    }
    real* out = rhs + k * 6 * nodes + n;
    out[0 * nodes] = -(y[5] - z[4]);
    out[1 * nodes] = -(z[3] - x[5]);
    out[2 * nodes] = -(x[4] - y[3]);
    out[3 * nodes] = y[2] - z[1];
    out[4 * nodes] = z[0] - x[2];
    out[5 * nodes] = x[1] - y[0];
}
)";

/// The volume right-hand side of maxwell_3d as libraries make it: one GEMM of the stacked 3Np x Np operator with all fields (Np x 6K, column-major),
/// then a memory-bound chain-rule kernel. `problem` is of dg_volume.
class CublasRoute {
  public:
    CublasRoute(Backend& backend, const DeviceProblem& problem)
        : problem_(problem),
          precision_(problem.problem().precision()),
          order_(static_cast<int>(problem.problem().integer("order"))),
          nodes_(tetrahedron_nodes(order_)),
          elements_(static_cast<int>(problem.problem().integer("elements"))),
          derivatives_(backend, std::int64_t{18} * nodes_ * elements_ * bytes_per_word(precision_)),
          rhs_(backend, std::int64_t{6} * nodes_ * elements_ * bytes_per_word(precision_)),
          operator_(backend, std::int64_t{3} * nodes_ * nodes_ * bytes_per_word(precision_)) {
        upload_operator(backend);
        KernelSource source;
        source.target = Target::cuda;
        source.precision = precision_;
        source.entries = {"chain_rule"};
        source.text = fmt::format("using real = {};\nconstexpr int nodes = {};\n", precision_ == Precision::f32 ? "float" : "double", nodes_) +
                      maxwell_chain_rule;
        const CompileOutcome outcome = backend.compiler().compile(source);
        if (!outcome.ok) throw std::runtime_error(outcome.failure);
        module_ = backend.load(outcome.code);
        entry_ = module_->entry("chain_rule");
        check(cublasCreate(&handle_));
        check(cublasSetStream(handle_, cudaStreamLegacy));
    }
    ~CublasRoute() { cublasDestroy(handle_); }
    CublasRoute(const CublasRoute&) = delete;
    CublasRoute& operator=(const CublasRoute&) = delete;

    /// One GEMM: derivatives (3Np x 6K) = D (3Np x Np) q (Np x 6K).
    void product() {
        const int m = 3 * nodes_;
        const int n = 6 * elements_;
        const float one_f = 1, zero_f = 0;
        const double one = 1, zero = 0;
        if (precision_ == Precision::f32)
            check(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, nodes_, &one_f, static_cast<const float*>(operator_.data()), m,
                              static_cast<const float*>(problem_.array(0)), nodes_, &zero_f, static_cast<float*>(derivatives_.data()), m));
        else
            check(cublasDgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, nodes_, &one, static_cast<const double*>(operator_.data()), m,
                              static_cast<const double*>(problem_.array(0)), nodes_, &zero, static_cast<double*>(derivatives_.data()), m));
    }

    void step() {
        product();
        void* d = derivatives_.data();
        void* geometry = problem_.array(1);
        void* rhs = rhs_.data();
        int elements = elements_;
        std::array<void*, 4> arguments{&d, &geometry, &rhs, &elements};
        constexpr std::int64_t threads = 256;
        module_->launch(entry_, {(std::int64_t{nodes_} * elements_ + threads - 1) / threads, 1, 1}, {threads, 1, 1}, 0, {}, arguments.data());
    }

    const void* rhs() const { return rhs_.data(); }
    std::int64_t words() const { return std::int64_t{6} * nodes_ * elements_; }

  private:
    static void check(cublasStatus_t status) {
        if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
    }

    void upload_operator(Backend& backend) {
        const ReferenceElement& element = reference_tetrahedron(order_);
        HostArray stacked(precision_, std::int64_t{3} * nodes_ * nodes_);
        for (int a = 0; a < 3; ++a)
            for (int n = 0; n < nodes_; ++n)
                for (int m = 0; m < nodes_; ++m) {
                    const auto position = static_cast<std::size_t>(m * 3 * nodes_ + a * nodes_ + n);
                    const double value = element.derivative[static_cast<std::size_t>(a)](n, m);
                    if (precision_ == Precision::f32)
                        stacked.values<float>()[position] = static_cast<float>(value);
                    else
                        stacked.values<double>()[position] = value;
                }
        backend.copy(operator_.data(), stacked.data(), stacked.bytes());
        backend.synchronise();
    }

    const DeviceProblem& problem_;
    Precision precision_;
    int order_;
    int nodes_;
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
