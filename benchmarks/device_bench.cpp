#include "benchmarks/device_bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "benchmarks/program.hpp"
#include "benchmarks/rivals.hpp"
#include "foundation/error.hpp"
#include "foundation/random_words.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/uploader.hpp"

namespace hone {
namespace {

double sample(Backend& backend, const std::function<void()>& step, int steps) {
    return backend.seconds({}, [&] {
        for (int i = 0; i < steps; ++i) step();
    }) / steps;
}

double measure_triad(Backend& backend) {
    if (!traits_of(backend.device().fingerprint.target).shares_processors) return 0;
    KernelSource source;
    source.text = benchmarks::rival_text("triad.cpp");
    source.precision = Precision::f64;
    source.entries = {"triad"};
    source.arrays = {{"a", Access::out, 0, "", ""}, {"b", Access::in, 0, "", ""}, {"c", Access::in, 0, "", ""}};
    source.step = {{.entry = "triad", .constants = {}}};
    const CompileOutcome outcome = backend.compiler().compile(source);
    if (!outcome.ok) return 0;
    const auto module = backend.load(outcome.code);
    const std::int64_t last_cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), backend.device().limits.cache_bytes);
    const std::int64_t bytes = std::clamp<std::int64_t>(4 * last_cache, std::int64_t{128} << 20, std::int64_t{512} << 20);
    const std::array<DeviceArray, 3> arrays{DeviceArray(backend, bytes), DeviceArray(backend, bytes), DeviceArray(backend, bytes)};
    for (const auto& array : arrays) backend.fill(array.data(), 0, bytes);
    std::array<void*, 3> pointers{arrays[0].data(), arrays[1].data(), arrays[2].data()};
    int first = 0, last = static_cast<int>(bytes / 8);
    std::array<void*, 5> arguments{&pointers[0], &pointers[1], &pointers[2], &first, &last};
    const auto pass = [&] { module->launch(0, {1, 1, 1}, {1, 1, 1}, 0, {}, arguments.data()); };
    constexpr int passes = 10;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= passes; ++i) least = std::min(least, sample(backend, pass, 1));
    return 3.0 * static_cast<double>(bytes) / least;
}

}  // namespace

DeviceBench& DeviceBench::instance() {
    static DeviceBench bench;
    return bench;
}

DeviceBench::DeviceBench()
    : cache_(DiskCache::default_folder()),
      backend_(make_backend(benchmarks::device_name(), cache_)),
      library_(std::make_unique<KernelLibrary>(*backend_, Database::load(benchmarks::database_folder(), built_in_families()), built_in_families())),
      ceilings_(measure_ceilings(*backend_)),
      triad_(measure_triad(*backend_)) {
    benchmarks::tell_device(backend_->device().fingerprint);
    benchmark::AddCustomContext("ratio*", untuned_note);
    benchmark::AddCustomContext("ceiling_copy_GB/s", fmt::format("{:f}", ceilings_.copy_bytes_per_second * 1e-9));
    if (triad_ > 0) benchmark::AddCustomContext("stream_triad_GB/s", fmt::format("{:f}", triad_ * 1e-9));
    benchmark::AddCustomContext("ceiling_f32_GFLOP/s", fmt::format("{:f}", ceilings_.fma_f32 * 1e-9));
    benchmark::AddCustomContext("ceiling_f64_GFLOP/s", fmt::format("{:f}", ceilings_.fma_f64 * 1e-9));
}

void compile_side_by_side(std::size_t count, const std::function<void(std::size_t)>& compile) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                compile(i);
            } catch (const std::exception&) {  // said when it is to run
            }
        }
    };
    std::vector<std::jthread> threads(std::max(1U, std::thread::hardware_concurrency()));
    for (auto& thread : threads) thread = std::jthread(work);
}

void fill_randomly(Backend& backend, const DeviceArray& array, Precision precision, std::uint64_t seed) {
    const std::int64_t words = std::min<std::int64_t>(array.bytes() / bytes_per_word(precision), 1000003);  // a prime: what repeats does not line up
    HostArray host(precision, words);
    for (std::int64_t i = 0; i < words; ++i) host.set_word(i, random_word(mixed(seed), i));
    backend.copy(array.data(), host.data(), host.bytes());
    backend.synchronise();
    for (std::int64_t have = host.bytes(); have > 0 && have < array.bytes(); have *= 2)
        backend.copy(static_cast<char*>(array.data()) + have, array.data(), std::min(have, array.bytes() - have));
    backend.synchronise();
}

DeviceProblem::DeviceProblem(const std::string& text, Words words) : problem_(built_in_families().parse_problem(text)) {
    DeviceBench& bench = DeviceBench::instance();
    const Family& family = built_in_families().of(problem_);
    counts_ = family.counts(problem_);
    std::vector<void*> pointers;
    const auto add = [&](std::int64_t bytes) {
        arrays_.emplace_back(bench.backend(), bytes);
        pointers.push_back(arrays_.back().data());
    };
    if (words == Words::random) {
        for (const ArraySpec& spec : family.arrays(problem_)) {
            add(spec.words * bytes_per_word(problem_.precision()));
            fill_randomly(bench.backend(), arrays_.back(), problem_.precision(), arrays_.size());
        }
    } else {
        const Workload workload = family.workload(problem_, 1);
        Uploader uploader(bench.backend());
        for (const auto& array : workload.arrays) {
            add(array.bytes());
            uploader.upload(arrays_.back().data(), array.data(), array.bytes());
        }
    }
    kernel_ = bench.library().kernel(problem_);
    bound_ = std::make_unique<BoundKernel>(kernel_, pointers);
    bench.backend().synchronise();
}

TimedKernel timed_kernel(const std::string& name, const Kernel& kernel) {
    return {name, kernel.match().grade};
}

std::vector<double> measure_in_turns(Backend& backend, const std::vector<std::function<void()>>& contenders, int rounds) {
    constexpr double shortest_sample = 1e-3, short_step = 1e-2;
    std::vector<int> steps, before;
    for (const auto& step : contenders) {
        step();
        const double seconds = sample(backend, step, 1);
        steps.push_back(std::max(1, static_cast<int>(std::ceil(shortest_sample / seconds))));
        before.push_back(seconds < short_step ? 1 : 0);
    }
    std::vector<std::vector<double>> seconds(contenders.size());
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            // What a short step finds in the caches it left there itself, not its predecessor:
            // rivals write the same array one after the other, ours another one.
            for (int step = 0; step < before[i]; ++step) contenders[i]();
            seconds[i].push_back(sample(backend, contenders[i], steps[i]));
        }
    std::vector<double> medians;
    for (auto& samples : seconds) {
        std::nth_element(samples.begin(), samples.begin() + rounds / 2, samples.end());
        medians.push_back(samples[static_cast<std::size_t>(rounds / 2)]);
    }
    return medians;
}

Contenders::Contenders(const Problem& problem, const std::optional<Workload>& workload, const std::vector<Config>& configs) {
    DeviceBench& bench = DeviceBench::instance();
    Backend& backend = bench.backend();
    std::vector<void*> pointers;
    for (const ArraySpec& spec : built_in_families().of(problem).arrays(problem)) {
        const bool places = holds_integers(spec);
        const HostArray* const given = places ? &workload.value().arrays[arrays_.size()] : nullptr;
        arrays_.emplace_back(backend, places ? given->bytes() : spec.words * bytes_per_word(problem.precision()));
        if (places)
            backend.copy(arrays_.back().data(), given->data(), given->bytes());
        else
            fill_randomly(backend, arrays_.back(), problem.precision(), arrays_.size());
        pointers.push_back(arrays_.back().data());
    }
    backend.synchronise();
    kernels_.reserve(configs.size());
    for (const Config& config : configs) kernels_.push_back(std::make_unique<BoundKernel>(bench.library().kernel(problem, config), pointers));
}

std::vector<double> Contenders::measure(int rounds) const {
    std::vector<std::function<void()>> steps;
    steps.reserve(kernels_.size());
    for (const auto& kernel : kernels_) steps.emplace_back([&kernel] { kernel->launch(); });
    return measure_in_turns(DeviceBench::instance().backend(), steps, rounds);
}

void report(benchmark::State& state, const DeviceProblem& problem, double seconds, const Rival& rival, const std::vector<TimedKernel>& others) {
    const Counts& counts = problem.counts();
    std::string binding;
    const double floor = ceiling_seconds(counts, problem.problem().precision(), DeviceBench::instance().ceilings(), binding);
    state.SetIterationTime(seconds);
    state.counters["ns/" + counts.unit] = seconds / counts.updates * 1e9;
    state.counters["GB/s"] = counts.bytes / seconds * 1e-9;
    state.counters["GFLOP/s"] = counts.operations / seconds * 1e-9;
    state.counters["%ceiling"] = 100 * floor / seconds;
    const double triad = DeviceBench::instance().triad_bytes_per_second();
    if (triad > 0) state.counters["%triad"] = 100 * counts.bytes / seconds / triad;
    std::vector<TimedKernel> compared = rival.kernels;
    compared.push_back(problem.timed());
    if (rival.seconds > 0) {
        state.counters["rival_ns/" + counts.unit] = rival.seconds / counts.updates * 1e9;
        state.counters[ratio_name("rival/ours", compared)] = rival.seconds / seconds;
    }
    std::vector<TimedKernel> beside = rival.kernels;
    beside.insert(beside.end(), others.begin(), others.end());
    state.SetLabel(binding + "-bound, " + to_string(problem.kernel().match().grade) + ": " + problem.kernel().match().config.key() +
                   (beside.empty() ? "" : "; beside it " + grades_of(beside)));
}

}  // namespace hone
