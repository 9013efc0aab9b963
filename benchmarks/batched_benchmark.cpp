// Compares tuned batched_gemm and batched_gemv with cuBLAS's strided batched products (on the
// processor with oneMKL, OpenBLAS and libxsmm, if they are installed, and plain OpenMP loops),
// alternately: the shapes of a high-order hydrodynamics code, and random shapes, each extent
// log-uniform in 1..512 so that every size class is equally likely.
//
//     batched_benchmark --problems [--seed=N] [--shapes=N]      the problems as arguments of `hone tune`
//     batched_benchmark [--seed=N] [--shapes=N] [Google Benchmark's options]
//
// So, on a GPU:  hone tune $(batched_benchmark --problems) --device cuda --budget 20m --db results && HONE_DB=results batched_benchmark
// The last lines summarise: the geometric mean of the rival's time over ours, the lowest ratio, and
// how many are below 0.95. Shapes that ran untuned are marked and summarised separately. On the
// processor small products (all extents at most 16) and others are summarised separately, and so
// are shapes by the share of memory: `%memory` is the time to read and write the same values,
// relative to ours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "benchmarks/batched_cublas.hpp"
#include "benchmarks/cpu_products.hpp"
#include "benchmarks/device_bench.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/rivals.hpp"
#include "foundation/random_words.hpp"
#include "generator/families/batched_gemv/shape.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::benchmarks {
namespace {

// Of a problem on the processor, and on a GPU: many times its L2 cache.
constexpr double cpu_bytes = 5e7, gpu_bytes = 512e6;

struct Run {
    std::uint64_t seed = 20261121;
    int shapes = 200;
    RatioSummary fixed{"listed"};
    RatioSummary drawn{"random"};
    RatioSummary small{"extents up to 16"};
    RatioSummary others{"above"};
    // A factor of two is not to be had, and may be.
    RatioSummary bound{"memory takes more than half of the rival's time"};
    RatioSummary unbound{"memory takes less"};
};

// As listed with cuBLAS's rates in 2D and 3D corner forces: Q2-Q1, Q4-Q3; Q2-Q1, Q3-Q2, Q4-Q3;
// small matrices at points; gradients; vectors.
const std::vector<std::string> listed{"batched_gemm m=18 n=4 k=16 b=shared batch=524288",
                                      "batched_gemm m=50 n=16 k=64 b=shared batch=65536",
                                      "batched_gemm m=81 n=8 k=64 b=shared batch=32768",
                                      "batched_gemm m=192 n=27 k=216 b=shared batch=4096",
                                      "batched_gemm m=375 n=64 k=512 b=shared batch=1024",
                                      "batched_gemm m=3 n=3 k=3 batch=8388608",
                                      "batched_gemm m=2 n=2 k=2 batch=16777216",
                                      "batched_gemm form=nt m=3 n=3 k=3 batch=8388608",
                                      "batched_gemm m=3 n=192 k=27 b=shared batch=16384",
                                      "batched_gemv m=81 n=8 batch=131072",
                                      "batched_gemv m=375 n=64 batch=4096",
                                      "batched_gemv m=8 n=81 batch=131072",
                                      "batched_gemv form=t m=81 n=8 batch=131072",
                                      "batched_gemv form=t m=375 n=64 batch=4096"};

gemm::Shape shape_of(const Problem& problem) {
    return gemm::Shape(problem.family() == "batched_gemv" ? gemv::as_gemm(problem) : problem);
}

// The problem with as many products as fit `bytes`, at most its own number where `at_most`.
Problem sized(const Problem& problem, double bytes, bool at_most) {
    const Counts counts = built_in_families().of(problem).counts(problem);
    auto batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes / (counts.bytes / counts.updates)));
    if (at_most) batch = std::min(batch, problem.integer("batch"));
    std::vector<Assignment> parameters = problem.parameters();
    for (Assignment& parameter : parameters)
        if (parameter.name == "batch") parameter.value = batch;
    return built_in_families().make_problem(problem.family(), parameters);
}

// Drawn from the seed alone: the same shapes on every machine.
std::vector<Problem> random_problems(const Run& run, double bytes) {
    std::vector<Problem> problems;
    std::int64_t drawn = 0;
    const auto uniform = [&] { return (random_word(mixed(run.seed), drawn++) + 1) / 2; };
    const auto extent = [&] { return std::min(512, static_cast<int>(std::exp2(9 * uniform()) * 1.002)); };
    const char* const forms[] = {"nn", "nt", "tn"};
    for (int i = 0; i < run.shapes; ++i) {
        const int m = extent();
        const int n = extent();
        const int k = extent();
        const std::string text = fmt::format("batched_gemm form={} b={} m={} n={} k={} batch=1000", forms[static_cast<int>(3 * uniform())],
                                             uniform() < 0.5 ? "shared" : "each", m, n, k);
        problems.push_back(sized(built_in_families().parse_problem(text), bytes, false));
    }
    return problems;
}

// Plain loops over the batch, as an application writes them.
template <typename Real>
void plain_loops(const gemm::Shape& of, const void* a_data, const void* b_data, void* c_data) {
    const auto* const a = static_cast<const Real*>(a_data);
    const auto* const b = static_cast<const Real*>(b_data);
    auto* const c = static_cast<Real*>(c_data);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < of.batch; ++i)
        for (int column = 0; column < of.n; ++column)
            for (int row = 0; row < of.m; ++row) {
                Real sum = 0;
                for (int l = 0; l < of.k; ++l)
                    sum +=
                        a[i * of.stride_a() + row * of.a_row() + l * of.a_inner()] * b[i * of.stride_b() + l * of.b_inner() + column * of.b_column()];
                c[i * of.stride_c() + column * of.m + row] = sum;
            }
}

// A problem's arrays on the device, of random words.
class Batch {
  public:
    Batch(Backend& backend, const Problem& problem) : shape(shape_of(problem)) {
        const auto specs = built_in_families().of(problem).arrays(problem);
        const int word = bytes_per_word(problem.precision());
        for (std::size_t i = 0; i < specs.size(); ++i) {
            arrays_.emplace_back(backend, specs[i].words * word);
            if (specs[i].access == Access::in) fill_randomly(backend, arrays_.back(), problem.precision(), i + 1);
        }
        rival_ = DeviceArray(backend, specs[2].words * word);
        for (const DeviceArray& array : arrays_) pointers.push_back(array.data());
        backend.synchronise();
    }
    void* rival() const { return rival_.data(); }
    std::int64_t c_words() const { return rival_.bytes() / shape.bytes(); }

    gemm::Shape shape;
    std::vector<void*> pointers;

  private:
    std::vector<DeviceArray> arrays_;
    DeviceArray rival_;
};

// Reads what products read and writes as many words as they write: no product is faster. C is the
// rivals'.
class MemoryAlone {
  public:
    MemoryAlone(Backend& backend, const Batch& batch)
        : pointers_{batch.pointers[0], batch.pointers[1], batch.rival()}, numbers_{static_cast<int>(batch.shape.stride_a()),
                                                                                   static_cast<int>(batch.shape.stride_b()),
                                                                                   static_cast<int>(batch.shape.stride_c()),
                                                                                   0,
                                                                                   0,
                                                                                   static_cast<int>(batch.shape.batch)} {
        constexpr std::int64_t group_words = 2048;
        numbers_[3] = static_cast<int>(std::max<std::int64_t>(1, group_words / batch.shape.words_of_each()));
        KernelSource source;
        source.text = real_type(batch.shape.precision) + std::string(rival_text("words.cpp"));
        source.precision = batch.shape.precision;
        source.entries = {"words"};
        source.arrays = {{"a", Access::in, 0, "", ""}, {"b", Access::in, 0, "", ""}, {"c", Access::out, 0, "", ""}};
        source.scalars = {{"a_words", 0}, {"b_words", 0}, {"c_words", 0}, {"group", 0}};
        source.step = {{.entry = "words", .constants = {}}};
        module_ = rival_module(backend, source);
    }
    void run() {
        std::vector<void*> arguments;
        for (void*& pointer : pointers_) arguments.push_back(&pointer);
        for (int& number : numbers_) arguments.push_back(&number);
        module_->launch(0, {1, 1, 1}, {1, 1, 1}, 0, {}, arguments.data());
    }

  private:
    std::array<void*, 3> pointers_;
    std::array<int, 6> numbers_;  // words of a product's a, b and c, products at a time, and the range
    std::unique_ptr<Module> module_;
};

// What no kernel can beat: the bytes at the copy's bandwidth, the operations at the multiply-adds'
// rate, for f64 on matrix units at twice that (they were measured to deliver it).
double floor_seconds(const Counts& counts, Precision precision, const Limits& limits, std::string& binding) {
    Ceilings ceilings = DeviceBench::instance().ceilings();
    if (precision == Precision::f64 && limits.target == Target::cuda && limits.architecture >= 90) ceilings.fma_f64 *= 2;
    return ceiling_seconds(counts, precision, ceilings, binding);
}

std::vector<Way> rivals(const Batch& batch, const std::shared_ptr<const BatchedCublas>& cublas) {
    const auto a = batch.pointers[0];
    const auto b = batch.pointers[1];
    const auto c = batch.rival();
    std::vector<Way> result;
    if (traits_of(DeviceBench::instance().backend().device().limits.target).shares_processors) {
        result = batched_products(batch.shape, a, b, c);
        if (batch.shape.precision == Precision::f32)
            result.push_back({"plain loops", [=, &batch] { plain_loops<float>(batch.shape, a, b, c); }});
        else
            result.push_back({"plain loops", [=, &batch] { plain_loops<double>(batch.shape, a, b, c); }});
    } else if (cublas && cublas->there()) {
        result.push_back({"cuBLAS gemm", [=, &batch] { cublas->gemm(batch.shape, a, b, c); }});
        if (batch.shape.n == 1) result.push_back({"cuBLAS gemv", [=, &batch] { cublas->gemv(batch.shape, a, b, c); }});
    }
    return result;
}

// The fastest rival's number among those that compute the same: sums of k products of words below
// 1, in any order. Others are told and not counted.
class Judge {
  public:
    Judge(Backend& backend, const Batch& batch, Precision precision)
        : backend_(&backend),
          batch_(&batch),
          precision_(precision),
          allowed_(2.0 * (batch.shape.k + 3) * batch.shape.k * (precision == Precision::f32 ? 0x1p-24 : 0x1p-53)) {}

    /// What the rival leaves in its poisoned array is right. Ours must have been computed before.
    bool same(const Way& rival) {
        constexpr int nan = 0xff;
        backend_->fill(batch_->rival(), nan, batch_->c_words() * bytes_per_word(precision_));
        rival.run();
        const double difference = backend_->largest_difference(batch_->pointers[2], batch_->rival(), batch_->c_words(), precision_);
        const bool right = difference <= allowed_;  // not where it is NaN
        if (right) largest_ = std::max(largest_, difference / allowed_);
        return right;
    }
    double largest() const { return largest_; }

  private:
    Backend* backend_;
    const Batch* batch_;
    Precision precision_;
    double allowed_;
    double largest_ = 0;
};

void compare(benchmark::State& state, const Problem& problem, const std::shared_ptr<const BatchedCublas>& cublas,
             const std::vector<RatioSummary*>& summaries, Run& run) {
    DeviceBench& bench = DeviceBench::instance();
    const Batch batch(bench.backend(), problem);
    const std::shared_ptr<const Kernel> kernel = bench.library().kernel(problem);
    std::vector<std::function<void()>> contenders{[&] { kernel->launch(batch.pointers); }};
    contenders[0]();
    Judge judge(bench.backend(), batch, problem.precision());
    std::vector<std::string> names;
    std::string wrong;
    for (Way& rival : rivals(batch, cublas)) {
        if (!judge.same(rival)) {
            wrong += "; " + rival.name + " differs";
            continue;
        }
        names.push_back(rival.name);
        contenders.push_back(std::move(rival.run));
    }
    const bool cpu = traits_of(bench.backend().device().limits.target).shares_processors;
    std::optional<MemoryAlone> memory_alone;
    if (cpu) contenders.push_back([&of = memory_alone.emplace(bench.backend(), batch)] { of.run(); });
    const Counts counts = built_in_families().of(problem).counts(problem);
    for (auto _ : state) {
        std::vector<double> seconds = measure_in_turns(bench.backend(), contenders, 11);
        std::optional<double> memory;
        if (cpu) {
            memory = seconds.back();
            seconds.pop_back();
            state.counters["%memory"] = 100 * *memory / seconds[0];
        }
        std::string binding;
        const double floor = floor_seconds(counts, problem.precision(), bench.backend().device().limits, binding);
        state.SetIterationTime(seconds[0]);
        state.counters["ns/products"] = seconds[0] / counts.updates * 1e9;
        state.counters["GB/s"] = counts.bytes / seconds[0] * 1e-9;
        state.counters["GFLOP/s"] = counts.operations / seconds[0] * 1e-9;
        state.counters["%ceiling"] = 100 * floor / seconds[0];
        if (!names.empty()) {
            const auto fastest = std::min_element(seconds.begin() + 1, seconds.end());
            state.counters["rival_ns/products"] = *fastest / counts.updates * 1e9;
            const std::vector<TimedKernel> timed{timed_kernel(problem.family(), *kernel)};
            state.counters[ratio_name("rival/ours", timed)] = *fastest / seconds[0];
            state.counters["difference/allowed"] = judge.largest();
            for (RatioSummary* summary : summaries) summary->add(*fastest / seconds[0], timed);
            if (memory) {
                state.counters["rival_%memory"] = 100 * *memory / *fastest;
                (2 * *memory > *fastest ? run.bound : run.unbound).add(*fastest / seconds[0], timed);
            }
            wrong = "; rival: " + names[static_cast<std::size_t>(fastest - seconds.begin() - 1)] + wrong;
        }
        if (names.empty() && !wrong.empty()) state.SkipWithError("differs from the rival");
        state.SetLabel(binding + "-bound, " + to_string(kernel->match().grade) + ": " + kernel->match().config.key() + wrong);
    }
}

// On the processor ratios are summed up by size, too.
void register_group(const std::vector<Problem>& problems, const std::shared_ptr<const BatchedCublas>& cublas, RatioSummary& summary, Run& run) {
    constexpr int small = 16;
    const bool cpu = traits_of(DeviceBench::instance().backend().device().limits.target).shares_processors;
    for (const Problem& problem : problems) {
        std::vector<RatioSummary*> summaries{&summary};
        const gemm::Shape shape = shape_of(problem);
        if (cpu) summaries.push_back(std::max({shape.m, shape.n, shape.k}) <= small ? &run.small : &run.others);
        benchmark::RegisterBenchmark((summary.name() + "/" + problem.key()).c_str(),
                                     [summaries, cublas, problem, &run](benchmark::State& state) { compare(state, problem, cublas, summaries, run); })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
    }
}

std::vector<Problem> listed_problems(double bytes) {
    std::vector<Problem> problems;
    problems.reserve(listed.size());
    for (const std::string& text : listed) problems.push_back(sized(built_in_families().parse_problem(text), bytes, true));
    return problems;
}

std::vector<std::string> problems(const Run& run) {
    const double bytes = device_name().starts_with("cpu") ? cpu_bytes : gpu_bytes;
    std::vector<std::string> keys;
    for (const auto& some : {listed_problems(bytes), random_problems(run, bytes)})
        for (const Problem& problem : some) keys.push_back(problem.key());
    return keys;
}

void register_all(Run& run) {
    const bool cuda = traits_of(DeviceBench::instance().backend().device().limits.target).has_blocks;
    const auto cublas = cuda ? std::make_shared<const BatchedCublas>() : nullptr;
    if (cublas && !cublas->there()) fmt::print(stderr, "no rival: {}\n", cublas->reason());
    benchmark::AddCustomContext("seed", std::to_string(run.seed));
    const double bytes = cuda ? gpu_bytes : cpu_bytes;
    if (!cuda) benchmark::AddCustomContext("libraries", product_libraries());
    register_group(listed_problems(bytes), cublas, run.fixed, run);
    register_group(random_problems(run, bytes), cublas, run.drawn, run);
}

}  // namespace

Program program() {
    static Run run;
    return {.purpose =
                "batched_gemm and batched_gemv beside cuBLAS's batched products; on the processor beside those of oneMKL, OpenBLAS, libxsmm and "
                "plain loops.",
            .options = {{"--seed", "Of the random shapes.", &run.seed}, {"--shapes", "How many are drawn at random.", &run.shapes}},
            .problems = [] { return problems(run); },
            .register_all = [] { register_all(run); },
            .finish =
                [] {
                    fmt::print("seed {}\n{}{}{}{}{}{}", run.seed, run.fixed.text(), run.drawn.text(), run.small.text(), run.others.text(),
                               run.bound.text(), run.unbound.text());
                }};
}

}  // namespace hone::benchmarks
