#include "tuner/worker/process_tree.hpp"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "foundation/process.hpp"

namespace hone::inline v0_1 {
namespace {

void signal_children(const std::filesystem::path& task, int signal);

void signal_process(int process, int signal) {
    kill(process, signal);
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), error)) signal_children(task.path(), signal);
}

void signal_children(const std::filesystem::path& task, int signal) {
    std::ifstream children(task / "children");
    for (int process = 0; children >> process;) signal_process(process, signal);
}

}  // namespace

void signal_children_of_thread(int thread_id, int signal) {
    signal_children(fmt::format("/proc/self/task/{}", thread_id), signal);
}

void kill_children_of_thread(int thread_id) {
    std::ifstream children(fmt::format("/proc/self/task/{}/children", thread_id));
    for (pid_t process = 0; children >> process;) kill_tree(process);
}

}  // namespace hone::inline v0_1
