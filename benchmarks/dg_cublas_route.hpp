#pragma once
#ifdef HONE_HAVE_CUBLAS

#include <cublas_v2.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "benchmarks/device_bench.hpp"
#include "generator/families/dg/shape.hpp"

namespace hone {

// One thread per node: reads the derivatives of each field, applies the element's geometric factors, writes the right-hand side.
inline constexpr const char* chain_rule_begin = R"(
extern "C" __global__ void chain_rule(const real* __restrict__ d, const real* __restrict__ geometry, real* __restrict__ rhs, int elements) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long k = i / nodes;
    const int n = (int)(i - k * nodes);
    if (k >= elements) return;
    real g[dimension][dimension];
    for (int j = 0; j < dimension * dimension; ++j) g[j / dimension][j % dimension] = geometry[k * dimension * dimension + j];
    const real* q = d + k * fields * dimension * nodes + n;
    real along[dimension][fields];
#pragma unroll
    for (int v = 0; v < fields; ++v) {
        real reference[dimension];
#pragma unroll
        for (int a = 0; a < dimension; ++a) reference[a] = q[(v * dimension + a) * nodes];
#pragma unroll
        for (int x = 0; x < dimension; ++x) {
            along[x][v] = g[0][x] * reference[0];
#pragma unroll
            for (int a = 1; a < dimension; ++a) along[x][v] += g[a][x] * reference[a];
        }
    }
    const auto x = along[0], y = along[1], z = along[dimension - 1];
    real* out = rhs + k * fields * nodes + n;
)";

// Fields H, E; p, v; Hx, Hy, Ez.
inline std::string chain_rule(const std::string& equation) {
    if (equation == "acoustics_3d")
        return R"(
    out[0 * nodes] = -(x[1] + y[2] + z[3]);
    out[1 * nodes] = -x[0];
    out[2 * nodes] = -y[0];
    out[3 * nodes] = -z[0];
}
)";
    if (equation == "maxwell_2d_tm")
        return R"(
    out[0 * nodes] = -y[2];
    out[1 * nodes] = x[2];
    out[2 * nodes] = x[1] - y[0];
}
)";
    return R"(
    out[0 * nodes] = -(y[5] - z[4]);
    out[1 * nodes] = -(z[3] - x[5]);
    out[2 * nodes] = -(x[4] - y[3]);
    out[3 * nodes] = y[2] - z[1];
    out[4 * nodes] = z[0] - x[2];
    out[5 * nodes] = x[1] - y[0];
}
)";
}

/// The volume right-hand side as libraries make it: one GEMM of the stacked d Np x Np operator with all fields (Np x fields K, column-major), then a
/// memory-bound chain-rule kernel. `problem` is of dg_volume or dg_stage.
class CublasRoute {
  public:
    CublasRoute(Backend& backend, const DeviceProblem& problem)
        : problem_(problem),
          shape_(problem.problem()),
          elements_(static_cast<int>(shape_.elements)),
          derivatives_(backend, shape_.dimension * words() * shape_.bytes()),
          rhs_(backend, words() * shape_.bytes()),
          operator_(backend, std::int64_t{shape_.dimension} * shape_.nodes * shape_.nodes * shape_.bytes()) {
        upload_operator(backend);
        KernelSource source;
        source.target = Target::cuda;
        source.precision = shape_.precision;
        source.entries = {"chain_rule"};
        source.text = fmt::format("using real = {};\nconstexpr int nodes = {}, fields = {}, dimension = {};\n",
                                  shape_.precision == Precision::f32 ? "float" : "double", shape_.nodes, shape_.fields, shape_.dimension) +
                      chain_rule_begin + chain_rule(shape_.equation);
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

    void upload_operator(Backend& backend) {
        const ReferenceElement& element = shape_.reference();
        const int nodes = shape_.nodes, dimension = shape_.dimension;
        HostArray stacked(shape_.precision, std::int64_t{dimension} * nodes * nodes);
        for (int a = 0; a < dimension; ++a)
            for (int n = 0; n < nodes; ++n)
                for (int m = 0; m < nodes; ++m) {
                    const auto position = static_cast<std::size_t>((m * dimension + a) * nodes + n);
                    const double value = element.derivative[static_cast<std::size_t>(a)](n, m);
                    if (shape_.precision == Precision::f32)
                        stacked.values<float>()[position] = static_cast<float>(value);
                    else
                        stacked.values<double>()[position] = value;
                }
        backend.copy(operator_.data(), stacked.data(), stacked.bytes());
        backend.synchronise();
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
