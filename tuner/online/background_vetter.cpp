#include "tuner/online/background_vetter.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <set>

#include "foundation/error.hpp"
#include "foundation/processors.hpp"
#include "foundation/sha256.hpp"
#include "tuner/vetting_problem.hpp"
#include "tuner/worker/memory_need.hpp"
#include "tuner/worker/process_tree.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr auto tick = std::chrono::milliseconds(5);  // between two looks at the compilers
// Launch limits of the y and z axes of a grid, on all architectures (CUDA C++ Programming Guide,
// compute capabilities).
constexpr std::int64_t largest_grid = 65535;

/// What a launch at the application's size could be refused for, when one at the verified size was
/// not.
std::string refused(const KernelSource& source) {
    if (!traits_of(source.target).has_blocks) return {};
    for (const auto* plan : {&source.prepare, &source.step})
        for (const Launch& launch : *plan)
            if (launch.grid[1] > largest_grid || launch.grid[2] > largest_grid)
                return fmt::format("its grid of {} x {} x {} blocks is too large", launch.grid[0], launch.grid[1], launch.grid[2]);
    return {};
}

/// All vetters of this program. exit() leaves the objects of the functions it was called from
/// alone: then their threads are ended here, before static objects that were there before the first
/// vetter (a backend, say) are destroyed.
class Vetters {
  public:
    ~Vetters() {
        const std::lock_guard lock(mutex_);
        for (BackgroundVetter* vetter : living_) vetter->end();
        gone_ = true;
    }
    void add(BackgroundVetter* vetter) {
        if (gone_) return;
        const std::lock_guard lock(mutex_);
        living_.insert(vetter);
    }
    void remove(BackgroundVetter* vetter) {
        if (gone_) return;
        const std::lock_guard lock(mutex_);
        living_.erase(vetter);
    }

  private:
    std::mutex mutex_;
    std::set<BackgroundVetter*> living_;
    static inline std::atomic<bool> gone_{false};  // outlives the object
};

Vetters& all_vetters() {
    static Vetters vetters;
    return vetters;
}

}  // namespace

BackgroundVetter::BackgroundVetter(Backend& backend, const Families& families, const Problem& problem, VetterSettings settings)
    : backend_(backend), families_(families), family_(families.of(problem)), problem_(problem), settings_(std::move(settings)) {
    settings_.worker.source = [this](const Config& config) { return sha256(family_.kernel(problem_, config, backend_.device().limits).text); };
    process_ = getpid();
    const OnProcessors inherited;  // beside the application, not on the processor of its bound thread
    const auto body = [this](OpenedWorker worker) {
        opened_ = std::move(worker);
        run();
    };
    thread_ = settings_.early ? settings_.early->run(backend.device(), body) : std::thread([body] { body({}); });
    all_vetters().add(this);
}

BackgroundVetter::~BackgroundVetter() {
    all_vetters().remove(this);
    end();
}

void BackgroundVetter::post(std::function<void()> task) {
    {
        const std::lock_guard lock(mutex_);
        if (!over_) {
            tasks_.push_back(std::move(task));
            changed_.notify_all();
            return;
        }
    }
    task();
}

void BackgroundVetter::end() {
    if (!thread_.joinable()) return;
    // A fork has a copy of this, but not the thread; and the thread itself may be what calls
    // exit().
    if (getpid() != process_ || std::this_thread::get_id() == thread_.get_id()) return thread_.detach();
    stopping_ = true;
    std::unique_lock lock(mutex_);
    changed_.notify_all();
    // Again and again, because the thread may be just starting one.
    while (!over_) {
        lock.unlock();
        kill_children_of_thread(thread_id_);
        lock.lock();
        changed_.wait_for(lock, tick, [this] { return over_; });
    }
    lock.unlock();
    thread_.join();
    thread_id_ = 0;
}

void BackgroundVetter::want(std::vector<Candidate> candidates) {
    if (candidates.empty()) return;
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) return;
    for (Candidate& candidate : candidates) wanted_.push_back(std::move(candidate));
    changed_.notify_all();
}

void BackgroundVetter::drop(const std::function<bool(std::int64_t)>& needed) {
    const std::lock_guard lock(mutex_);
    std::erase_if(wanted_, [&](const Candidate& candidate) { return !needed(candidate.index); });
}

void BackgroundVetter::permit() {
    const std::lock_guard lock(mutex_);
    permitted_ = true;
    working_ = true;
    changed_.notify_all();
}

void BackgroundVetter::stepping() {
    const std::lock_guard lock(mutex_);
    stepping_ = true;
}

void BackgroundVetter::pause(bool paused) {
    if (const int thread = thread_id_; thread != 0) signal_children_of_thread(thread, paused ? SIGSTOP : SIGCONT);
}

std::optional<Vetted> BackgroundVetter::take() {
    if (!has_finished_.load(std::memory_order_acquire)) return std::nullopt;
    const std::unique_lock lock(mutex_, std::try_to_lock);  // the thread has low priority: it may keep the lock for long
    if (!lock || finished_.empty()) return std::nullopt;
    Vetted result = std::move(finished_.front());
    finished_.pop_front();
    has_finished_ = !finished_.empty();
    return result;
}

std::string BackgroundVetter::broken() const {
    if (stopping_) return {};  // its processes were killed
    const std::lock_guard lock(mutex_);
    return broken_;
}

/// Nothing leaves the thread: what would ends the vetting, and the application goes on as it is.
void BackgroundVetter::run() {
    std::string why;
    try {
        vet_all();
    } catch (const std::exception& error) {
        why = error.what();
    } catch (...) {
        why = "an exception of unknown type";
    }
    // Until the evaluators have reaped them, their processes are killed from the other side.
    evaluator_.reset();
    whole_.reset();
    std::unique_lock lock(mutex_);
    if (!why.empty()) {
        broken_ = why;
        wanted_.clear();
    }
    working_ = false;
    run_tasks(lock);
    over_ = true;
    changed_.notify_all();
}

void BackgroundVetter::vet_all() {
    thread_id_ = static_cast<int>(syscall(SYS_gettid));
    if (on_cpu()) lower_priority();
    // The worker opens its device while the search space is still being listed.
    if (!on_cpu()) start_worker();
    std::unique_lock lock(mutex_);
    while (true) {
        run_tasks(lock);
        if (stopping_) break;
        if (stepping_ && !on_cpu()) calm_down();
        const auto candidate = next_job(lock);
        if (!candidate && !stepping_ && !on_cpu()) lay_out(lock);
        job_waits_ = candidate.has_value();
        if (candidate) note(compiled_after_);
        if (candidate && !stepping_ && !on_cpu()) permitted_ = working_ = true;
        if (permitted_) {
            permitted_ = false;
            if (candidate) {
                std::erase_if(wanted_, [&](const Candidate& c) { return c.index == candidate->index; });
                job_waits_ = false;
                lock.unlock();
                work(*candidate);
                lock.lock();
            }
            working_ = false;
            continue;
        }
        // Compilers get work also while a candidate waits for its permission.
        if (!on_cpu() && !wanted_.empty())
            changed_.wait_for(lock, tick);
        else if (tasks_.empty() && !stopping_)
            changed_.wait(lock);
    }
}

void BackgroundVetter::run_tasks(std::unique_lock<std::mutex>& lock) {
    while (!tasks_.empty()) {
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        std::string why;
        try {
            task();
        } catch (const std::exception& error) {
            why = error.what();
        }
        task = nullptr;
        lock.lock();
        if (!why.empty()) broken_ = why;
    }
}

/// Of something that happens for the first time.
void BackgroundVetter::note(std::atomic<double>& after) const {
    if (after == 0) after = std::chrono::duration<double>(std::chrono::steady_clock::now() - made_).count();
}

void BackgroundVetter::begin() {
    if (evaluator_) return;
    small_ = vetting_problem(families_, problem_, backend_.device().limits, settings_.most_words);
    evaluator_ = std::make_unique<WorkerEvaluator>(settings_.worker);
    evaluator_->adopt(std::move(opened_));
    evaluator_->begin(small_, settings_.seed, settings_.worker.sampling.most_seconds);
    if (on_cpu()) return;
    evaluator_->open_compilers(hurried_processes(settings_.worker.compile_processes));
    lower_priority();
    evaluator_->open_compilers();
    begin_whole();  // its data are made while others are verified
}

/// Its data are made at the first call.
void BackgroundVetter::begin_whole() {
    constexpr double part = 0.5;  // of the memory: the application may not have all of its own yet
    constexpr double longer = 10;
    if (whole_ || !settings_.whole || small_ == problem_ || !why_reduced().empty()) return;
    const Device& device = backend_.device();
    const MemoryBytes needed = bench_memory(family_.arrays(problem_), problem_.precision(), device.limits.target);
    const MemoryBytes there = memory_for(device);
    if (needed.host > part * there.host || needed.device > part * there.device)
        return give_up_whole("data of its own size would take more than half of the memory");
    WorkerSettings settings = settings_.worker;
    settings.compile_processes = 1;  // the code is in the cache
    if (on_cpu()) {                  // processes stand still for as long as the budget is used up
        settings.setup_timeout *= longer;
        settings.first_timeout *= longer;
    }
    whole_ = std::make_unique<WorkerEvaluator>(std::move(settings));
    whole_->begin(problem_, settings_.seed, settings_.worker.sampling.most_seconds);
}

void BackgroundVetter::give_up_whole(const std::string& reason) {
    whole_.reset();
    const std::lock_guard lock(mutex_);
    why_reduced_ = reason;
}

std::string BackgroundVetter::why_reduced() const {
    const std::lock_guard lock(mutex_);
    return why_reduced_;
}

void BackgroundVetter::start_worker() {
    try {
        begin();
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        broken_ = error.what();
    }
}

/// The application's own priority was for the time before its steps.
void BackgroundVetter::calm_down() {
    if (evaluator_ && !std::exchange(calm_, true)) evaluator_->set_niceness_of_compilers(low_priority);
}

/// Before the first step nothing is slowed by it, and a candidate need not wait for it then. It is
/// a job if that comes meanwhile.
void BackgroundVetter::lay_out(std::unique_lock<std::mutex>& lock) {
    if (!evaluator_) return;
    working_ = true;
    lock.unlock();
    std::string why;
    try {
        evaluator_->lay_out([this] { return stopping_.load(); });
    } catch (const std::exception& error) {
        why = error.what();
    }
    lock.lock();
    working_ = false;
    if (!why.empty()) broken_ = why;
}

std::optional<Candidate> BackgroundVetter::next_job(std::unique_lock<std::mutex>& lock) {
    if (wanted_.empty()) return std::nullopt;
    if (on_cpu()) return wanted_.front();
    std::vector<Candidate> candidates(wanted_.begin(), wanted_.end());
    std::optional<Candidate> ready;
    std::string why;
    lock.unlock();
    try {
        begin();
        most_promising_first(candidates);
        for (const Candidate& candidate : candidates) {
            if (passed_.count(candidate.index) == 0 && !evaluator_->compiled(candidate)) continue;
            if (!ready) ready = candidate;
        }
    } catch (const std::exception& error) {
        why = error.what();
    }
    lock.lock();
    if (!why.empty()) {
        broken_ = why;
        wanted_.clear();
    }
    return ready;
}

/// What has a text several times as long as the shortest takes the compiler as many times as long:
/// it must not keep waiting what can be tried soon. Among texts of a length that executes less than
/// half as many operations comes first; otherwise their order stays. So does the first of all,
/// which the others are compared with.
void BackgroundVetter::most_promising_first(std::vector<Candidate>& candidates) {
    constexpr int times_as_long = 4, times_as_many = 2;
    const auto power = [](double ratio, int base) { return static_cast<int>(std::log(ratio) / std::log(base)); };
    Known least{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
    for (const Candidate& candidate : candidates) {
        const auto [known, is_new] = known_.try_emplace(candidate.index);
        if (is_new) {
            const KernelSource source = family_.kernel(problem_, candidate.config, backend_.device().limits);
            known->second = {std::max(1.0, static_cast<double>(source.text.size())), std::max(1.0, source.executed_operations)};
        }
        least.length = std::min(least.length, known->second.length);
    }
    const auto length = [&](const Known& known) { return power(known.length / least.length, times_as_long); };
    for (const Candidate& candidate : candidates)
        if (const Known& known = known_.at(candidate.index); length(known) == 0) least.operations = std::min(least.operations, known.operations);
    const auto rank = [&](const Candidate& candidate) {
        const Known& known = known_.at(candidate.index);
        return std::pair(length(known), power(std::max(1.0, known.operations / least.operations), times_as_many));
    };
    const std::ptrdiff_t first = passed_.empty() && !candidates.empty() ? 1 : 0;
    std::stable_sort(candidates.begin() + first, candidates.end(), [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
}

void BackgroundVetter::work(const Candidate& candidate) {
    try {
        Vetted result = vet(candidate);
        if (stopping_) return;
        note(vetted_after_);
        const std::lock_guard lock(mutex_);
        finished_.push_back(std::move(result));
        has_finished_ = true;
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        broken_ = error.what();
        wanted_.clear();
    }
}

Vetted BackgroundVetter::vet(const Candidate& candidate) {
    Vetted result{candidate, {}, nullptr};
    const auto known = passed_.find(candidate.index);
    result.outcome = known != passed_.end() ? known->second : evaluate(candidate);
    if (!result.outcome.measured() || stopping_) return result;
    try {
        result.kernel = load(candidate.config);
        const std::string reason = refused(result.kernel->source());
        if (!reason.empty()) result.outcome = failure(Status::launch_failed, reason);
    } catch (const MachineError&) {
        throw;
    } catch (const std::exception& error) {
        result.outcome = failure(Status::launch_failed, error.what());
    }
    if (!result.outcome.measured()) result.kernel = nullptr;
    return result;
}

Outcome BackgroundVetter::evaluate(const Candidate& candidate) {
    begin();
    if (!same_on_reduced(candidate.config))
        return failure(Status::launch_failed, "its source depends on the extents, and is another one where it is verified first");
    auto outcome = evaluator_->evaluate(candidate, 0, [this] { return stopping_.load(); });
    if (!outcome) return failure(Status::timed_out, "the application ended");
    if (outcome->measured() && small_ != problem_) verify_on_whole(candidate, *outcome);
    if (outcome->measured() && !stopping_) passed_[candidate.index] = *outcome;
    return *outcome;
}

/// Whether it is a member of the reduced problem's space, with the same source.
bool BackgroundVetter::same_on_reduced(const Config& config) const {
    const Limits& limits = backend_.device().limits;
    return !family_.space(small_, limits).check(config) &&
           family_.kernel(small_, config, limits).text == family_.kernel(problem_, config, limits).text;
}

/// Of what passed on the reduced problem: once more, at the size at which it is going to run.
void BackgroundVetter::verify_on_whole(const Candidate& candidate, Outcome& outcome) {
    outcome.verified_on = small_.key();
    begin_whole();
    if (!whole_) return;
    std::optional<Outcome> found;
    try {
        found = whole_->evaluate(candidate, 0, [this] { return stopping_.load(); });
    } catch (const MachineError&) {
        throw;
    } catch (const Error& error) {  // it could not be set up
        return give_up_whole(error.what());
    }
    if (!found) {
        outcome = failure(Status::timed_out, "the application ended");
    } else if (!found->measured()) {
        outcome = *found;
        outcome.reason = "at the application's own size: " + outcome.reason;
    } else {
        outcome.verified_on.reset();
        outcome.verification_error = found->verification_error;
        outcome.tolerance = found->tolerance;
    }
}

std::shared_ptr<const Kernel> BackgroundVetter::load(const Config& config) const {
    Match match;
    match.config = config;
    return std::make_shared<const Kernel>(backend_, family_, problem_, match, backend_.device().limits);
}

}  // namespace hone::inline v0_1
