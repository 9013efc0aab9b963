// The tuned DG volume kernel beside the cuBLAS route: one GEMM of the stacked d Np x Np operator with all fields (Np x fields*K, column-major), then
// a memory-bound chain-rule kernel. Without cuBLAS (or on the CPU) the kernels are reported against the ceiling alone.
#include <fmt/format.h>

#include <array>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/dg_cublas_route.hpp"
#include "benchmarks/program.hpp"

namespace hone::benchmarks {
namespace {

/// Elements per order: about 1 GB of fields in f32 for Maxwell, far beyond any cache.
constexpr std::array<int, 11> elements_of_order{0, 4000000, 2000000, 1000000, 600000, 400000, 250000, 180000, 130000, 100000, 75000};

void dg_volume(benchmark::State& state, const std::string& text) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
#ifdef HONE_HAVE_CUBLAS
    std::unique_ptr<CublasRoute> cublas;
    if (backend.device().fingerprint.target == Target::cuda) {
        cublas = std::make_unique<CublasRoute>(backend, problem);
        contenders.push_back([&] { cublas->step(); });
        contenders.push_back([&] { cublas->product(); });
    }
#endif
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        report(state, problem, seconds[0], {seconds.size() > 1 ? seconds[1] : 0});
        if (seconds.size() > 2) state.counters["gemm_alone_ns/elements"] = seconds[2] / problem.counts().updates * 1e9;
    }
#ifdef HONE_HAVE_CUBLAS
    // The rival must compute the same function: both right-hand sides agree to rounding.
    if (cublas)
        state.counters["difference_to_rival"] =
            backend.largest_difference(problem.array(2), cublas->rhs(), cublas->words(), problem.problem().precision());
#endif
}

void register_all() {
    const bool cuda = DeviceBench::instance().backend().device().fingerprint.target == Target::cuda;
    for (const char* equation : {"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"})
        for (const char* precision : {"f32", "f64"})
            for (std::size_t order = 1; order < elements_of_order.size(); ++order) {
                const int scale = equation == std::string("maxwell_2d_tm") ? 4 : 1;
                const int elements = scale * (cuda ? elements_of_order[order] : elements_of_order[order] / 40);
                const std::string text = fmt::format("dg_volume equation={} order={} precision={} elements={}", equation, order, precision, elements);
                benchmark::RegisterBenchmark(text.c_str(), dg_volume, text)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
            }
}

}  // namespace

Program program() {
    return {.purpose = "The tuned volume kernel of discontinuous Galerkin beside the cuBLAS route.", .register_all = register_all};
}

}  // namespace hone::benchmarks
