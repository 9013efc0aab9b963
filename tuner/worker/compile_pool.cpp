#include "tuner/worker/compile_pool.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "runtime/compiler.hpp"
#include "tuner/messages.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int most_unready = 2;

/// Throws what made the process useless, which is no configuration's fault.
[[noreturn]] void fail(const JsonPlace& answer) {
    const std::string why = answer["error"].string(longest_message_text);
    if (answer.find("machine_at_fault")) throw MachineError(why);
    throw Error(why);
}

CompilePool::Result read_result(const JsonPlace& answer) {
    if (const auto error = answer.find("error")) return {false, error->string(longest_message_text), 0};
    return {answer["ok"].integer(0, 1) == 1, answer["failure"].string(longest_message_text), answer["seconds"].number(0, most_message_seconds)};
}

}  // namespace

CompilePool::CompilePool(CompilePoolSettings settings) : settings_(std::move(settings)), processes_(static_cast<std::size_t>(settings_.processes)) {
    for (const WorkerCommand& command : settings_.further) processes_.emplace_back().command = command;
}

void CompilePool::set_problem(const std::string& problem) {
    cancel(true);
    results_.clear();
    problem_ = problem;
}

void CompilePool::add(const std::string& problem, const Config& config) {
    Work work{problem, config.key()};
    for (Process& process : processes_)
        if (process.work == work) process.spare = false;
    if (!known(work)) queue_.push_back(std::move(work));
}

/// Whether it is compiled, or is going to be.
bool CompilePool::known(const Work& work) const {
    return results_.count(work) != 0 || std::find(queue_.begin(), queue_.end(), work) != queue_.end() ||
           std::any_of(processes_.begin(), processes_.end(), [&](const Process& process) { return process.work == work; });
}

std::optional<CompilePool::Work> CompilePool::next_spare() {
    while (!spare_.empty()) {
        const Work work = spare_.front();
        spare_.pop_front();
        if (!known(work)) return work;
    }
    return std::nullopt;
}

std::optional<CompilePool::Result> CompilePool::result(const std::string& problem, const Config& config) const {
    const auto found = results_.find({problem, config.key()});
    return found == results_.end() ? std::nullopt : std::optional(found->second);
}

bool CompilePool::hold() {
    bool all = true;
    for (const Process& process : processes_) {
        if (!process.work) continue;
        // Its group has the compiler's programs, too.
        if (process.command)
            all = false;
        else if (!held())
            kill(-process.child->pid(), SIGSTOP);
    }
    if (!held()) held_since_ = Clock::now();
    return all;
}

void CompilePool::go_on() {
    if (!held()) return;
    for (Process& process : processes_) {
        if (!process.work || process.command) continue;
        process.held = held_seconds(process);
        kill(-process.child->pid(), SIGCONT);
    }
    held_since_.reset();
}

double CompilePool::held_seconds(const Process& process) const {
    if (!held() || process.command) return process.held;
    return process.held + std::chrono::duration<double>(Clock::now() - *held_since_).count();
}

void CompilePool::start(int most) {
    go_on();
    int at_work = busy();
    for (Process& process : processes_) {
        if (at_work >= most) return;
        if (process.work || process.retired) continue;
        std::optional<Work> work;
        const bool spare = queue_.empty();
        if (spare) {
            work = next_spare();
        } else {
            work = queue_.front();
            queue_.pop_front();
        }
        if (!work) return;
        ++at_work;
        give(process, *work);
        process.spare = spare;
    }
}

void CompilePool::open(int most) {
    for (Process& process : processes_) {
        if (most-- <= 0) return;
        if (!process.opened && !process.retired) tell(process, problem_);
    }
}

void CompilePool::set_niceness(int niceness) const {
    for (const Process& process : processes_)
        if (process.child && process.child->pid() > 0) setpriority(PRIO_PROCESS, static_cast<id_t>(process.child->pid()), niceness);
}

void CompilePool::adopt(std::vector<std::unique_ptr<ChildProcess>> children) {
    for (std::size_t i = 0; i < std::min(children.size(), processes_.size()); ++i) {
        processes_[i].child = std::move(children[i]);
        processes_[i].answers_due = 1;
    }
}

void CompilePool::forget(Process& process) {
    process = Process{.command = std::move(process.command)};
}

void CompilePool::tell(Process& process, const std::string& problem) {
    if (!process.child) {
        forget(process);
        process.child = std::make_unique<ChildProcess>(process.command ? process.command() : settings_.command, settings_.environment);
    }
    if (!std::exchange(process.opened, true)) {
        process.child->send(fmt::format(R"({{"do": "open_compiler", "architecture": {}, "limits": {}, "cache": {}, "timeout": {}{}}})",
                                        json_string(settings_.architecture), to_json(settings_.limits), json_string(settings_.cache.string()),
                                        json_number(settings_.timeout), &process == &processes_.front() ? R"(, "headers": "makes")" : ""));
        ++process.answers_due;
    }
    if (process.problem != problem) {
        process.child->send(fmt::format(R"({{"do": "problem", "problem": {}, "seed": "0"}})", json_string(problem)));
        process.problem = problem;
        ++process.answers_due;
    }
}

void CompilePool::give(Process& process, const Work& work) {
    const auto& [problem, config] = work;
    tell(process, problem);
    process.child->send(fmt::format(R"({{"do": "compile", "config": {}}})", json_string(config)));
    process.work = work;
    process.began = Clock::now();
    process.held = 0;
}

void CompilePool::collect() {
    for (Process& process : processes_)
        if (process.work) collect(process);
}

void CompilePool::collect(Process& process) {
    while (const auto line = process.child->take_line()) {
        const JsonNode answer = parse_json(*line, "answer of a compiling process");
        const JsonPlace place(answer, "answer of a compiling process");
        const bool preparation = process.answers_due > 0;
        if (preparation && !place.find("error")) {
            if (--process.answers_due == 0) unready_ = 0;
            process.began = Clock::now();  // to start and to be told a problem is no compilation's time
            process.held = 0;
            continue;
        }
        if (!preparation && !place.find("machine_at_fault")) return settle(process, read_result(place));
        const bool own = !process.command;
        retire(process);
        if (own) fail(place);
        return;
    }
    if (process.child->closed() && process.command) return retire(process);
    if (process.child->closed()) {
        const std::string end = process.child->end();
        if (process.answers_due > 0) return give_up_unready(process, "ended", end);
        settle(process, {false, "the compiler crashed: " + end, 0});
        process.child.reset();
        return;
    }
    // The compiler's own process, where there is one, is ended by its worker at the time-out; this
    // is for compilers inside the worker.
    const double spent = std::chrono::duration<double>(Clock::now() - process.began).count() - held_seconds(process);
    if (spent > settings_.timeout + settings_.grace) {
        const std::string end = fmt::format("killed after {:.3g} s", spent);
        if (process.answers_due > 0) return give_up_unready(process, "did not answer", end);
        settle(process, {false, "the compiler was " + end, spent});
        process.child.reset();
    }
}

/// What a process does before it was told of a configuration is no configuration's fault. Another
/// one gets ready in its place, unless the one before did the same: then the machine lacks
/// something.
void CompilePool::give_up_unready(Process& process, const std::string& what, const std::string& end) {
    const bool own = !process.command;
    retire(process);
    if (own && ++unready_ > most_unready)
        throw Error("process that compiles", fmt::format("it {} before it was ready, {} times in a row: {}", what, unready_, end),
                    "see whether memory or processes run out, and resume the search");
}

void CompilePool::settle(Process& process, Result result) {
    results_[*process.work] = std::move(result);
    process.work.reset();
}

/// Another process takes over its work; a further one takes no part any more, an own one is made
/// anew when there is work.
void CompilePool::retire(Process& process) {
    queue_.push_front(*process.work);
    forget(process);
    process.retired = static_cast<bool>(process.command);
}

int CompilePool::busy() const {
    return static_cast<int>(std::count_if(processes_.begin(), processes_.end(), [](const Process& process) { return process.work.has_value(); }));
}

int CompilePool::wanted() const {
    return static_cast<int>(
        std::count_if(processes_.begin(), processes_.end(), [](const Process& process) { return process.work && !process.spare; }));
}

void CompilePool::cancel(bool kill) {
    queue_.clear();
    spare_.clear();
    for (Process& process : processes_)
        if (kill && process.work) forget(process);
}

std::vector<ChildProcess*> CompilePool::children() const {
    std::vector<ChildProcess*> busy;
    for (const Process& process : processes_)
        if (process.work) busy.push_back(process.child.get());
    return busy;
}

}  // namespace hone::inline v0_1
