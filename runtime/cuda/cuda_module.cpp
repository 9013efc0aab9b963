#include "runtime/cuda/cuda_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>

#include "foundation/error.hpp"

namespace hone::inline v0_1::cuda {
namespace {

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
        queue(entry, grid, block, shared_bytes,
              [&](const Driver& driver, auto... numbers) { return driver.launch_kernel(numbers..., handle_of(stream), arguments, nullptr); });
    }
    void launch_together(int entry, const Dim3& grid, const Dim3& block, std::int64_t shared_bytes, Stream stream, void** arguments) const override {
        if (session_->device().has_other_clients) session_->warn_of_other_clients();
        queue(entry, grid, block, shared_bytes,
              [&](const Driver& driver, auto... numbers) { return driver.launch_cooperative_kernel(numbers..., handle_of(stream), arguments); });
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

    // `call` with the driver, the function and the extents as the driver takes them.
    template <typename Call>
    void queue(int entry, const Dim3& grid, const Dim3& block, std::int64_t shared_bytes, const Call& call) const {
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
        const Result result = call(session_->driver(), target.function, part(grid[0]), part(grid[1]), part(grid[2]), part(block[0]), part(block[1]),
                                   part(block[2]), part(shared_bytes));
        if (result != success) session_->fail(result, describe());
    }

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
    // Of fixed size, so that an entry that was handed out stays where it is while another thread
    // adds one.
    mutable std::array<Entry, 64> entries_;
    mutable int count_ = 0;
};

}  // namespace

std::unique_ptr<Module> load_module(std::shared_ptr<const Session> session, const CompiledCode& code) {
    if (code.target != Target::cuda) throw Error("loading a kernel", "it was compiled for " + to_string(code.target), "compile it for cuda");
    if (code.binary.empty()) throw Error("loading a kernel", "there is no code in it", "compile it first");
    return std::make_unique<CudaModule>(std::move(session), code);
}

}  // namespace hone::inline v0_1::cuda
