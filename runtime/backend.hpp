#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/kernel_source.hpp"
#include "generator/limits.hpp"
#include "runtime/compiler.hpp"
#include "tuning_db/device.hpp"

namespace hone::inline v0_1 {

/// A queue of work on a device: the application's own CUstream or cudaStream_t, or null for the
/// default stream. Ignored by the CPU.
struct Stream {
    void* handle = nullptr;
};

/// A device as a backend sees it.
struct Device {
    DeviceFingerprint fingerprint;
    Limits limits;
    int index = 0;
    std::int64_t memory_bytes = 0;
    /// Kernels of other processes may run on it beside this one's (CUDA: the multi-process
    /// service). Then blocks that wait for each other must be launched together
    /// (Module::launch_together).
    bool is_shared = false;
    /// Other processes were on it when this one opened it, or whether they were cannot be told. Two
    /// programs' launches whose blocks wait for each other (Module::launch_together) can each have
    /// part of the device and wait for the rest for ever. Who opens it later sees who was there
    /// before, so it is enough if it does without such launches.
    bool has_other_clients = false;
};

/// Code loaded on a device.
class Module {
  public:
    virtual ~Module() = default;
    /// Handle of an entry point, for `launch`. Throws Error when there is none of that name.
    virtual int entry(const std::string& name) const = 0;
    /// Queues one launch. `arguments` point at the values of the entry's parameters, as for
    /// cuLaunchKernel. Throws Error when the device refuses it.
    virtual void launch(int entry, const Dim3& grid, const Dim3& block, std::int64_t shared_bytes, Stream stream, void** arguments) const = 0;
    /// The same with all blocks on the device at the same time, so that they may wait for each
    /// other. Throws Error when there is no room for all of them. Warns, once for a device, where
    /// other processes could do the same (Device::has_other_clients).
    virtual void launch_together(int entry, const Dim3& grid, const Dim3& block, std::int64_t shared_bytes, Stream stream, void** arguments) const {
        launch(entry, grid, block, shared_bytes, stream, arguments);
    }
};

/// Times a stretch of a stream's work without waiting for it, as often as wanted. Used by one
/// thread; the backend must outlive it.
///
///     watch->start(stream);
///     kernel.launch(arrays, stream);
///     watch->stop(stream);
///     ...                                           // much later, perhaps
///     if (const auto seconds = watch->seconds()) ...
class StopWatch {
  public:
    virtual ~StopWatch() = default;
    virtual void start(Stream stream) = 0;
    virtual void stop(Stream stream) = 0;
    /// Seconds on the device between the last start and stop; nothing while the device has not
    /// passed both.
    virtual std::optional<double> seconds() = 0;
    /// The same, and waits for it to end.
    virtual double wait() = 0;
};

/// Launches that are queued as a whole, as often as wanted; see Backend::record.
class Recording {
  public:
    virtual ~Recording() = default;
    virtual void launch(Stream stream = {}) const = 0;
};

class PeerMemory;

/// Two device arrays of `count` values.
struct ArrayPair {
    const void* a = nullptr;
    const void* b = nullptr;
    std::int64_t count = 0;
    ValueType type = ValueType::f32;
};

/// A piece of a device's memory.
struct MemoryPiece {
    const void* data = nullptr;
    std::int64_t bytes = 0;  ///< a multiple of 4
};

/// A device: memory, code, time. One implementation per target. Thread-safe but for `seconds` and
/// `largest_difference(s)` and `checksums`, which one thread at a time may call.
class Backend {
  public:
    virtual ~Backend() = default;

    virtual const Device& device() const = 0;
    virtual const Compiler& compiler() const = 0;  ///< thread-safe
    virtual std::unique_ptr<Module> load(const CompiledCode& code) = 0;

    virtual void* allocate(std::int64_t bytes) = 0;  ///< device memory, aligned to 256 bytes; throws Error with the size asked for
    virtual void free(void* pointer) noexcept = 0;
    virtual void* allocate_pinned(std::int64_t bytes) = 0;  ///< host memory that copies fast
    virtual void free_pinned(void* pointer) noexcept = 0;

    /// Copies between any two of host and device memory, in stream order; `synchronise` before host
    /// memory is read or reused.
    virtual void copy(void* to, const void* from, std::int64_t bytes, Stream stream = {}) = 0;
    /// Sets every byte.
    virtual void fill(void* to, unsigned char byte, std::int64_t bytes, Stream stream = {}) = 0;
    virtual void synchronise(Stream stream = {}) = 0;

    /// A queue beside the default stream, which does not wait for it; where the device may choose,
    /// its work comes first. The default stream where a device has one queue alone, as the CPU.
    /// OwnStream gives it back.
    virtual Stream make_stream() { return {}; }
    virtual void free_stream(Stream) noexcept {}
    /// What is queued on `later` from now on runs after all that is queued on `earlier` now. The
    /// host does not wait.
    virtual void order(Stream /*earlier*/, Stream /*later*/) {}

    /// What `work` queues on the stream that it is given, to be queued again: on CUDA a graph,
    /// whose launches follow each other with less time between them, and which costs the host one
    /// call. There `work` is called once, and nothing of it runs; its kernels must have been
    /// launched before, and what it copies or launches must be on its stream. Elsewhere it is
    /// called at each launch. Arguments are as they are then.
    virtual std::unique_ptr<Recording> record(std::function<void(Stream)> work);

    /// Seconds that `work`, which queues launches on `stream`, takes on the device.
    virtual double seconds(Stream stream, const std::function<void()>& work) = 0;
    virtual std::unique_ptr<StopWatch> make_stop_watch() = 0;
    /// Largest |a - b| of two device arrays, by the rule of `largest_difference` in
    /// generator/workload.hpp.
    virtual double largest_difference(const void* a, const void* b, std::int64_t count, ValueType type) = 0;
    double largest_difference(const void* a, const void* b, std::int64_t words, Precision precision) {
        return largest_difference(a, b, words, value_type_of(precision));
    }
    /// Of several pairs, in their order. A device that others use too is waited for once in place
    /// of once for each.
    virtual std::vector<double> largest_differences(std::span<const ArrayPair> pairs) {
        std::vector<double> largest;
        for (const ArrayPair& pair : pairs) largest.push_back(largest_difference(pair.a, pair.b, pair.count, pair.type));
        return largest;
    }

    /// A number for each piece of memory that changes, but by chance of 2^-64, when a bit of it
    /// does.
    virtual std::vector<std::uint64_t> checksums(std::span<const MemoryPiece> pieces);

    /// How other ranks' devices store into this one's memory (runtime/peer_memory.hpp); null where
    /// there is no way.
    virtual PeerMemory* peers() { return nullptr; }
};

/// Device memory that frees itself.
class DeviceArray {
  public:
    DeviceArray() = default;
    DeviceArray(Backend& backend, std::int64_t bytes) : backend_(&backend), bytes_(bytes), data_(backend.allocate(bytes)) {}
    DeviceArray(DeviceArray&& other) noexcept { swap(other); }
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        swap(other);
        return *this;
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() {
        if (data_ != nullptr) backend_->free(data_);
    }

    void* data() const { return data_; }
    std::int64_t bytes() const { return bytes_; }

  private:
    void swap(DeviceArray& other) noexcept {
        std::swap(backend_, other.backend_);
        std::swap(bytes_, other.bytes_);
        std::swap(data_, other.data_);
    }
    Backend* backend_ = nullptr;
    std::int64_t bytes_ = 0;
    void* data_ = nullptr;
};

/// A stream that frees itself.
class OwnStream {
  public:
    explicit OwnStream(Backend& backend) : backend_(backend), stream_(backend.make_stream()) {}
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    ~OwnStream() { backend_.free_stream(stream_); }

    Stream get() const { return stream_; }
    /// What is queued on it from now on runs after what is queued on the default stream now; and
    /// the other way round.
    void follow() const { backend_.order({}, stream_); }
    void join() const { backend_.order(stream_, {}); }

  private:
    Backend& backend_;
    Stream stream_;
};

/// One row of the table of backends: how to find out whether a target is usable here, and how to
/// make its backend.
struct BackendEntry {
    Target target;
    /// All devices of this target on this machine; empty with `missing` saying what to install or
    /// why there is none.
    std::vector<Device> (*devices)(std::string& missing);
    std::unique_ptr<Backend> (*make)(int index, DiskCache& cache);
};

/// cuda first, then cpu.
std::span<const BackendEntry> backends();

/// A device's name, taken apart.
struct DeviceName {
    Target target = Target::cpu;
    int index = 0;
};

/// "cpu", "cuda" (its first device) or "cuda:1"; "gpu" is another word for "cuda". Throws Error for
/// anything else, with the nearest name unless a name of the other target is as near. Whether there
/// is such a device here is another question.
DeviceName parse_device_name(const std::string& name);

/// `name` is a device's, or "best" (the first usable of the table). Throws Error saying what is
/// missing.
std::unique_ptr<Backend> make_backend(const std::string& name, DiskCache& cache);

}  // namespace hone::inline v0_1
