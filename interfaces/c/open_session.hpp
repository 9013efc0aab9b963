#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foundation/grow_only_table.hpp"
#include "interfaces/c/bound_arrays.hpp"
#include "interfaces/c/handles.hpp"
#include "interfaces/session/session.hpp"

namespace hone::inline v0_1::languages {

/// The contents of a hone_session: a hone::Session, the kernels that were looked up in it by their
/// handles, and the arrays that were allocated with it. Bound kernels and online tuners hold it,
/// too. Thread-safe.
class OpenSession : public std::enable_shared_from_this<OpenSession> {
  public:
    /// `kernels` are folders beside hone's own families, separated by colons.
    OpenSession(const std::string& device, SessionSettings settings, std::string_view kernels);
    ~OpenSession();

    Backend& backend() { return session_.backend(); }
    const Device& device() const { return session_.device(); }
    const std::string& name() const { return name_; }  ///< of the device: "cpu", "cuda:0"
    const Families& families() const { return session_.families(); }
    const SessionSettings& settings() const { return settings_; }
    const std::string& results_folder() const { return results_folder_; }  ///< that tuning writes to; may be empty
    /// Starts a worker that knows the same families; empty where there is no hone program.
    std::vector<std::string> worker_command() const;
    /// The results as they were read at the beginning or by the latest `read_results`.
    const Database& database() const { return results().library->database(); }

    /// The best kernel known for a problem, the same for the same problem. Throws Error as
    /// KernelLibrary::kernel does.
    hone_kernel* kernel(std::string_view problem);
    /// Reads the tuned results again: look-ups answer from them. Kernels that were handed out stay
    /// as they are.
    void read_results();
    /// Closes the kernels' handles.
    void close_kernels();
    /// A copy of the text that stays as long as this.
    const char* keep(std::string text);

    void* allocate(std::int64_t bytes);
    /// False when `data` was not allocated here, or freed already.
    bool free(void* data);
    /// Bytes from `data` to the end of the allocation that it lies in, or -1 when it lies in none
    /// of these.
    std::int64_t allocated_from(const void* data) const;
    /// True from when the allocation that `data` lies in is freed; null when it lies in none.
    std::shared_ptr<const std::atomic<bool>> freed_flag_of(const void* data) const;

  private:
    /// Tuned results with what was looked up in them.
    struct Results {
        KernelLibrary* library = nullptr;
        std::unique_ptr<KernelLibrary> own;  ///< null: the library is the session's
        GrowOnlyTable<std::string, hone_kernel*> by_text;
        std::unordered_map<const Kernel*, std::unique_ptr<hone_kernel>> handles;
    };
    /// Device memory that the session's caller allocated.
    struct Allocation {
        DeviceArray memory;
        std::shared_ptr<std::atomic<bool>> freed = std::make_shared<std::atomic<bool>>(false);
    };
    /// The allocation that `data` lies in, or null. Requires the lock.
    const std::pair<const char* const, Allocation>* allocation_at(const void* data) const;
    const Results& results() const { return *latest_.load(std::memory_order_acquire); }
    Results& results() { return *latest_.load(std::memory_order_acquire); }

    std::vector<std::string> folders_;  ///< of kernels, whole paths
    Families families_;
    SessionSettings settings_;
    Session session_;
    std::string name_;
    std::string results_folder_;
    std::atomic<Results*> latest_{nullptr};
    mutable std::mutex mutex_;  ///< of all that follows
    std::deque<Results> all_results_;
    std::deque<std::string> texts_;
    std::map<const char*, Allocation> arrays_;
};

}  // namespace hone::inline v0_1::languages

struct hone_session : hone::languages::Shell {
    static constexpr std::uint64_t kind = 0x8f1d5b3a9c60e701;
    static constexpr const char* noun = "session";
    static constexpr const char* opener = "hone_session_open";

    explicit hone_session(std::shared_ptr<hone::languages::OpenSession> open) : Shell(kind), content(std::move(open)) {}
    std::shared_ptr<hone::languages::OpenSession> content;
};

struct hone_kernel : hone::languages::Shell {
    static constexpr std::uint64_t kind = 0x8f1d5b3a9c60e702;
    static constexpr const char* noun = "kernel";
    static constexpr const char* opener = "hone_session_kernel";

    hone_kernel(std::shared_ptr<const hone::Kernel> looked_up, hone::languages::OpenSession* of);
    std::shared_ptr<const hone::Kernel> kernel;
    hone::languages::OpenSession* session;
    std::string configuration;
};

struct hone_bound : hone::languages::Shell {
    static constexpr std::uint64_t kind = 0x8f1d5b3a9c60e703;
    static constexpr const char* noun = "bound kernel";
    static constexpr const char* opener = "hone_kernel_bind";

    hone_bound(std::shared_ptr<hone::languages::OpenSession> of, hone::languages::BoundArrays to, std::unique_ptr<hone::BoundKernel> with)
        : Shell(kind), session(std::move(of)), arrays(std::move(to)), bound(std::move(with)) {}
    std::shared_ptr<hone::languages::OpenSession> session;  ///< before the kernel, which needs its device to the end
    hone::languages::BoundArrays arrays;
    std::unique_ptr<hone::BoundKernel> bound;
};
