// csr_spmv on the mass matrices of high-order finite elements (Qk on boxes of squares and cubes)
// beside cuSPARSE, with cuBLAS's dot products; on the processor beside oneMKL's inspector-executor,
// where it is there, and the plain OpenMP loop. In turns, in one process.
//
//     csr_spmv_benchmark --problems    prints the problems, to be tuned first
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "benchmarks/cusparse_spmv.hpp"
#include "benchmarks/device_bench.hpp"
#include "benchmarks/mkl_spmv.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/qk_space.hpp"
#include "foundation/random_words.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::benchmarks {
namespace {

RatioSummary& summary() {
    static RatioSummary ratios{"csr_spmv"};
    return ratios;
}

struct Case {
    QkSpace space;
    const char* rest;

    Problem problem() const {
        return built_in_families().parse_problem(fmt::format("csr_spmv {} rows={} entries={}", rest, space.rows(), space.entries()));
    }
    std::string name() const { return fmt::format("Q{} {} zones {}D {}", space.order, space.power(space.zones), space.dimension, rest); }
};

// Beyond a GPU's L2 cache there, a mesh that fits a processor's memory here.
std::vector<Case> cases(bool cuda) {
    const auto zones = [cuda](int on_gpu, int on_cpu) { return cuda ? on_gpu : on_cpu; };
    const char* const one = "kernel=apply precision=f64";
    const char* const three = "kernel=apply_dot components=3 precision=f64";
    return {{{3, 1, zones(128, 48)}, one},
            {{3, 2, zones(64, 20)}, one},
            {{3, 4, zones(24, 8)}, one},
            {{3, 2, zones(64, 20)}, "kernel=apply precision=f32"},
            {{3, 1, zones(128, 48)}, three},
            {{3, 2, zones(64, 20)}, three},
            {{3, 2, zones(64, 20)}, "kernel=apply_dot components=3 vectors=interleaved precision=f64"},
            {{3, 4, zones(24, 8)}, three},
            {{3, 2, zones(16, 8)}, three},
            {{2, 2, zones(1024, 256)}, "kernel=apply_dot components=2 precision=f64"},
            {{2, 4, zones(512, 128)}, "kernel=apply_dot components=2 precision=f64"},
            {{2, 2, zones(64, 64)}, "kernel=apply_dot components=2 precision=f64"}};
}

/// A problem's arrays on the device: the space's pattern with random words.
class Arrays {
  public:
    Arrays(Backend& backend, const QkSpace& space, const Problem& problem) : shape(problem) {
        std::vector<HostArray> host;
        const std::vector<ArraySpec> specs = spmv::arrays(problem);
        host.reserve(specs.size());
        for (const ArraySpec& spec : specs) host.emplace_back(shape.precision, spec.words);
        for (const std::size_t integers : {1U, 2U}) std::memset(host[integers].data(), 0, static_cast<std::size_t>(host[integers].bytes()));
        fill_pattern(space, static_cast<int*>(host[1].data()), static_cast<int*>(host[2].data()));
        for (const std::size_t words : {0U, 3U}) fill(host[words], words);
        arrays_.reserve(specs.size());
        for (std::size_t n = 0; n < specs.size(); ++n) {
            arrays_.emplace_back(backend, host[n].bytes());
            if (specs[n].access == Access::in) backend.copy(arrays_.back().data(), host[n].data(), host[n].bytes());
            backend.synchronise();
            pointers.push_back(arrays_.back().data());
        }
    }

    spmv::Shape shape;
    std::vector<void*> pointers;

  private:
    void fill_pattern(const QkSpace& space, int* columns, int* starts) const {
        for (std::int64_t row = 0; row < shape.rows; ++row) {
            int at = starts[row];
            space.for_columns(row, [&](std::int64_t column) { columns[at++] = static_cast<int>(column); });
            starts[row + 1] = at;
        }
    }
    void fill(HostArray& array, std::uint64_t seed) const {
        const auto words = array.words();
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < words; ++i) array.set_word(i, random_word(mixed(seed), i));
    }
    std::vector<DeviceArray> arrays_;
};

// What everybody writes first.
template <typename Real>
void plain_loop(const spmv::Shape& shape, const std::vector<void*>& arrays, Real* y) {
    const auto* values = static_cast<const Real*>(arrays[0]);
    const auto* columns = static_cast<const int*>(arrays[1]);
    const auto* starts = static_cast<const int*>(arrays[2]);
    const auto* x = static_cast<const Real*>(arrays[3]);
    for (int c = 0; c < shape.components; ++c) {
        Real dot = 0;
#pragma omp parallel for schedule(static) reduction(+ : dot)
        for (std::int64_t row = 0; row < shape.rows; ++row) {
            Real sum = 0;
            for (int entry = starts[row]; entry < starts[row + 1]; ++entry) sum += values[entry] * x[shape.place(columns[entry], c, shape.columns)];
            y[shape.place(row, c, shape.rows)] = sum;
            if (shape.dotted) dot += sum * x[shape.place(row, c, shape.columns)];
        }
        benchmark::DoNotOptimize(dot);
    }
}

void compare(benchmark::State& state, const Case& of) {
    DeviceBench& bench = DeviceBench::instance();
    Backend& backend = bench.backend();
    const Problem problem = of.problem();
    const Arrays arrays(backend, of.space, problem);
    const spmv::Shape& shape = arrays.shape;
    const auto kernel = bench.library().kernel(problem);
    const BoundKernel bound(kernel, arrays.pointers);
    std::string missing;
    const auto cusparse = CusparseSpmv::make(backend, shape, arrays.pointers.data(), missing);
    const bool on_cpu = traits_of(backend.device().limits.target).shares_processors;
    const DeviceArray plain_y(backend, on_cpu ? shape.components * shape.rows * shape.bytes() : 0);
    std::vector<Way> rivals;
    if (cusparse) rivals.push_back({cusparse->name(), [&] { cusparse->multiply(); }});
    const auto mkl = on_cpu ? MklSpmv::make(shape, arrays.pointers.data(), plain_y.data(), missing) : nullptr;
    if (mkl) rivals = mkl->ways();
    if (on_cpu && shape.precision == Precision::f32)
        rivals.push_back({"plain loop", [&] { plain_loop(shape, arrays.pointers, static_cast<float*>(plain_y.data())); }});
    if (on_cpu && shape.precision == Precision::f64)
        rivals.push_back({"plain loop", [&] { plain_loop(shape, arrays.pointers, static_cast<double*>(plain_y.data())); }});
    // Rows of all hold the same sums of products of words below 1, in other orders.
    const double longest = std::pow(2 * of.space.order + 1, of.space.dimension);
    const double allowed = 2 * longest * longest * (shape.precision == Precision::f32 ? 0x1p-24 : 0x1p-53);
    double largest = 0;
    std::vector<std::function<void()>> contenders{[&] { bound.launch(); }};
    bound.launch();
    for (const Way& rival : rivals) {
        rival.run();
        const void* const product = cusparse ? cusparse->y() : plain_y.data();
        largest = std::max(largest, backend.largest_difference(arrays.pointers[4], product, shape.components * shape.rows, shape.precision));
        contenders.push_back(rival.run);
    }
    const Counts counts = built_in_families().of(problem).counts(problem);
    for (auto _ : state) {
        const std::vector<double> seconds = measure_in_turns(backend, contenders, 11);
        std::string binding;
        const double floor = ceiling_seconds(counts, shape.precision, bench.ceilings(), binding);
        state.SetIterationTime(seconds[0]);
        state.counters["ns/entries"] = seconds[0] / counts.updates * 1e9;
        state.counters["GB/s"] = counts.bytes / seconds[0] * 1e-9;
        state.counters["GFLOP/s"] = counts.operations / seconds[0] * 1e-9;
        state.counters["%ceiling"] = 100 * floor / seconds[0];
        std::string rival = missing;
        if (!rivals.empty()) {
            const auto fastest = std::min_element(seconds.begin() + 1, seconds.end());
            const std::vector<TimedKernel> timed{timed_kernel(problem.family(), *kernel)};
            state.counters[ratio_name("rival/ours", timed)] = *fastest / seconds[0];
            state.counters["difference/allowed"] = largest / allowed;
            if (!(largest <= allowed)) state.SkipWithError("differs from a rival");
            summary().add(*fastest / seconds[0], timed);
            rival = rivals[static_cast<std::size_t>(fastest - seconds.begin() - 1)].name;
        }
        state.SetLabel(fmt::format("{}-bound, {}: {}; rival: {}", binding, to_string(kernel->match().grade), kernel->match().config.key(), rival));
    }
}

std::vector<std::string> problems() {
    std::vector<std::string> keys;
    for (const Case& of : cases(!device_name().starts_with("cpu"))) keys.push_back(of.problem().key());
    return keys;
}

void register_all() {
    const bool cuda = traits_of(DeviceBench::instance().backend().device().limits.target).has_blocks;
    for (const Case& of : cases(cuda))
        benchmark::RegisterBenchmark(of.name().c_str(), compare, of)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

}  // namespace

Program program() {
    return {.purpose = "csr_spmv on mass matrices of high-order finite elements beside cuSPARSE; on the processor beside oneMKL and the plain loop.",
            .problems = problems,
            .register_all = register_all,
            .finish = [] { fmt::print("{}", summary().text()); }};
}

}  // namespace hone::benchmarks
