#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "tuner/online/background_vetter.hpp"
#include "tuner/online/journal.hpp"
#include "tuner/online/tuner.hpp"

namespace hone::inline v0_1 {

/// Online tuning of one problem: carries out what an OnlinePolicy decides, on the application's
/// arrays. See OnlineTuner, whose part it is.
class OnlineSession {
  public:
    OnlineSession(Backend& backend, const Families& families, const std::filesystem::path& folder, const Problem& problem,
                  std::span<void* const> arrays, const OnlineSettings& settings);
    ~OnlineSession();
    OnlineSession(const OnlineSession&) = delete;
    OnlineSession& operator=(const OnlineSession&) = delete;

    void step(Stream stream);
    void prepare(Stream stream);
    void set_arrays(std::span<void* const> arrays, Stream stream);
    void finish();
    OnlineReport report() const;

  private:
    /// Queued on the stream, with a watch on it: a step, or making a kernel's tables.
    struct Timed {
        std::optional<OnlineStep> step;
        std::unique_ptr<StopWatch> watch;
        std::int64_t number = 0;  ///< of timed launches
        std::int64_t at = 0;      ///< steps launched before it
    };
    struct Loaded {
        std::shared_ptr<const Kernel> kernel;
        std::shared_ptr<BoundKernel> bound;
    };
    /// Not needed any more, but perhaps still queued.
    struct Retired {
        Loaded loaded;
        std::int64_t number = 0;  ///< once this timed launch is over, nothing of it is queued
    };

    void start(const std::filesystem::path& folder, const OnlineSettings& settings, const Config& incumbent);
    OnlinePolicy* policy();
    void await_earlier(Stream stream);
    void explore(OnlinePolicy& policy, Stream stream);
    void poll(OnlinePolicy& policy, bool all);
    bool is_far_ahead(const OnlinePolicy& policy) const;
    void exchange(OnlinePolicy& policy);
    void supervise(OnlinePolicy& policy);
    void keep(OnlinePolicy& policy);
    void mark(std::int64_t index, const Outcome& outcome);
    void tell_why_reduced();
    BoundKernel& bound(OnlinePolicy& policy, std::int64_t index, Stream stream);
    void retire_unwanted(OnlinePolicy& policy);
    void bury();
    std::unique_ptr<StopWatch> watch();
    void tell_why_not(const std::string& reason);

    Backend& backend_;
    const Families& families_;
    Problem problem_;
    std::vector<void*> arrays_;
    KernelLibrary library_;
    std::function<void(const std::string&)> warn_;

    std::shared_ptr<const Kernel> first_;
    std::shared_ptr<BoundKernel> plain_;  ///< of the first kernel, as long as there is no policy
    std::string started_with_;
    /// Made in the background and written to there alone; the policy, once `opened`, is this
    /// thread's.
    std::shared_ptr<OnlineNotes> notes_ = std::make_shared<OnlineNotes>();
    std::unique_ptr<BackgroundVetter> vetter_;
    std::map<std::int64_t, Loaded> loaded_;
    std::vector<Retired> retired_;
    std::deque<Timed> outstanding_;
    std::vector<std::unique_ptr<StopWatch>> watches_;
    std::unique_ptr<StopWatch> mark_;  ///< behind an untuned step
    std::int64_t steps_ = 0;           ///< launched
    std::int64_t launched_ = 0;        ///< timed launches
    std::int64_t over_ = 0;            ///< of these, the last whose time is known
    std::int64_t kept_ = -1;           ///< the incumbent that was last kept
    std::int64_t untuned_steps_ = 0;
    bool stepping_ = false;  ///< the vetter knows that steps have begun
    bool working_ = false;
    bool paused_ = false;
    bool finished_ = false;
    bool told_why_reduced_ = false;
    std::string why_not_;
    double compiled_after_ = 0, vetted_after_ = 0;  ///< of a vetter that is gone
};

}  // namespace hone::inline v0_1
