// A whole stage of discontinuous Galerkin in time, volume, surface and update, as tuned
// (`dg_stage`, which chooses what is fused) beside the same in three kernels that are tuned each
// for itself (dg_volume, dg_surface, dg_rk: the rival), and beside the cuBLAS route: its volume
// part is one GEMM of the stacked operator with a chain-rule kernel, its surface and update those
// of the three. All of one problem alternately, on the same arrays; f32 twice, as strict arithmetic
// and as f32_accurate, where the configuration says which won. Samples are bursts of a millisecond.
#include <fmt/format.h>

#include <array>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/dg_cublas_route.hpp"
#include "benchmarks/program.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::benchmarks {
namespace {

/// Elements per order: 16 to 38 million words in each array of Maxwell's six fields, beyond any
/// cache; four times as many triangles.
constexpr std::array<int, 11> elements_of_order{0, 1000000, 500000, 250000, 150000, 100000, 64000, 45000, 32000, 25000, 19000};

/// A problem's tuned kernel on arrays that somebody else has: a part of a rival.
struct Contender {
    Problem problem;
    std::shared_ptr<const Kernel> kernel;
    BoundKernel bound;

    Contender(const std::string& text, const std::vector<void*>& arrays)
        : problem(built_in_families().parse_problem(text)), kernel(DeviceBench::instance().library().kernel(problem)), bound(kernel, arrays) {}
    void step() { bound.launch(); }
    TimedKernel timed() const { return timed_kernel(problem.family(), *kernel).as_rival(); }
};

/// The second stage of LSERK4, whose residual neither grows nor dies out over thousands of steps.
template <typename Real>
void set_stage(Backend& backend, void* stage) {
    const std::array<Real, 3> coefficients{Real(-0.4178904745), Real(0.3792103130), Real(0.01)};
    backend.copy(stage, coefficients.data(), sizeof coefficients);
    backend.synchronise();
}

void dg_stage(benchmark::State& state, const std::string& problem, const std::string& arithmetic, const std::string& elements) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem stage("dg_stage " + problem + arithmetic + " materials=uniform" + elements);
    // q, geometry, faces, vmapP, stage, res, q_next
    const bool f32 = stage.problem().precision() == Precision::f32;
    f32 ? set_stage<float>(backend, stage.array(4)) : set_stage<double>(backend, stage.array(4));
    const std::int64_t words = stage.kernel().source().arrays.front().words;
    const DeviceArray rhs(backend, words * bytes_per_word(stage.problem().precision()));
    Contender volume("dg_volume " + problem + arithmetic + elements, {stage.array(0), stage.array(1), rhs.data()});
    Contender surface("dg_surface " + problem + arithmetic + " materials=uniform" + elements,
                      {stage.array(0), stage.array(2), stage.array(3), rhs.data()});
    Contender update("dg_rk " + problem + elements, {rhs.data(), stage.array(4), stage.array(5), stage.array(6)});
    std::vector<std::function<void()>> contenders{[&] { stage.step(); },
                                                  [&] {
                                                      volume.step();
                                                      surface.step();
                                                      update.step();
                                                  },
                                                  [&] { volume.step(); }, [&] { surface.step(); }, [&] { update.step(); }};
#ifdef HONE_HAVE_CUBLAS
    std::unique_ptr<CublasRoute> cublas;
    if (traits_of(backend.device().fingerprint.target).has_blocks) {
        cublas = std::make_unique<CublasRoute>(backend, stage);
        contenders.push_back([&] {
            cublas->step();
            surface.step();
            update.step();
        });
    }
#endif
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        report(state, stage, seconds[0], {seconds[1], {volume.timed(), surface.timed(), update.timed()}});
        const double elements_per_nanosecond = stage.counts().updates * 1e-9;
        state.counters["volume_ns"] = seconds[2] / elements_per_nanosecond;
        state.counters["surface_ns"] = seconds[3] / elements_per_nanosecond;
        state.counters["update_ns"] = seconds[4] / elements_per_nanosecond;
        if (seconds.size() > 5) state.counters[ratio_name("cublas/ours", {stage.timed(), surface.timed(), update.timed()})] = seconds[5] / seconds[0];
        // The volume kernel by itself: the literature's operations, and what one step of fields and
        // right-hand sides moves.
        const Counts alone = built_in_families().of(volume.problem).counts(volume.problem);
        state.counters["volume_GFLOP/s"] = alone.operations / seconds[2] * 1e-9;
        state.counters["Gdof/s"] = static_cast<double>(words) / seconds[0] * 1e-9;
    }
}

struct Row {
    std::string problem, arithmetic, elements;
};

std::vector<Row> rows(bool cuda) {
    std::vector<Row> all;
    for (const char* equation : {"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"})
        for (const auto& [precision, arithmetic] :
             std::array<std::array<const char*, 2>, 3>{{{"f32", ""}, {"f64", ""}, {"f32", " arithmetic=f32_accurate"}}})
            for (std::size_t order = 1; order < elements_of_order.size(); ++order) {
                const int scale = equation == std::string("maxwell_2d_tm") ? 4 : 1;
                all.push_back({fmt::format("equation={} order={} precision={}", equation, order, precision), arithmetic,
                               fmt::format(" elements={}", cuda ? scale * elements_of_order[order] : elements_of_order[order] / 10)});
            }
    return all;
}

// The stage's, and those of the three kernels that it is compared with.
std::vector<std::string> problems() {
    std::vector<std::string> texts;
    for (const auto& [problem, arithmetic, elements] : rows(!device_name().starts_with("cpu"))) {
        texts.push_back("dg_stage " + problem + arithmetic + " materials=uniform" + elements);
        texts.push_back("dg_volume " + problem + arithmetic + elements);
        texts.push_back("dg_surface " + problem + arithmetic + " materials=uniform" + elements);
        if (arithmetic.empty()) texts.push_back("dg_rk " + problem + elements);
    }
    return texts;
}

void register_all() {
    benchmark::AddCustomContext("regime", "bursts: samples of a millisecond, all contenders in turns, the median of 11 after a warm-up");
    const bool cuda = traits_of(DeviceBench::instance().backend().device().fingerprint.target).has_blocks;
    for (const auto& [problem, arithmetic, elements] : rows(cuda))
        benchmark::RegisterBenchmark(("dg_stage " + problem + arithmetic + elements).c_str(), dg_stage, problem, arithmetic, elements)
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
}

}  // namespace

Program program() {
    return {.purpose = "A whole stage of discontinuous Galerkin beside three kernels tuned each for itself, and beside the cuBLAS route.",
            .problems = problems,
            .register_all = register_all};
}

}  // namespace hone::benchmarks
