#include "runtime/cuda/cuda_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "foundation/error.hpp"
#include "generator/render.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/cuda/cuda_module.hpp"
#include "runtime/cuda/cuda_peers.hpp"
#include "runtime/cuda/cuda_recording.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/nvrtc.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "runtime/cuda/session.hpp"

namespace hone::inline v0_1::cuda {
namespace {

DevicePointer address(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

std::string size_text(std::int64_t bytes) {
    return fmt::format("{} bytes ({:.3g} GiB)", bytes, static_cast<double>(bytes) / (1 << 30));
}

// Reduces to one number per block; the host takes the largest of these.
constexpr std::int64_t comparison_blocks = 1024;
constexpr std::int64_t comparison_threads = 256;
constexpr std::size_t most_comparisons = 16;  // whose numbers come in one copy

constexpr const char* checksum_entry = "checksum";

const char* comparison_of(ValueType type) {
    switch (type) {
        case ValueType::f32:
            return "largest_difference_f32";
        case ValueType::f64:
            return "largest_difference_f64";
        case ValueType::i32:
            break;
    }
    return "largest_difference_i32";
}

KernelSource comparison_source() {
    KernelSource source;
    source.target = Target::cuda;
    source.text = render("runtime/largest_difference.cu", {});
    for (const ValueType type : {ValueType::f32, ValueType::f64, ValueType::i32}) source.entries.emplace_back(comparison_of(type));
    source.entries.emplace_back(checksum_entry);
    return source;
}

class CudaStopWatch : public StopWatch {
  public:
    explicit CudaStopWatch(std::shared_ptr<const Session> session) : session_(std::move(session)) {
        const Current current(*session_);
        current.check();
        session_->check(driver().event_create(&begin_, 0), "making an event");
        if (const Result result = driver().event_create(&end_, 0); result != success) {
            driver().event_destroy(begin_);
            session_->fail(result, "making an event");
        }
    }
    ~CudaStopWatch() override {
        const Current current(*session_);
        if (!current.ok()) return;
        driver().event_destroy(begin_);
        driver().event_destroy(end_);
    }
    CudaStopWatch(const CudaStopWatch&) = delete;
    CudaStopWatch& operator=(const CudaStopWatch&) = delete;

    void start(Stream stream) override { record(begin_, stream, "starting the clock"); }
    void stop(Stream stream) override { record(end_, stream, "stopping the clock"); }

    std::optional<double> seconds() override {
        const Current current(*session_);
        current.check();
        const Result result = driver().event_query(end_);
        if (result == error_not_ready) return std::nullopt;
        session_->check(result, "asking for timed work");
        return elapsed();
    }
    double wait() override {
        const Current current(*session_);
        current.check();
        session_->check(driver().event_synchronise(end_), "waiting for timed work");
        return elapsed();
    }

  private:
    const Driver& driver() const { return session_->driver(); }
    void record(EventHandle* event, Stream stream, const char* what) {
        const Current current(*session_);
        current.check();
        session_->check(driver().event_record(event, handle_of(stream)), what);
    }
    double elapsed() {
        float milliseconds = 0;
        session_->check(driver().event_elapsed(&milliseconds, begin_, end_), "reading the clock");
        return static_cast<double>(milliseconds) * 1e-3;
    }

    std::shared_ptr<const Session> session_;
    EventHandle* begin_ = nullptr;
    EventHandle* end_ = nullptr;
};

class CudaBackend : public Backend {
  public:
    CudaBackend(Driver driver, Device device, std::unique_ptr<Compiler> compiler, const LibraryCandidates& candidates)
        : session_(std::make_shared<const Session>(std::move(driver), std::move(device), candidates)),
          compiler_(std::move(compiler)),
          peers_(cuda_peers(session_)) {}

    ~CudaBackend() override {
        comparison_.reset();
        CudaBackend::free(partial_);
        const Current current(*session_);
        for (EventHandle* event : {events_[0], events_[1], order_})
            if (event != nullptr && current.ok()) driver().event_destroy(event);
    }

    const Device& device() const override { return session_->device(); }
    const Compiler& compiler() const override { return *compiler_; }

    std::unique_ptr<Module> load(const CompiledCode& code) override { return load_module(session_, code); }

    void* allocate(std::int64_t bytes) override {
        if (bytes < 0) throw Error("memory on the device", fmt::format("{} bytes", bytes), "ask for a size of at least 0");
        const Current current(*session_);
        current.check();
        DevicePointer pointer = 0;
        // The driver refuses 0 bytes.
        const Result result = driver().memory_allocate(&pointer, std::max<std::size_t>(static_cast<std::size_t>(bytes), 1));
        if (result != success) {
            std::size_t free_bytes = 0;
            std::size_t total_bytes = 0;
            driver().memory_get_info(&free_bytes, &total_bytes);
            session_->fail(result, fmt::format("allocating {}, {} of {} bytes are free", size_text(bytes), free_bytes, total_bytes));
        }
        return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
    }
    void free(void* pointer) noexcept override {
        if (pointer == nullptr) return;
        const Current current(*session_);
        if (current.ok()) driver().memory_free(address(pointer));
    }

    void* allocate_pinned(std::int64_t bytes) override {
        if (bytes < 0) throw Error("pinned host memory", fmt::format("{} bytes", bytes), "ask for a size of at least 0");
        const Current current(*session_);
        current.check();
        void* pointer = nullptr;
        session_->check(driver().host_allocate(&pointer, std::max<std::size_t>(static_cast<std::size_t>(bytes), 1), host_alloc_portable),
                        fmt::format("allocating {} of pinned host memory", size_text(bytes)));
        return pointer;
    }
    void free_pinned(void* pointer) noexcept override {
        if (pointer == nullptr) return;
        const Current current(*session_);
        if (current.ok()) driver().host_free(pointer);
    }

    // One call for all directions: the driver tells host from device by the unified addresses.
    void copy(void* to, const void* from, std::int64_t bytes, Stream stream) override {
        if (bytes == 0) return;
        const Current current(*session_);
        current.check();
        session_->check(driver().copy_async(address(to), address(from), static_cast<std::size_t>(bytes), handle_of(stream)),
                        "copying " + size_text(bytes));
    }
    void fill(void* to, unsigned char byte, std::int64_t bytes, Stream stream) override {
        if (bytes == 0) return;
        const Current current(*session_);
        current.check();
        session_->check(driver().fill_async(address(to), byte, static_cast<std::size_t>(bytes), handle_of(stream)), "filling " + size_text(bytes));
    }
    void synchronise(Stream stream) override {
        const Current current(*session_);
        current.check();
        session_->check(driver().stream_synchronise(handle_of(stream)), "waiting for queued work");
    }

    Stream make_stream() override {
        const Current current(*session_);
        current.check();
        StreamHandle* stream = nullptr;
        session_->check(driver().stream_create(&stream, stream_non_blocking, highest_priority), "making a stream");
        return {stream};
    }
    void free_stream(Stream stream) noexcept override {
        const Current current(*session_);
        if (stream.handle != nullptr && current.ok()) driver().stream_destroy(handle_of(stream));
    }
    void order(Stream earlier, Stream later) override {
        if (earlier.handle == later.handle) return;
        const Current current(*session_);
        current.check();
        // A wait is for what was recorded last: another thread must not record in between.
        const std::lock_guard lock(order_mutex_);
        if (order_ == nullptr) session_->check(driver().event_create(&order_, event_disable_timing), "making an event");
        session_->check(driver().event_record(order_, handle_of(earlier)), "marking queued work");
        session_->check(driver().stream_wait_event(handle_of(later), order_, 0), "ordering two streams");
    }

    std::unique_ptr<Recording> record(std::function<void(Stream)> work) override { return cuda::record(session_, work); }

    std::unique_ptr<StopWatch> make_stop_watch() override { return std::make_unique<CudaStopWatch>(session_); }

    double seconds(Stream stream, const std::function<void()>& work) override {
        const Current current(*session_);
        current.check();
        for (EventHandle*& event : events_)
            if (event == nullptr) session_->check(driver().event_create(&event, 0), "making an event");
        session_->check(driver().event_record(events_[0], handle_of(stream)), "starting the clock");
        work();
        session_->check(driver().event_record(events_[1], handle_of(stream)), "stopping the clock");
        session_->check(driver().event_synchronise(events_[1]), "waiting for timed work");
        float milliseconds = 0;
        session_->check(driver().event_elapsed(&milliseconds, events_[0], events_[1]), "reading the clock");
        return static_cast<double>(milliseconds) * 1e-3;
    }

    double largest_difference(const void* a, const void* b, std::int64_t values, ValueType type) override {
        return compare(std::array{ArrayPair{a, b, values, type}}).front();
    }
    std::vector<double> largest_differences(std::span<const ArrayPair> pairs) override {
        std::vector<double> largest;
        for (std::size_t first = 0; first < pairs.size(); first += most_comparisons)
            for (const double found : compare(pairs.subspan(first, std::min(most_comparisons, pairs.size() - first)))) largest.push_back(found);
        return largest;
    }

    std::vector<std::uint64_t> checksums(std::span<const MemoryPiece> pieces) override {
        std::vector<std::uint64_t> sums;
        for (std::size_t first = 0; first < pieces.size(); first += most_comparisons)
            for (const std::uint64_t sum : sum_up(pieces.subspan(first, std::min(most_comparisons, pieces.size() - first)))) sums.push_back(sum);
        return sums;
    }

    PeerMemory* peers() override { return peers_.get(); }

  private:
    const Driver& driver() const { return session_->driver(); }

    static std::int64_t blocks_for(std::int64_t values) {
        return std::clamp<std::int64_t>((values + comparison_threads - 1) / comparison_threads, 0, comparison_blocks);
    }

    /// Of at most `most_comparisons` pieces: one kernel for each, and one copy of their parts.
    std::vector<std::uint64_t> sum_up(std::span<const MemoryPiece> pieces) {
        std::vector<std::uint64_t> sums(pieces.size(), 0);
        const Current current(*session_);
        current.check();
        prepare_comparison();
        session_->check(driver().context_synchronise(), "waiting for the memory to sum up");
        std::vector<std::int64_t> begins{0};
        for (const auto& [data, bytes] : pieces) {
            const std::int64_t begin = begins.back();
            long long words = bytes / 4;
            const std::int64_t blocks = blocks_for(words);
            begins.push_back(begin + blocks);
            if (blocks == 0) continue;
            const void* piece = data;
            std::uint64_t* part = static_cast<std::uint64_t*>(partial_) + begin;
            void* arguments[] = {static_cast<void*>(&piece), &words, static_cast<void*>(&part)};
            comparison_->launch(comparison_->entry(checksum_entry), {blocks, 1, 1}, {comparison_threads, 1, 1}, 0, {}, arguments);
        }
        std::vector<std::uint64_t> parts(static_cast<std::size_t>(begins.back()));
        copy(parts.data(), partial_, begins.back() * static_cast<std::int64_t>(sizeof(std::uint64_t)), {});
        synchronise({});
        for (std::size_t i = 0; i < pieces.size(); ++i)
            for (std::int64_t at = begins[i]; at < begins[i + 1]; ++at) sums[i] += parts[static_cast<std::size_t>(at)];
        return sums;
    }

    /// Of at most `most_comparisons` pairs: one kernel for each, and one copy of what all found.
    std::vector<double> compare(std::span<const ArrayPair> pairs) {
        std::vector<double> largest(pairs.size(), 0);
        const Current current(*session_);
        current.check();
        prepare_comparison();
        // The arrays may have been written on any stream.
        session_->check(driver().context_synchronise(), "waiting for the arrays to compare");
        std::vector<std::int64_t> begins{0};  // of a pair's numbers, one after the other
        for (const auto& [a, b, values, type] : pairs) {
            const std::int64_t begin = begins.back();
            const std::int64_t blocks = blocks_for(values);
            begins.push_back(begin + blocks);
            if (blocks == 0) continue;
            const void* first = a;
            const void* second = b;
            long long count = values;
            double* partial = static_cast<double*>(partial_) + begin;
            void* arguments[] = {static_cast<void*>(&first), static_cast<void*>(&second), &count, static_cast<void*>(&partial)};
            comparison_->launch(comparison_->entry(comparison_of(type)), {blocks, 1, 1}, {comparison_threads, 1, 1}, 0, {}, arguments);
        }
        std::vector<double> found(static_cast<std::size_t>(begins.back()));
        copy(found.data(), partial_, begins.back() * static_cast<std::int64_t>(sizeof(double)), {});
        synchronise({});
        for (std::size_t i = 0; i < pairs.size(); ++i)
            for (std::int64_t at = begins[i]; at < begins[i + 1]; ++at) largest[i] = std::max(largest[i], found[static_cast<std::size_t>(at)]);
        return largest;
    }

    void prepare_comparison() {
        if (comparison_) return;
        const CompileOutcome outcome = compiler_->compile(comparison_source());
        if (!outcome.ok) throw Error("comparison kernel", outcome.failure, "check the installation with 'hone doctor'");
        if (partial_ == nullptr)
            partial_ = allocate(static_cast<std::int64_t>(most_comparisons) * comparison_blocks * static_cast<std::int64_t>(sizeof(double)));
        comparison_ = load(outcome.code);
    }

    std::shared_ptr<const Session> session_;
    std::unique_ptr<Compiler> compiler_;
    std::unique_ptr<PeerMemory> peers_;
    std::unique_ptr<Module> comparison_;  // made at the first comparison
    void* partial_ = nullptr;
    std::array<EventHandle*, 2> events_{};
    std::mutex order_mutex_;
    EventHandle* order_ = nullptr;  // made when first two streams are ordered
};

}  // namespace

std::vector<Device> cuda_devices(std::string& missing, const LibraryCandidates& candidates) {
    int count = 0;
    const Driver driver = start_driver(candidates, count);
    const Nvrtc nvrtc = load_nvrtc(candidates);
    if (!driver.missing.empty())
        missing = driver.missing + "; " + driver.remedy;
    else if (!nvrtc.missing.empty())
        missing = nvrtc.missing + "; " + nvrtc.remedy;
    if (!driver.missing.empty() || !nvrtc.missing.empty()) return {};
    std::vector<Device> devices;
    devices.reserve(static_cast<std::size_t>(count));
    for (int index = 0; index < count; ++index) devices.push_back(describe_device(driver, index, nvrtc.name));
    return devices;
}

std::unique_ptr<Backend> make_cuda_backend(int index, DiskCache& cache, const LibraryCandidates& candidates) {
    const std::string where = fmt::format("device cuda:{}", index);
    int count = 0;
    Driver driver = start_driver(candidates, count);
    if (!driver.missing.empty()) throw Error(where, driver.missing, driver.remedy);
    if (index < 0 || index >= count) throw Error(where, fmt::format("the devices are cuda:0 to cuda:{}", count - 1), "choose one of these");
    Device device = describe_device(driver, index, "");
    auto compiler = make_nvrtc_compiler(device.fingerprint.architecture, cache, candidates);
    device.fingerprint.compiler = compiler->version();
    device.limits.compiler = compiler_release(device.fingerprint.compiler);
    return std::make_unique<CudaBackend>(std::move(driver), std::move(device), std::move(compiler), candidates);
}

}  // namespace hone::inline v0_1::cuda

namespace hone::inline v0_1 {

std::vector<Device> cuda_devices(std::string& missing) {
    return cuda::cuda_devices(missing, cuda::library_candidates());
}

std::unique_ptr<Backend> make_cuda_backend(int index, DiskCache& cache) {
    return cuda::make_cuda_backend(index, cache, cuda::library_candidates());
}

}  // namespace hone::inline v0_1
