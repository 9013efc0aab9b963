// What the framework itself costs: looking a warm kernel up, predicting for what nobody tuned,
// launching through the library beside a direct call of the same function, the warm start of a
// process, rendering, hashing, the disk cache, merging into a database. All on the processor.
//
// With `--start CACHE_FOLDER` the program is the process whose warm start is measured: it prints
// the seconds per kernel.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/program.hpp"
#include "foundation/number_text.hpp"
#include "foundation/process.hpp"
#include "foundation/sha256.hpp"
#include "foundation/temporary_folder.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/host_compiler.hpp"
#include "runtime/cpu/host_object.hpp"
#include "runtime/library.hpp"
#include "tuning_db/package.hpp"

namespace hone {
namespace {

// One of each family and precision: what a small application uses; and last, the shortest launch
// that makes sense.
constexpr std::array problem_texts{
    "gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=20 nz=20",   "gauss_seidel_27 stencil=variable precision=f64 nx=20 ny=20 nz=20",
    "dg_volume equation=acoustics_3d order=2 precision=f32 elements=500", "dg_volume equation=maxwell_3d order=3 precision=f64 elements=500",
    "dg_volume equation=acoustics_3d order=1 precision=f32 elements=16",
};

// What an application holds for as long as it runs. The cache folder lives as long as the
// benchmarks.
struct Application {
    DiskCache cache;
    std::unique_ptr<Backend> backend;
    const Families& families = built_in_families();
    KernelLibrary library;

    explicit Application(const std::filesystem::path& folder)
        : cache(folder), backend(make_backend("cpu", cache)), library(*backend, Database(families), families) {}
};

const std::filesystem::path& cache_folder() {
    static const TemporaryFolder folder;
    return folder.path();
}

Application& application() {
    static Application instance(cache_folder());
    return instance;
}

void warm_lookup(benchmark::State& state) {
    const Problem problem = built_in_families().parse_problem(problem_texts[0]);
    application().library.kernel(problem);
    for (auto _ : state) benchmark::DoNotOptimize(application().library.kernel(problem));
}

// Looking up what nobody tuned, among the results for an H200: a prediction, for a small space and
// for large ones.
constexpr std::array untuned_texts{
    "batched_gemm form=nn b=each update=set precision=f64 m=24 n=24 k=24 batch=100000",
    "acoustics_staggered kernel=step dimension=3 order=16 precision=f64 nx=256 ny=256 nz=256",
    "dg_stage equation=maxwell_3d order=5 materials=per_element precision=f32 elements=100000",
};

void predicted_lookup(benchmark::State& state) {
    const Database database = Database::load(package().records, built_in_families());
    const Problem problem = built_in_families().parse_problem(untuned_texts[static_cast<std::size_t>(state.range(0))]);
    const DeviceFingerprint device{Target::cuda, "NVIDIA H200", "sm_90", 132, "", ""};
    const Limits limits = cuda_limits(90);
    Match match;
    for (auto _ : state) match = database.best(problem, device, limits);
    state.SetLabel(fmt::format("{}: {}", problem.key(), to_string(match.grade)));
}

// A kernel with arrays of its own, launched through the library and by hand.
class Launches {
  public:
    explicit Launches(const std::string& text)
        : problem_(built_in_families().parse_problem(text)),
          kernel_(application().library.kernel(problem_)),
          workload_(built_in_families().of(problem_).workload(problem_, 1)) {
        for (auto& array : workload_.arrays) pointers_.push_back(array.data());
        bound_ = std::make_unique<BoundKernel>(kernel_, pointers_);
        load_by_hand();
    }
    ~Launches() { dlclose(object_); }
    Launches(const Launches&) = delete;
    Launches& operator=(const Launches&) = delete;

    void through_library() const { bound_->launch(); }
    void by_hand() {
        for (auto& call : calls_) call.function(call.arguments.data());
    }

  private:
    struct Call {
        void (*function)(void**);
        std::vector<void*> arguments;
    };

    // The functions of the same object file, their arguments laid out once.
    void load_by_hand() {
        const KernelSource& source = kernel_->source();
        object_ = dlopen(application().backend->compiler().compile(source).code.file.c_str(), RTLD_NOW | RTLD_LOCAL);
        const auto* entries = static_cast<const HostEntry*>(dlsym(object_, "hone_entries"));
        for (const auto& table : source.tables) {
            contents_.push_back(table_of(table, source.precision));
            tables_.push_back(contents_.back().data());
        }
        last_ = static_cast<int>(kernel_->range());
        for (const auto& launch : source.step) {
            const HostEntry* entry = entries;
            while (launch.entry != entry->name) ++entry;
            calls_.push_back({entry->launch, arguments_of(launch)});
        }
    }

    static HostArray table_of(const TableSpec& table, Precision precision) {
        HostArray array(precision, table.words);
        std::memset(array.data(), 0, static_cast<std::size_t>(array.bytes()));
        for (std::size_t i = 0; i < table.contents.size(); ++i) array.set_word(static_cast<std::int64_t>(i), table.contents[i]);
        return array;
    }

    std::vector<void*> arguments_of(const Launch& launch) {
        std::vector<void*> arguments;
        for (auto& pointer : pointers_) arguments.push_back(&pointer);
        for (auto& table : tables_) arguments.push_back(&table);
        for (const auto& scalar : kernel_->source().scalars) arguments.push_back(const_cast<int*>(&scalar.value));
        arguments.insert(arguments.end(), {&first_, &last_});
        for (const int& constant : launch.constants) arguments.push_back(const_cast<int*>(&constant));
        return arguments;
    }

    Problem problem_;
    std::shared_ptr<const Kernel> kernel_;
    Workload workload_;
    std::vector<void*> pointers_;
    std::unique_ptr<BoundKernel> bound_;
    void* object_ = nullptr;
    std::vector<HostArray> contents_;
    std::vector<void*> tables_;
    int first_ = 0;
    int last_ = 0;
    std::vector<Call> calls_;
};

// Both ways alternately, so that a clock that changes or another program's load meets both. Time: a
// launch through the library; `by_hand` and `ratio`: medians over the turns.
void launch(benchmark::State& state) {
    Launches launches(problem_texts[static_cast<std::size_t>(state.range(0))]);
    constexpr int launches_per_turn = 20;
    const auto seconds = [&](const auto& work) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < launches_per_turn; ++i) work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / launches_per_turn;
    };
    const auto median = [](std::vector<double>& values) {
        const auto middle = values.begin() + std::ssize(values) / 2;
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    };
    std::vector<double> library;
    std::vector<double> hand;
    for (auto _ : state) {
        library.push_back(seconds([&] { launches.through_library(); }));
        hand.push_back(seconds([&] { launches.by_hand(); }));
        state.SetIterationTime(library.back());
    }
    state.counters["by_hand"] = median(hand);
    state.counters["ratio"] = median(library) / median(hand);
    state.SetLabel(problem_texts[static_cast<std::size_t>(state.range(0))]);
}

double start_kernels(const std::filesystem::path& folder) {
    const auto begin = std::chrono::steady_clock::now();
    Application fresh(folder);
    for (const char* text : problem_texts) benchmark::DoNotOptimize(fresh.library.kernel(fresh.families.parse_problem(text)));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(problem_texts.size());
}

// Seconds per kernel of a process that finds everything in the disk cache.
void warm_start(benchmark::State& state) {
    start_kernels(cache_folder());
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    for (auto _ : state) {
        const ProcessResult started = run_process({self, "--start", cache_folder().string()}, 60);
        if (!started.ok()) return state.SkipWithError(started.failure().c_str());
        state.SetIterationTime(number_at_head(started.output).value_or(0));
    }
    state.SetLabel("per kernel");
}

void render_kernel(benchmark::State& state, const char* text, const Limits& limits) {
    const Problem problem = built_in_families().parse_problem(text);
    const Family& family = built_in_families().of(problem);
    const Config safe = family.space(problem, limits).safe();
    for (auto _ : state) benchmark::DoNotOptimize(family.kernel(problem, safe, limits));
    state.SetLabel(fmt::format("{} for {}", text, to_string(limits.target)));
}

void hash(benchmark::State& state) {
    const std::string text(static_cast<std::size_t>(state.range(0)), 'x');
    for (auto _ : state) benchmark::DoNotOptimize(sha256(text));
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

void cache_read(benchmark::State& state) {
    const DiskCache cache(cache_folder());
    cache.write("benchmark", std::string(static_cast<std::size_t>(state.range(0)), 'x'));
    for (auto _ : state) benchmark::DoNotOptimize(cache.read("benchmark"));
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

// A result of problem `number`, as a tuner of this processor would find it.
Record result_of(int number) {
    const Family& family = built_in_families().find("gauss_seidel_27");
    Record record;
    record.problem = built_in_families().parse_problem(
        fmt::format("gauss_seidel_27 stencil=constant precision=f32 nx={} ny={} nz=20", 1 + number % 100, 1 + number / 100));
    record.config = family.space(record.problem, cpu_limits()).safe();
    record.device = application().backend->device().fingerprint;
    record.step = {1e-3, 0.9e-3, 1.1e-3, 0.8e-3, 40};
    record.counts = family.counts(record.problem);
    record.verification_error = 0;
    record.strategy = "surrogate";
    record.evaluations = 100;
    record.date = "2026-11-21T14:05:00Z";
    record.versions = {"0.1.0", std::string(64, 'a')};
    return record;
}

// One more result into a file that holds so many: all of them are read, checked, sorted and
// written.
void merge(benchmark::State& state) {
    const TemporaryFolder folder;
    const auto results = [](int first, int count) {
        Database database(built_in_families());
        for (int i = 0; i < count; ++i) database.add(result_of(first + i));
        return database;
    };
    int next = static_cast<int>(state.range(0));
    results(0, next).merge_into(folder.path());
    for (auto _ : state) {
        state.PauseTiming();
        const Database one = results(next++, 1);
        state.ResumeTiming();
        one.merge_into(folder.path());
    }
}

BENCHMARK(warm_lookup);
BENCHMARK(predicted_lookup)->DenseRange(0, std::ssize(untuned_texts) - 1)->Unit(benchmark::kMicrosecond);
BENCHMARK(launch)->DenseRange(0, std::ssize(problem_texts) - 1)->UseManualTime()->MinTime(0.2);
BENCHMARK(warm_start)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(hash)->Arg(1 << 10)->Arg(1 << 16);
BENCHMARK(merge)->Arg(100)->Arg(10000)->Unit(benchmark::kMillisecond);
BENCHMARK(cache_read)->Arg(1 << 10)->Arg(1 << 16);

void register_render() {
    benchmarks::tell_device(application().backend->device().fingerprint);
    for (const char* text : problem_texts)
        for (const Limits& limits : {cpu_limits(), cuda_limits(90)})
            benchmark::RegisterBenchmark("render", render_kernel, text, limits)->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace hone

hone::benchmarks::Program hone::benchmarks::program() {
    static std::string folder;
    return {
        .purpose = "What the framework itself costs: looking up, launching, starting, rendering, hashing, caching, merging.",
        .options = {{"--start", "Be the process whose warm start is measured, with this cache folder, and print the seconds per kernel.", &folder}},
        .instead =
            [] {
                if (!folder.empty()) fmt::print("{}\n", start_kernels(folder));
                return !folder.empty();
            },
        .register_all = register_render};
}
