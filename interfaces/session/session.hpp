#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/library.hpp"
#include "tuner/online/first_use.hpp"

namespace hone::inline v0_1 {

/// Settings of a session in place of its defaults.
struct SessionSettings {
    std::filesystem::path database;      ///< folder of tuned results; empty: known_records' places (tuning_db/places.hpp)
    std::filesystem::path cache;         ///< folder of compiled code; empty: DiskCache::default_folder()
    const Families* families = nullptr;  ///< must outlive the session; null: built_in_families()
    KernelLibrary::Warn warn;            ///< empty: a line on standard error
    /// What happens when a problem that nobody tuned is used first; absent: usual_first_use(). A
    /// measurement takes `first_use_seconds` for each problem, once: its result is kept.
    std::optional<FirstUse> first_use;
    double first_use_seconds = 2;
    std::vector<std::string> worker;  ///< command that starts a worker of the same families; empty: find_worker_command()
};

/// For a KernelLibrary of these settings. Empty where problems are not measured at first use.
/// `backend` and `families` must outlive it. Throws Error as usual_first_use does, and for seconds
/// that are not above 0.
KernelLibrary::Measure first_use_of(const Backend& backend, const Families& families, const SessionSettings& settings);

/// Everything between an application and its kernels, with the defaults that nine applications of
/// ten want: the cache of compiled code, a device, the families, the tuned results of this user and
/// of hone, and the library over them.
///
///     hone::Session session("best");
///     const auto kernel = session.kernel("dg_volume equation=maxwell_3d order=3 precision=f32 elements=1000");
///
/// A problem that nobody tuned is answered by what other results suggest. To measure the
/// suggestions at its first use, and to remember the best:
///
///     hone::Session session("best", {.first_use = hone::FirstUse::measured});
///
/// Must outlive its kernels and the arrays on its device. Thread-safe as KernelLibrary is.
class Session {
  public:
    /// `device` as for make_backend: "best", "cuda", "cuda:1", "cpu". Throws Error when there is no
    /// such device, when a folder that is named is not there, and when results cannot be read.
    explicit Session(const std::string& device = "best", const SessionSettings& settings = {});
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Backend& backend() { return *backend_; }
    const Device& device() const { return backend_->device(); }
    const Families& families() const { return families_; }
    const Database& database() const { return library_.database(); }
    KernelLibrary& library() { return library_; }

    /// The best kernel known for a problem, given as values or as words (Families::parse_problem).
    /// Throws Error as KernelLibrary::kernel does.
    std::shared_ptr<const Kernel> kernel(const Problem& problem) { return library_.kernel(problem); }
    std::shared_ptr<const Kernel> kernel(const std::string& problem) { return library_.kernel(families_.parse_problem(problem)); }

  private:
    const Families& families_;
    DiskCache cache_;
    std::unique_ptr<Backend> backend_;
    KernelLibrary library_;
};

}  // namespace hone::inline v0_1
