#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "tuner/online/policy.hpp"

namespace hone::inline v0_1 {

class EarlyWorker;

/// Settings of tuning inside a running application.
struct OnlineSettings {
    OnlineRules rules;                     ///< `rules.bound`: the part of the time that may be spent exploring
    bool enabled = true;                   ///< false: the best configuration known runs, and nothing is tried
    std::vector<std::string> worker;       ///< command that starts a worker; empty: find_worker_command()
    std::filesystem::path cache;           ///< of compiled code; empty: DiskCache::default_folder()
    std::string strategy;                  ///< empty: the default, or the journal's
    std::uint64_t seed = 1;                ///< of the search
    int compile_processes = 0;             ///< 0: half of the hardware threads for a GPU, one for the CPU
    std::int64_t vetting_words = 1 << 24;  ///< candidates are verified first on arrays of at most so many words; see tuner/vetting_problem.hpp
    /// Candidates run in steps without having been verified at the problem's own size, too. What
    /// is found then says at which size it was verified, and no look-up calls it exact.
    bool verify_reduced = false;
    std::shared_ptr<EarlyWorker> early;            ///< started before the device was opened; see tuner/online/early_worker.hpp
    std::function<void(const std::string&)> warn;  ///< told once when tuning is not possible; default: a line on standard error
};

/// The state and results of online tuning of one problem so far.
struct OnlineReport {
    std::string problem;
    std::string device;
    std::string first_config;  ///< that ran first
    std::string config;        ///< that runs now
    OnlineProgress progress;
    std::string verified_on;    ///< key of the smaller problem on which `config` was verified; empty: its own, or not verified yet
    double compiled_after = 0;  ///< seconds after the tuner was made until something could be verified; 0: not yet
    double vetted_after = 0;    ///< ... and until the first configuration was, most often the incumbent
    std::string state;          ///< in a few words: "trying candidates", "settled", or why nothing is tried
};

/// Several lines for people.
std::string to_string(const OnlineReport& report);

/// Tunes a kernel inside an application that computes with it meanwhile.
///
///     hone::OnlineTuner tuner(*backend, hone::built_in_families(), "", problem, arrays);
///     for (int i = 0; i < steps; ++i) {
///         tuner.step(stream);  // in place of kernel.launch(arrays, stream)
///         ...                  // the application's other work
///     }
///     std::cout << to_string(tuner.report());
///
/// `step` launches one time step of the problem on the application's arrays and stream. It begins
/// with the best configuration that the database in `folder` knows. A background thread compiles
/// other candidates, and a worker process verifies them on random data of its own: on arrays of
/// reduced extents, then at the problem's own size, where memory allows it. Only a candidate that
/// passed and is loaded runs in a step; kernels are switched between steps. So every step
/// computes the result of the safe configuration, up to the order of the arithmetic. OnlinePolicy
/// decides what is tried when, and bounds the time lost to it.
///
/// Without a `folder` (empty) it begins with the best of known_records and writes to own_records
/// (tuning_db/places.hpp), as every program of hone does.
///
/// A new best goes into the database in `folder`, marked as found online, and every outcome into a
/// journal beside it: the application's next start goes on where this one ended, however it ended.
/// Without a worker program, without a compiler, or when another process tunes the same problem,
/// the best configuration known simply runs.
///
/// Used by one thread, one stream at a time. The backend, the families and the arrays must outlive
/// it.
class OnlineTuner {
  public:
    /// `arrays` are device pointers (host pointers on the cpu) in the order of the kernel's arrays;
    /// kept, not the span. Made before the arrays are filled it does much of its work meanwhile;
    /// `prepare` then, where tables come from them. Throws Error as KernelLibrary::kernel does.
    OnlineTuner(Backend& backend, const Families& families, std::filesystem::path folder, const Problem& problem, std::span<void* const> arrays,
                OnlineSettings settings = {});
    /// Finishes.
    ~OnlineTuner();
    OnlineTuner(OnlineTuner&&) noexcept;
    OnlineTuner& operator=(OnlineTuner&&) noexcept;

    /// Launches one time step. Returns when it is queued; on a GPU the host is held back while
    /// candidates are tried, so that not more than about two milliseconds of steps (at least four)
    /// are queued. Throws Error when the configuration known best cannot be launched.
    void step(Stream stream = {});
    /// An array that kernels make tables from (a stencil) has changed.
    void prepare(Stream stream = {});
    /// Other arrays of the same problem, from the next step on.
    void set_arrays(std::span<void* const> arrays, Stream stream = {});
    /// Another problem, of another size perhaps, from the next step on. The results for the one
    /// before are kept, and its tuning continues when it comes back.
    void set_problem(const Problem& problem, std::span<void* const> arrays);
    /// Waits for the steps' times, keeps the results, and tries nothing more: `step` then runs the
    /// best configuration. Background work is dropped in any state and its processes are killed, so
    /// this takes a moment only.
    void finish();

    /// Of the current problem.
    OnlineReport report() const;
    /// Of all problems, in the order of set_problem.
    std::vector<OnlineReport> reports() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
