#include "runtime/cuda/cuda_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>

#include "generator/error.hpp"
#include "generator/render.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/nvrtc.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"

namespace hone::cuda {
namespace {

StreamHandle* handle_of(Stream stream) {
    return static_cast<StreamHandle*>(stream.handle);
}

DevicePointer address(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

std::string size_text(std::int64_t bytes) {
    return fmt::format("{} bytes ({:.3g} GiB)", bytes, static_cast<double>(bytes) / (1 << 30));
}

// What the user can do about an error.
const char* remedy_for(Result result) {
    switch (result) {
        case error_out_of_memory:
            return "use a smaller problem, or free memory on the device";
        case error_illegal_address:
        case error_launch_failed:
            return "the context is lost: start the process again, and find the access with compute-sanitizer";
        case error_launch_timeout:
            return "the context is lost: start the process again with a smaller problem, on a device without a display";
        case error_launch_out_of_resources:
            return "use fewer threads per block, or fewer registers per thread";
        case error_invalid_image:
        case error_no_binary_for_gpu:
        case error_unsupported_ptx_version:
            return "compile for this device's architecture with an NVRTC that is not newer than the driver";
        default:
            return "look the code up in the CUDA driver API's manual";
    }
}

// The driver, a device and its primary context; shared by a backend and its modules, the last of which releases the context.
class Session {
  public:
    Session(Driver driver, Device device) : driver_(std::move(driver)), device_(std::move(device)) {
        check(driver_.device_get(&handle_, device_.index), "opening it");
        check(driver_.primary_context_retain(&context_, handle_), "making its context");
    }
    ~Session() { driver_.primary_context_release(handle_); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const Driver& driver() const { return driver_; }
    const Device& device() const { return device_; }
    Context* context() const { return context_; }

    void check(Result result, const std::string& what) const {
        if (result != success) fail(result, what);
    }
    [[noreturn]] void fail(Result result, const std::string& what) const {
        throw Error(fmt::format("CUDA device {} ({})", device_.index, device_.fingerprint.name), fmt::format("{}: {}", what, driver_.text(result)),
                    remedy_for(result));
    }

  private:
    Driver driver_;
    Device device_;
    int handle_ = 0;
    Context* context_ = nullptr;
};

// Makes the session's context current in this thread; at the end the thread has the one that it had.
class Current {
  public:
    explicit Current(const Session& session) : session_(&session) {
        Context* current = nullptr;
        result_ = session.driver().context_get_current(&current);
        if (result_ != success || current == session.context()) return;
        result_ = session.driver().context_push(session.context());
        pushed_ = result_ == success;
    }
    ~Current() {
        Context* popped = nullptr;
        if (pushed_) session_->driver().context_pop(&popped);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    /// For what must not throw.
    bool ok() const { return result_ == success; }
    void check() const { session_->check(result_, "making its context current"); }

  private:
    const Session* session_;
    Result result_ = success;
    bool pushed_ = false;
};

class CudaModule : public Module {
  public:
    CudaModule(std::shared_ptr<const Session> session, const CompiledCode& code) : session_(std::move(session)) {
        const Current current(*session_);
        current.check();
        session_->check(session_->driver().module_load_data(&code_, code.binary.data()),
                        fmt::format("loading {} bytes of code for {}", code.binary.size(), session_->device().fingerprint.architecture));
    }
    ~CudaModule() override {
        const Current current(*session_);
        if (current.ok()) session_->driver().module_unload(code_);
    }
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;

    int entry(const std::string& name) const override {
        const std::lock_guard lock(mutex_);
        for (int i = 0; i < count_; ++i)
            if (entries_[static_cast<std::size_t>(i)].name == name) return i;
        if (count_ == static_cast<int>(entries_.size()))
            throw Error("compiled kernel", fmt::format("more than {} entry points", entries_.size()), "split the family's source");
        open(entries_[static_cast<std::size_t>(count_)], name);
        return count_++;
    }

    void launch(int entry, const Dim3& grid, const Dim3& block, std::int64_t shared_bytes, Stream stream, void** arguments) const override {
        const Entry& target = entries_[static_cast<std::size_t>(entry)];
        const auto describe = [&] {
            return fmt::format("launching {} with grid {} x {} x {}, block {} x {} x {} and {} bytes of shared memory", target.name, grid[0], grid[1],
                               grid[2], block[0], block[1], block[2], shared_bytes);
        };
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        const auto outside = [](std::int64_t extent) { return extent < 1 || extent > most; };
        if (std::any_of(grid.begin(), grid.end(), outside) || std::any_of(block.begin(), block.end(), outside) || shared_bytes < 0 ||
            shared_bytes > most)
            session_->fail(error_invalid_value, describe());
        const Current current(*session_);
        current.check();
        if (shared_bytes + target.static_shared_bytes > unasked_shared_bytes) opt_in(target);
        const auto part = [](std::int64_t extent) { return static_cast<unsigned int>(extent); };
        const Result result =
            session_->driver().launch_kernel(target.function, part(grid[0]), part(grid[1]), part(grid[2]), part(block[0]), part(block[1]),
                                             part(block[2]), part(shared_bytes), handle_of(stream), arguments, nullptr);
        if (result != success) session_->fail(result, describe());
    }

  private:
    // What a block gets of shared memory without asking, on every architecture.
    static constexpr std::int64_t unasked_shared_bytes = 48 << 10;

    struct Entry {
        std::string name;
        Function* function = nullptr;
        int static_shared_bytes = 0;
        mutable std::atomic<bool> opted_in = false;
    };

    void open(Entry& entry, const std::string& name) const {
        const Current current(*session_);
        current.check();
        const Driver& driver = session_->driver();
        const Result result = driver.module_get_function(&entry.function, code_, name.c_str());
        if (result == error_not_found)
            throw Error("compiled kernel", fmt::format("there is no entry point \"{}\"", name), "mend the family's launch plan");
        session_->check(result, fmt::format("looking up the entry point {}", name));
        session_->check(driver.function_get_attribute(&entry.static_shared_bytes, function_static_shared_bytes, entry.function),
                        fmt::format("asking for the shared memory of {}", name));
        entry.name = name;
    }

    // Allows all that the device has, once per entry; two threads that come first do the same.
    void opt_in(const Entry& entry) const {
        if (entry.opted_in.load(std::memory_order_acquire)) return;
        const int most = session_->device().limits.shared_bytes_per_block - entry.static_shared_bytes;
        session_->check(session_->driver().function_set_attribute(entry.function, function_max_dynamic_shared_bytes, most),
                        fmt::format("allowing {} bytes of shared memory to {}", most, entry.name));
        entry.opted_in.store(true, std::memory_order_release);
    }

    std::shared_ptr<const Session> session_;
    LoadedCode* code_ = nullptr;
    mutable std::mutex mutex_;
    // Of fixed size, so that an entry that was handed out stays where it is while another thread adds one.
    mutable std::array<Entry, 64> entries_;
    mutable int count_ = 0;
};

// Reduces to one number per block; the host takes the largest of these.
constexpr std::int64_t comparison_blocks = 1024;
constexpr std::int64_t comparison_threads = 256;

KernelSource comparison_source() {
    KernelSource source;
    source.target = Target::cuda;
    source.text = render("largest_difference.cu", {});
    source.entries = {"largest_difference_f32", "largest_difference_f64"};
    return source;
}

class CudaBackend : public Backend {
  public:
    CudaBackend(Driver driver, Device device, std::unique_ptr<Compiler> compiler)
        : session_(std::make_shared<const Session>(std::move(driver), std::move(device))), compiler_(std::move(compiler)) {}

    ~CudaBackend() override {
        comparison_.reset();
        CudaBackend::free(partial_);
        const Current current(*session_);
        for (EventHandle* event : events_)
            if (event != nullptr && current.ok()) driver().event_destroy(event);
    }

    const Device& device() const override { return session_->device(); }
    const Compiler& compiler() const override { return *compiler_; }

    std::unique_ptr<Module> load(const CompiledCode& code) override {
        if (code.target != Target::cuda) throw Error("loading a kernel", "it was compiled for " + to_string(code.target), "compile it for cuda");
        if (code.binary.empty()) throw Error("loading a kernel", "there is no code in it", "compile it first");
        return std::make_unique<CudaModule>(session_, code);
    }

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

    double largest_difference(const void* a, const void* b, std::int64_t words, Precision precision) override {
        if (words <= 0) return 0;
        const Current current(*session_);
        current.check();
        prepare_comparison();
        // The arrays may have been written on any stream.
        session_->check(driver().context_synchronise(), "waiting for the arrays to compare");
        const std::int64_t blocks = std::min(comparison_blocks, (words + comparison_threads - 1) / comparison_threads);
        long long count = words;
        void* arguments[] = {static_cast<void*>(&a), static_cast<void*>(&b), &count, &partial_};
        const int entry = comparison_->entry(precision == Precision::f32 ? "largest_difference_f32" : "largest_difference_f64");
        comparison_->launch(entry, {blocks, 1, 1}, {comparison_threads, 1, 1}, 0, {}, arguments);
        std::vector<double> partial(static_cast<std::size_t>(blocks));
        copy(partial.data(), partial_, blocks * static_cast<std::int64_t>(sizeof(double)), {});
        synchronise({});
        return *std::max_element(partial.begin(), partial.end());
    }

  private:
    const Driver& driver() const { return session_->driver(); }

    void prepare_comparison() {
        if (comparison_) return;
        const CompileOutcome outcome = compiler_->compile(comparison_source());
        if (!outcome.ok) throw Error("comparison kernel", outcome.failure, "check the installation with 'hone doctor'");
        if (partial_ == nullptr) partial_ = allocate(comparison_blocks * static_cast<std::int64_t>(sizeof(double)));
        comparison_ = load(outcome.code);
    }

    std::shared_ptr<const Session> session_;
    std::unique_ptr<Compiler> compiler_;
    std::unique_ptr<Module> comparison_;  // made at the first comparison
    void* partial_ = nullptr;
    std::array<EventHandle*, 2> events_{};
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
    return std::make_unique<CudaBackend>(std::move(driver), std::move(device), std::move(compiler));
}

}  // namespace hone::cuda

namespace hone {

std::vector<Device> cuda_devices(std::string& missing) {
    return cuda::cuda_devices(missing, cuda::library_candidates());
}

std::unique_ptr<Backend> make_cuda_backend(int index, DiskCache& cache) {
    return cuda::make_cuda_backend(index, cache, cuda::library_candidates());
}

}  // namespace hone
