// The tuned DG volume kernel beside the cuBLAS route: one GEMM of the stacked d Np x Np operator
// with all fields (Np x fields*K, column-major), then a memory-bound chain-rule kernel. On the
// processor beside the same route by oneMKL, OpenBLAS and libxsmm, where they are there, chunk by
// chunk or as a whole; the fastest counts. Without any of them the kernels are reported against the
// ceiling alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/device_bench.hpp"
#include "benchmarks/dg_cublas_route.hpp"
#include "benchmarks/dg_product_route.hpp"
#include "benchmarks/program.hpp"

namespace hone::benchmarks {
namespace {

// Ratios on the processor.
RatioSummary& summary() {
    static RatioSummary ratios{"dg_volume"};
    return ratios;
}

/// Elements per order: about 1 GB of fields in f32 for Maxwell, far beyond any cache.
constexpr std::array<int, 11> elements_of_order{0, 4000000, 2000000, 1000000, 600000, 400000, 250000, 180000, 130000, 100000, 75000};

// On the processor.
void beside_products(benchmark::State& state, Backend& backend, DeviceProblem& problem) {
    ProductRoute route(backend, problem);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
    std::vector<std::string> names;
    // Sums of Np products and three axes, of words below 1 with derivatives and factors that are
    // not: so the bound is one on the largest word.
    double largest_difference = 0;
    problem.step();
    for (Way& way : route.ways()) {
        backend.fill(const_cast<void*>(route.rhs()), 0xff, route.words() * bytes_per_word(problem.problem().precision()));
        way.run();
        largest_difference =
            std::max(largest_difference, backend.largest_difference(problem.array(2), route.rhs(), route.words(), problem.problem().precision()));
        names.push_back(way.name);
        contenders.push_back(std::move(way.run));
    }
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 7);
        const auto fastest = std::min_element(seconds.begin() + 1, seconds.end());
        report(state, problem, seconds[0], {names.empty() ? 0 : *fastest});
        if (names.empty()) continue;
        summary().add(*fastest / seconds[0], {problem.timed()});
        state.counters["difference_to_rivals"] = largest_difference;
        state.SetLabel(fmt::format("{}: {}; rival: {}", to_string(problem.kernel().match().grade), problem.kernel().match().config.key(),
                                   names[static_cast<std::size_t>(fastest - seconds.begin() - 1)]));
    }
}

void dg_volume(benchmark::State& state, const std::string& text) {
    Backend& backend = DeviceBench::instance().backend();
    DeviceProblem problem(text, Words::random);
    std::vector<std::function<void()>> contenders{[&] { problem.step(); }};
#ifdef HONE_HAVE_CUBLAS
    std::unique_ptr<CublasRoute> cublas;
    if (traits_of(backend.device().fingerprint.target).has_blocks) {
        cublas = std::make_unique<CublasRoute>(backend, problem);
        contenders.push_back([&] { cublas->step(); });
        contenders.push_back([&] { cublas->product(); });
    }
#endif
    if (traits_of(backend.device().fingerprint.target).shares_processors) return beside_products(state, backend, problem);
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

std::vector<std::string> problems(bool cuda) {
    std::vector<std::string> texts;
    for (const char* equation : {"maxwell_3d", "acoustics_3d", "maxwell_2d_tm"})
        for (const char* precision : {"f32", "f64"})
            for (std::size_t order = 1; order < elements_of_order.size(); ++order) {
                const int scale = equation == std::string("maxwell_2d_tm") ? 4 : 1;
                const int elements = scale * (cuda ? elements_of_order[order] : elements_of_order[order] / 40);
                texts.push_back(fmt::format("dg_volume equation={} order={} precision={} elements={}", equation, order, precision, elements));
            }
    return texts;
}

void register_all() {
    const bool cuda = traits_of(DeviceBench::instance().backend().device().fingerprint.target).has_blocks;
    if (!cuda) benchmark::AddCustomContext("libraries", product_libraries());
    for (const std::string& text : problems(cuda))
        benchmark::RegisterBenchmark(text.c_str(), dg_volume, text)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

}  // namespace

Program program() {
    return {.purpose = "The tuned volume kernel of discontinuous Galerkin beside the cuBLAS route; on the processor beside that of other libraries.",
            .problems = [] { return problems(!device_name().starts_with("cpu")); },
            .register_all = register_all,
            .finish = [] { fmt::print("{}", summary().text()); }};
}

}  // namespace hone::benchmarks
