#include "tests/tools/hone_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace hone::test {
namespace {

std::string contents(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void redirect(int to, const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, to);
    close(file);
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void pause_shortly() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

const char* HoneProcess::program() {
    return HONE_EXECUTABLE;
}

HoneProcess::HoneProcess(const std::vector<std::string>& arguments, Terminal terminal) {
    std::vector<char*> words{const_cast<char*>(program())};
    for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    const auto out = folder_.path() / "out";
    const auto error = folder_.path() / "error";
    winsize size{24, 80, 0, 0};
    cpu_set_t processors;  // clang's OpenMP gives a child those that the program began with
    sched_getaffinity(0, sizeof processors, &processors);
    pid_ = terminal == Terminal::yes ? forkpty(&terminal_, nullptr, nullptr, &size) : fork();
    if (pid_ < 0) throw std::runtime_error("no process could be started");
    if (pid_ == 0) {
        sched_setaffinity(0, sizeof processors, &processors);
        redirect(STDOUT_FILENO, out);
        if (terminal == Terminal::no) redirect(STDERR_FILENO, error);
        execv(program(), words.data());
        _exit(127);
    }
}

HoneProcess::~HoneProcess() {
    if (running()) {
        send(SIGKILL);
        waitpid(pid_, &status_, 0);
    }
    if (terminal_ >= 0) close(terminal_);
}

bool HoneProcess::running() {
    drain_terminal();
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return !ended_;
}

void HoneProcess::drain_terminal() {
    pollfd state{terminal_, POLLIN, 0};
    while (terminal_ >= 0 && poll(&state, 1, 0) > 0 && (state.revents & POLLIN) != 0) {
        char buffer[4096];
        const ssize_t length = read(terminal_, buffer, sizeof buffer);
        if (length <= 0) return;
        terminal_text_.append(buffer, static_cast<std::size_t>(length));
    }
}

bool HoneProcess::wait_for(const std::string& text, double seconds) {
    for (const double end = now() + seconds; now() < end; pause_shortly()) {
        const bool alive = running();
        if (error().find(text) != std::string::npos) return true;
        if (!alive) return false;
    }
    return false;
}

void HoneProcess::send(int signal) const {
    kill(pid_, signal);
}

int HoneProcess::wait(double seconds) {
    for (const double end = now() + seconds; running(); pause_shortly())
        if (now() > end) {
            send(SIGKILL);
            waitpid(pid_, &status_, 0);
            ended_ = true;
        }
    drain_terminal();
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
}

std::string HoneProcess::out() const {
    return contents(folder_.path() / "out");
}

std::string HoneProcess::error() const {
    return terminal_ >= 0 ? terminal_text_ : contents(folder_.path() / "error");
}

}  // namespace hone::test
