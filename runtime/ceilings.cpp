#include "runtime/ceilings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "foundation/error.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::int64_t copy_group_bytes[] = {16, 8};  // what `first` and `last` of the copy count, on cuda and on cpu
constexpr int fma_threads = 256;                      // per block, as in the template
// Which number of resident threads is fastest differs between precisions and chips; the last is all
// that a multiprocessor holds.
constexpr int fma_blocks_per_multiprocessor[] = {2, 4, 8};
constexpr int cuda_chains = 8;
constexpr int cpu_chains = 12;

bool on_gpu(const Backend& backend) {
    return traits_of(backend.device().limits.target).has_blocks;
}

KernelSource ceiling_source(const Limits& limits) {
    KernelSource source;
    source.target = limits.target;
    source.arrays = {{"from", Access::in, 0, "", ""}, {"to", Access::out, 0, "", ""}};
    source.entries = {"copy", "fma_f32", "fma_f64"};
    source.step = {{.entry = "copy", .constants = {}}, {.entry = "fma_f32", .constants = {0}}, {.entry = "fma_f64", .constants = {0}}};
    if (traits_of(limits.target).has_blocks) {
        source.text = render("runtime/ceilings.cu", {});
    } else {
        Block constants;
        constants.line("constexpr int vector_bytes = {};", limits.vector_bytes);
        source.text = render("runtime/ceilings.cpp", {{"constants", constants}});
    }
    return source;
}

// Bytes of one of the two buffers: far beyond the last cache, and at most a sixteenth of the
// memory.
std::int64_t buffer_bytes(const Backend& backend) {
    constexpr std::int64_t mebibyte = 1 << 20;
    std::int64_t wanted = 1024 * mebibyte;
    if (!on_gpu(backend)) {
        const std::int64_t last_cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), backend.device().limits.cache_bytes);
        wanted = std::clamp<std::int64_t>(4 * last_cache, 128 * mebibyte, 512 * mebibyte);
    }
    return std::max(std::min(wanted, backend.device().memory_bytes / 16), mebibyte) / mebibyte * mebibyte;
}

// Median seconds of `work`: one run to warm up, then 3 to 11, the fewer the longer they take.
template <typename Work>
double median_seconds(Backend& backend, const Work& work) {
    constexpr double patience_seconds = 0.1;
    using Clock = std::chrono::steady_clock;
    backend.seconds({}, work);
    std::vector<double> runs;
    const auto begin = Clock::now();
    while (runs.size() < 3 || (runs.size() < 11 && std::chrono::duration<double>(Clock::now() - begin).count() < patience_seconds))
        runs.push_back(backend.seconds({}, work));
    std::nth_element(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2), runs.end());
    return runs[runs.size() / 2];
}

double kernel_copy_seconds(Backend& backend, const Module& module, DeviceArray& from, DeviceArray& to) {
    const std::int64_t group = copy_group_bytes[on_gpu(backend) ? 0 : 1];
    int first = 0;
    int last = static_cast<int>(from.bytes() / group);
    void* source = from.data();
    void* target = to.data();
    std::array<void*, 4> arguments{static_cast<void*>(&source), static_cast<void*>(&target), &first, &last};
    const int entry = module.entry("copy");
    const Dim3 grid{backend.device().limits.multiprocessors * std::int64_t{4}, 1, 1};
    return median_seconds(backend, [&] { module.launch(entry, grid, {512, 1, 1}, 0, {}, arguments.data()); });
}

// Of a launch's chains: enough for a few milliseconds.
int fma_repetitions(const Backend& backend, int blocks) {
    return on_gpu(backend) ? (1 << 18) / blocks : 1 << 20;
}

// What `measure` says of a launch of the entry with `blocks` blocks on each multiprocessor.
template <typename Measure>
auto of_chains(Backend& backend, const Module& module, int entry, DeviceArray& from, DeviceArray& to, int blocks, const Measure& measure) {
    const std::int64_t grid = std::int64_t{backend.device().limits.multiprocessors} * blocks;
    int repetitions = fma_repetitions(backend, blocks);
    int first = 0;
    int last = 0;
    void* source = from.data();
    void* target = to.data();
    std::array<void*, 5> arguments{static_cast<void*>(&source), static_cast<void*>(&target), &first, &last, &repetitions};
    return measure([&] { module.launch(entry, {grid, 1, 1}, {fma_threads, 1, 1}, 0, {}, arguments.data()); });
}

void warm_up(Backend& backend, const Module& module, DeviceArray& from, DeviceArray& to) {
    of_chains(backend, module, module.entry("fma_f32"), from, to, fma_blocks_per_multiprocessor[0], [&](const auto& work) {
        std::vector<double> seconds;
        while (!is_warm(seconds)) seconds.push_back(backend.seconds({}, work));
    });
}

// Operations per second.
double fma_rate(Backend& backend, const Module& module, int entry, DeviceArray& from, DeviceArray& to, Precision precision, int blocks) {
    const Limits& limits = backend.device().limits;
    const int lanes = limits.vector_bytes / bytes_per_word(precision);
    const double chains = limits.multiprocessors * (on_gpu(backend) ? double{fma_threads} * cuda_chains * blocks : double{cpu_chains} * lanes);
    const double seconds = of_chains(backend, module, entry, from, to, blocks, [&](const auto& work) { return median_seconds(backend, work); });
    return 2 * chains * fma_repetitions(backend, blocks) / seconds;
}

double best_fma_rate(Backend& backend, const Module& module, const std::string& entry_name, DeviceArray& from, DeviceArray& to, Precision precision) {
    const int entry = module.entry(entry_name);
    if (!on_gpu(backend)) return fma_rate(backend, module, entry, from, to, precision, 1);
    double best = 0;
    for (const int blocks : fma_blocks_per_multiprocessor) best = std::max(best, fma_rate(backend, module, entry, from, to, precision, blocks));
    return best;
}

}  // namespace

bool is_warm(std::span<const double> seconds) {
    // Chosen, not measured: long beside the tens of milliseconds between two steps of a clock.
    constexpr double steady_seconds = 0.2;
    constexpr double most_seconds = 1;
    constexpr double steady = 1.02;
    double together = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (auto last = seconds.rbegin(); last != seconds.rend(); ++last) {
        least = std::min(least, *last);
        most = std::max(most, *last);
        together += *last;
        if (together >= steady_seconds && most <= steady * least) return true;
    }
    return together >= most_seconds;
}

Ceilings measure_ceilings(Backend& backend) {
    const std::int64_t bytes = buffer_bytes(backend);
    DeviceArray from(backend, bytes);
    DeviceArray to(backend, bytes);
    // Every byte 0x3e makes the operands of the chains 0.19 in f32 and 7e-9 in f64: the sums stay
    // finite and normal, and the multipliers work on more than zeros, which would spare power and
    // so raise the clock.
    backend.fill(from.data(), 0x3e, bytes);
    backend.fill(to.data(), 0x3e, bytes);
    backend.synchronise();

    const CompileOutcome outcome = backend.compiler().compile(ceiling_source(backend.device().limits));
    const auto module = outcome.ok ? backend.load(outcome.code) : nullptr;
    if (module && on_gpu(backend)) warm_up(backend, *module, from, to);
    Ceilings ceilings;
    const double moved = 2.0 * static_cast<double>(bytes);
    const double plain = moved / median_seconds(backend, [&] { backend.copy(to.data(), from.data(), bytes); });
    ceilings.copy_bytes_per_second = plain;
    if (!module) {
        ceilings.how =
            fmt::format("copy of {} MiB by the driver {:.4g} GB/s; arithmetic not measured: {}", bytes >> 20, plain * 1e-9, outcome.failure);
        return ceilings;
    }
    const double kernel = moved / kernel_copy_seconds(backend, *module, from, to);
    ceilings.copy_bytes_per_second = std::max(plain, kernel);
    ceilings.fma_f32 = best_fma_rate(backend, *module, "fma_f32", from, to, Precision::f32);
    ceilings.fma_f64 = best_fma_rate(backend, *module, "fma_f64", from, to, Precision::f64);
    ceilings.how = fmt::format("copy of {} MiB, read and written: {} {:.4g} GB/s, kernel {:.4g} GB/s; chains of FMAs in registers; medians",
                               bytes >> 20, on_gpu(backend) ? "driver" : "memcpy", plain * 1e-9, kernel * 1e-9);
    return ceilings;
}

double ceiling_seconds(const Counts& counts, Precision precision, const Ceilings& ceilings, std::string& binding) {
    const double peak = precision == Precision::f32 ? ceilings.fma_f32 : ceilings.fma_f64;
    const double memory = ceilings.copy_bytes_per_second > 0 ? counts.bytes / ceilings.copy_bytes_per_second : 0;
    const double arithmetic = peak > 0 ? counts.operations / peak : 0;
    binding = memory == 0 && arithmetic == 0 ? "" : memory >= arithmetic ? "memory" : "arithmetic";
    return std::max(memory, arithmetic);
}

}  // namespace hone::inline v0_1
