#include "runtime/cpu/cpu_backend.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/forked.hpp"
#include "foundation/host_memory.hpp"
#include "foundation/processors.hpp"
#include "foundation/sha256.hpp"
#include "generator/workload.hpp"
#include "runtime/cpu/cpu_device.hpp"
#include "runtime/cpu/host_compiler.hpp"
#include "runtime/cpu/host_object.hpp"
#include "runtime/cpu/memory_file.hpp"

namespace hone::inline v0_1 {
namespace {

// From this size on, memory is copied and filled by all threads, in the static shares that kernels
// use too: a page lies near the thread that touches it first.
constexpr std::int64_t parallel_bytes = 1 << 20;

template <typename Work>
void in_shares(std::int64_t bytes, const Work& work) {
    if (bytes < parallel_bytes) {
        if (bytes > 0) work(std::int64_t{0}, bytes);
        return;
    }
    expect_not_forked();
    const std::int64_t share = std::int64_t{1} << 18;
    const std::int64_t shares = (bytes + share - 1) / share;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < shares; ++i) work(i * share, std::min(share, bytes - i * share));
}

class CpuModule : public Module {
  public:
    CpuModule(HostObject object, std::optional<MemoryFile> file) : file_(std::move(file)), object_(std::move(object)) {}

    int entry(const std::string& name) const override {
        for (int i = 0; object_.entries()[i].name != nullptr; ++i)
            if (name == object_.entries()[i].name) return i;
        throw Error("compiled kernel", fmt::format("there is no entry point \"{}\"", name), "mend the family's launch plan");
    }

    void launch(int entry, const Dim3&, const Dim3&, std::int64_t, Stream, void** arguments) const override { object_.launch(entry, arguments); }

  private:
    std::optional<MemoryFile> file_;  // that the object was loaded from; outlives it
    HostObject object_;
};

bool allows_execution(const std::filesystem::path& folder) {
    struct statvfs status {};
    return ::statvfs(folder.c_str(), &status) != 0 || (status.f_flag & ST_NOEXEC) == 0;
}

class CpuStopWatch : public StopWatch {
  public:
    void start(Stream) override { begin_ = std::chrono::steady_clock::now(); }
    void stop(Stream) override { seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
    std::optional<double> seconds() override { return seconds_; }
    double wait() override { return seconds_; }

  private:
    std::chrono::steady_clock::time_point begin_;
    double seconds_ = 0;
};

class CpuBackend : public Backend {
  public:
    explicit CpuBackend(DiskCache& cache) : cache_(&cache), compiler_(make_host_compiler(cache)), device_(cpu_device(compiler_->version())) {
        open_in_this_process();
    }

    const Device& device() const override { return device_; }
    const Compiler& compiler() const override { return *compiler_; }

    std::unique_ptr<Module> load(const CompiledCode& code) override {
        if (code.target != Target::cpu) throw Error("loading a kernel", "it was compiled for " + to_string(code.target), "compile it for cpu");
        // It may bring another OpenMP library than ours, which takes what this thread may use for
        // all that there is.
        const OnProcessors inherited;
        // The entry may have left the cache since it was read; and code that came another way never
        // was in it.
        std::string reason;
        HostObject object;
        if (!code.file.empty()) object = HostObject(code.file.string(), reason);
        if (!object) {
            const std::string key = "loaded object " + sha256(code.binary);
            if (!cache_->read(key) && !cache_->write(key, code.binary))
                throw MachineError("cache folder " + cache_->folder().string(), fmt::format("it does not take {} bytes", code.binary.size()),
                                   "make room or let this user write there, or set HONE_CACHE to another folder");
            object = HostObject(cache_->path(key).string(), reason);
        }
        std::optional<MemoryFile> file;
        if (!object && !allows_execution(cache_->folder())) {
            file.emplace(code.binary);
            object = HostObject(file->path(), reason);
            // The loader's words for a file that the system does not let be executed.
            if (!object && reason.find("failed to map segment") != std::string::npos)
                throw MachineError("cache folder " + cache_->folder().string(), "its file system allows no execution, nor does memory: " + reason,
                                   "set HONE_CACHE to a folder on a file system that allows execution");
        }
        if (!object) throw Error("loading a compiled kernel", reason, "mend the kernel: its object cannot be loaded");
        return std::make_unique<CpuModule>(std::move(object), std::move(file));
    }

    void* allocate(std::int64_t bytes) override { return allocate_host_memory(bytes, "memory on the cpu"); }
    void free(void* pointer) noexcept override { release_host_memory(pointer); }
    void* allocate_pinned(std::int64_t bytes) override { return allocate(bytes); }
    void free_pinned(void* pointer) noexcept override { release_host_memory(pointer); }

    void copy(void* to, const void* from, std::int64_t bytes, Stream) override {
        in_shares(bytes, [&](std::int64_t at, std::int64_t count) {
            std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, static_cast<std::size_t>(count));
        });
    }
    void fill(void* to, unsigned char byte, std::int64_t bytes, Stream) override {
        in_shares(bytes,
                  [&](std::int64_t at, std::int64_t count) { std::memset(static_cast<char*>(to) + at, byte, static_cast<std::size_t>(count)); });
    }
    void synchronise(Stream) override {}

    double seconds(Stream, const std::function<void()>& work) override {
        const auto begin = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    std::unique_ptr<StopWatch> make_stop_watch() override { return std::make_unique<CpuStopWatch>(); }
    double largest_difference(const void* a, const void* b, std::int64_t count, ValueType type) override {
        return hone::largest_difference(a, b, count, type);
    }

  private:
    DiskCache* cache_;
    std::unique_ptr<Compiler> compiler_;
    Device device_;
};

}  // namespace

std::vector<Device> cpu_devices(std::string&) {
    // A cache knows which compiler worked; without one every listing compiles the probe. Listing
    // makes no folder.
    std::optional<DiskCache> cache;
    try {
        if (const auto folder = DiskCache::default_folder(); std::filesystem::exists(folder)) cache.emplace(folder);
    } catch (const std::exception&) {
        cache.reset();  // a folder that cannot be used is told by whoever needs one
    }
    const HostCompiler compiler = find_host_compiler(cache ? &*cache : nullptr);
    return {cpu_device(compiler.path.empty() ? "none" : compiler.version)};
}

std::unique_ptr<Backend> make_cpu_backend(int index, DiskCache& cache) {
    if (index != 0) throw Error("device cpu:" + std::to_string(index), "there is one cpu device", "use cpu");
    return std::make_unique<CpuBackend>(cache);
}

}  // namespace hone::inline v0_1
