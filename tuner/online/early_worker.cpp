#include "tuner/online/early_worker.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "foundation/processors.hpp"
#include "runtime/disk_cache.hpp"
#include "tuner/worker/worker_evaluator.hpp"
#include "tuner/worker/worker_program.hpp"

namespace hone::inline v0_1 {
namespace {

/// Without a worker the tuner starts its own, and tells why it cannot.
OpenedWorker opened(const std::vector<std::string>& command, const std::string& request, int compilers) {
    OpenedWorker worker;
    try {
        worker.temporary = std::make_unique<RunFolder>();
        worker.process = std::make_unique<ChildProcess>(command, worker.temporary->environment());
        worker.process->send(request);
        for (int i = 0; i < compilers; ++i) {
            if (i == hurried_processes(compilers)) lower_priority();
            worker.compilers.push_back(std::make_unique<ChildProcess>(command, worker.temporary->environment()));
            worker.compilers.back()->send(CompilePool::load_request);
        }
    } catch (const std::exception&) {
        worker = {};
    }
    lower_priority();
    return worker;
}

}  // namespace

void lower_priority() {
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), low_priority);  // Linux: of this thread
}

int compile_processes(const OnlineSettings& settings, Target target) {
    return settings.compile_processes > 0        ? settings.compile_processes
           : traits_of(target).shares_processors ? 1
                                                 : std::max(1, processors().usable / 2);
}

int hurried_processes(int compilers) {
    return std::min(compilers, std::max(1, processors().usable / 4));
}

int worker_threads() {
    constexpr int few = 4;
    return std::min(few, processors().usable);
}

struct EarlyWorker::State {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void(OpenedWorker)> body;
    bool over = false;
    int index = 0;  ///< of the device
};

EarlyWorker::EarlyWorker(const std::string& device, const OnlineSettings& settings) : state_(std::make_shared<State>()), process_(getpid()) {
    // The best device is the first GPU, or else its tuner drops the worker.
    const DeviceName name = device == "best" ? DeviceName{Target::cuda, 0} : parse_device_name(device);
    const std::vector<std::string> command = settings.worker.empty() ? find_worker_command() : settings.worker;
    if (traits_of(name.target).shares_processors || command.empty()) return;
    state_->index = name.index;
    const std::string request = request_to_open(name.target, name.index, settings.cache.empty() ? DiskCache::default_folder() : settings.cache,
                                                threads_word(worker_threads()));
    const OnProcessors inherited;  // not on the processor of the application's bound thread
    thread_ = std::thread([state = state_, command, request, compilers = compile_processes(settings, name.target)] {
        OpenedWorker worker = opened(command, request, compilers);
        std::unique_lock lock(state->mutex);
        state->changed.wait(lock, [&] { return state->body || state->over; });
        const auto body = std::move(state->body);
        lock.unlock();
        if (body) body(std::move(worker));
    });
}

EarlyWorker::~EarlyWorker() {
    if (!thread_.joinable()) return;
    if (getpid() != process_) {  // a fork has a copy of this, but not the thread
        thread_.detach();
        return;
    }
    {
        const std::lock_guard lock(state_->mutex);
        state_->over = true;
    }
    state_->changed.notify_all();
    thread_.join();
}

std::thread EarlyWorker::run(const Device& device, std::function<void(OpenedWorker)> body) {
    const OnProcessors inherited;
    if (!thread_.joinable() || getpid() != process_) return std::thread([body = std::move(body)] { body({}); });
    const bool same = traits_of(device.limits.target).is_numbered && device.index == state_->index;
    {
        const std::lock_guard lock(state_->mutex);
        state_->body = [same, body = std::move(body)](OpenedWorker worker) {
            if (!same) worker = {};
            body(std::move(worker));
        };
    }
    state_->changed.notify_all();
    return std::move(thread_);
}

}  // namespace hone::inline v0_1
