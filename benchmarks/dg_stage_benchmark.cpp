// A whole stage of discontinuous Galerkin in time, volume, surface and update, as tuned (`dg_stage`, which chooses what is fused) beside the same in
// three kernels that are tuned each for itself (dg_volume, dg_surface, dg_rk: the rival), and beside the cuBLAS route: its volume part is one GEMM of
// the stacked operator with a chain-rule kernel, its surface and update those of the three. All of one problem in turns; f32 twice, as strict
// arithmetic and as f32_accurate, where the configuration says which won.
#include <fmt/format.h>

#include <array>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/dg_cublas_route.hpp"

namespace {

using namespace hone;

/// Elements per order: 24 to 300 million words in each array of Maxwell's six fields, far beyond any cache.
constexpr std::array<int, 11> elements_of_order{0, 4000000, 2000000, 1000000, 600000, 400000, 250000, 180000, 130000, 100000, 75000};

void dg_stage(benchmark::State& state, const std::string& problem, const std::string& arithmetic, const std::string& elements) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem stage("dg_stage " + problem + arithmetic + " materials=uniform" + elements);
    DeviceProblem volume("dg_volume " + problem + arithmetic + elements);
    DeviceProblem surface("dg_surface " + problem + arithmetic + " materials=uniform" + elements);
    DeviceProblem update("dg_rk " + problem + elements);
    std::vector<std::function<void()>> contenders{[&] { stage.step(); },
                                                  [&] {
                                                      volume.step();
                                                      surface.step();
                                                      update.step();
                                                  },
                                                  [&] { volume.step(); }, [&] { surface.step(); }, [&] { update.step(); }};
#ifdef HONE_HAVE_CUBLAS
    std::unique_ptr<CublasRoute> cublas;
    if (backend.device().fingerprint.target == Target::cuda && stage.problem().word("equation") == "maxwell_3d") {
        cublas = std::make_unique<CublasRoute>(backend, volume);
        contenders.push_back([&] {
            cublas->step();
            surface.step();
            update.step();
        });
    }
#endif
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        report(state, stage, seconds[0], seconds[1]);
        const double elements_per_nanosecond = stage.counts().updates * 1e-9;
        state.counters["volume_ns"] = seconds[2] / elements_per_nanosecond;
        state.counters["surface_ns"] = seconds[3] / elements_per_nanosecond;
        state.counters["update_ns"] = seconds[4] / elements_per_nanosecond;
        if (seconds.size() > 5) state.counters["cublas/ours"] = seconds[5] / seconds[0];
        const auto unknowns = static_cast<double>(stage.kernel().source().arrays.front().words);
        state.counters["Gdof/s"] = unknowns / seconds[0] * 1e-9;
    }
}

void register_all() {
    const bool cuda = DeviceBench::instance().backend().device().fingerprint.target == Target::cuda;
    for (const char* equation : {"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"})
        for (const auto& [precision, arithmetic] :
             std::array<std::array<const char*, 2>, 3>{{{"f64", ""}, {"f32", ""}, {"f32", " arithmetic=f32_accurate"}}})
            for (std::size_t order = 1; order < elements_of_order.size(); ++order) {
                const std::string problem = fmt::format("equation={} order={} precision={}", equation, order, precision);
                const std::string elements = fmt::format(" elements={}", cuda ? elements_of_order[order] : elements_of_order[order] / 40);
                benchmark::RegisterBenchmark(("dg_stage " + problem + arithmetic + elements).c_str(), dg_stage, problem, std::string(arithmetic),
                                             elements)
                    ->UseManualTime()
                    ->Iterations(1)
                    ->Unit(benchmark::kMillisecond);
            }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    register_all();
    benchmark::RunSpecifiedBenchmarks();
}
