#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "runtime/backend.hpp"
#include "tuner/online/tuner.hpp"

namespace hone::inline v0_1 {

struct OpenedWorker;

/// A quarter of an ordinary thread's share of a core: how much an application may lose is the
/// policy's business, and what never runs finds nothing. Not of the worker of a GPU, which takes
/// little, and which all candidates wait for.
constexpr int low_priority = 5;
/// Of the calling thread and of the processes that it starts from now on.
void lower_priority();

/// Processes that compile beside an application: half of its processors for a GPU, one for the CPU,
/// if the settings do not say. An application that sets up has use for all of them.
int compile_processes(const OnlineSettings& settings, Target target);

/// Of them, those that have the application's own priority until it steps: with fewer rights they
/// would wait for its end of setting up, where that takes all processors. They take a quarter.
int hurried_processes(int compilers);

/// Threads in which the worker of a GPU makes data and expected answers. Of a team as large as the
/// application's own each thread would wait for the slowest.
int worker_threads();

/// The worker of an online tuner, and its compilers, started before the application opens its own
/// device. Opening one takes a GPU's driver some tenths of a second, so both do it at the same
/// time:
///
///     hone::OnlineSettings settings;
///     settings.early = std::make_shared<hone::EarlyWorker>("cuda", settings);  // first of all
///     const auto backend = hone::make_backend("cuda", cache);
///     ...
///     hone::OnlineTuner tuner(*backend, families, folder, problem, arrays, settings);
///
/// The first tuner that has it in its settings takes them. If no tuner does, or that tuner's device
/// is another one, the processes are killed. For processors nothing is started.
class EarlyWorker {
  public:
    /// `device` as in make_backend; of `settings` the worker's command and the cache are read.
    /// Returns at once. Throws Error where `device` is no device's name.
    explicit EarlyWorker(const std::string& device, const OnlineSettings& settings = {});
    ~EarlyWorker();
    EarlyWorker(const EarlyWorker&) = delete;
    EarlyWorker& operator=(const EarlyWorker&) = delete;

    /// A thread that runs `body`: the one that started the worker, whose child it is, the first
    /// time. `body` gets the worker, or an empty one where it is not `device`'s.
    std::thread run(const Device& device, std::function<void(OpenedWorker)> body);

  private:
    struct State;
    std::shared_ptr<State> state_;
    std::thread thread_;
    int process_ = 0;  ///< whose thread it is
};

}  // namespace hone::inline v0_1
