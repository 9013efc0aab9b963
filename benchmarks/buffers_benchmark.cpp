// Copy rates of pageable and pinned host memory with plain and padded rows, beside the driver's own
// copy of pinned memory (on the processor: memcpy).
//
// Useful bytes only are counted, so padding costs what it costs.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "benchmarks/program.hpp"
#include "runtime/buffers.hpp"

namespace hone {
namespace {

// A grid of 398^3 points with a boundary layer: rows of 400 words are not a multiple of 128 bytes,
// 244 MiB in f32.
constexpr std::int64_t row_words = 402;
constexpr std::int64_t rows = std::int64_t{400} * 400;
constexpr std::int64_t useful_bytes = row_words * rows * 4;

Backend& backend() {
    static DiskCache cache(DiskCache::default_folder());
    static const std::unique_ptr<Backend> device = make_backend(benchmarks::device_name(), cache);
    return *device;
}

RowLayout layout(bool padded) {
    return padded ? padded_rows(Precision::f32, row_words, rows) : plain_rows(Precision::f32, row_words, rows);
}

template <typename Copy>
void measure(benchmark::State& state, const Copy& copy) {
    copy();
    backend().synchronise();
    for (auto _ : state) state.SetIterationTime(backend().seconds({}, copy));
    state.SetBytesProcessed(state.iterations() * useful_bytes);
    state.SetLabel(backend().device().fingerprint.name);
}

void upload(benchmark::State& state, HostMemory memory, bool padded) {
    const HostBuffer host(backend(), layout(padded), memory);
    DeviceBuffer device(backend(), layout(padded));
    measure(state, [&] { device.upload(host); });
}

void download(benchmark::State& state, HostMemory memory, bool padded) {
    HostBuffer host(backend(), layout(padded), memory);
    const DeviceBuffer device(backend(), layout(padded));
    measure(state, [&] { device.download(host); });
}

// What padding would cost if it were done while copying: a transfer per row.
void upload_by_rows(benchmark::State& state) {
    const HostBuffer host(backend(), layout(false), HostMemory::pinned);
    const DeviceBuffer device(backend(), layout(true));
    constexpr std::int64_t row_bytes = row_words * 4;
    measure(state, [&] {
        for (std::int64_t row = 0; row < rows; ++row)
            backend().copy(static_cast<char*>(device.data()) + row * device.layout().pitch * 4,
                           static_cast<const char*>(host.data()) + row * row_bytes, row_bytes);
    });
}

// The rate to reach: one transfer from the driver's own allocation.
void driver_copy(benchmark::State& state, bool up) {
    const auto free_pinned = [](void* pointer) { backend().free_pinned(pointer); };
    const std::unique_ptr<void, decltype(free_pinned)> host(backend().allocate_pinned(useful_bytes), free_pinned);
    const DeviceArray device(backend(), useful_bytes);
    backend().fill(device.data(), 1, useful_bytes);
    backend().copy(host.get(), device.data(), useful_bytes);
    measure(state, [&] { backend().copy(up ? device.data() : host.get(), up ? host.get() : device.data(), useful_bytes); });
}

void register_all() {
    benchmarks::tell_device(backend().device().fingerprint);
    const auto add = [](const std::string& name, const auto& function) {
        benchmark::RegisterBenchmark(name.c_str(), function)->UseManualTime()->Unit(benchmark::kMillisecond);
    };
    for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned})
        for (const bool padded : {false, true}) {
            const std::string what = fmt::format("{}/{}", to_string(memory), padded ? "padded" : "plain");
            add("upload/" + what, [=](benchmark::State& state) { upload(state, memory, padded); });
            add("download/" + what, [=](benchmark::State& state) { download(state, memory, padded); });
        }
    add("upload/pinned/row by row", upload_by_rows);
    add("upload/driver", [](benchmark::State& state) { driver_copy(state, true); });
    add("download/driver", [](benchmark::State& state) { driver_copy(state, false); });
}

}  // namespace
}  // namespace hone

hone::benchmarks::Program hone::benchmarks::program() {
    return {.purpose = "Copy rates of pageable and pinned host memory with plain and padded rows.", .register_all = register_all};
}
