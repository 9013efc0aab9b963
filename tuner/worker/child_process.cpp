#include "tuner/worker/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/process.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t most_complaints = 4096;  // bytes kept of the child's standard error

[[noreturn]] void fail(const std::string& program, int error) {
    throw Error("worker process " + program, fmt::format("cannot be started: {}", std::strerror(error)),
                "check the limits on processes and open files (ulimit -u, ulimit -n)");
}

/// Appends what is there; false at the end.
bool drain(int descriptor, std::string& text) {
    std::array<char, 1 << 14> buffer{};
    while (true) {
        const ssize_t got = read(descriptor, buffer.data(), buffer.size());
        if (got > 0)
            text.append(buffer.data(), static_cast<std::size_t>(got));
        else if (got == 0 || (errno != EINTR && errno != EAGAIN))
            return false;
        else if (errno == EAGAIN)
            return true;
    }
}

std::string last_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment,
                           const std::vector<int>& on_processors) {
    fill_standard_descriptors();
    std::array<int, 2> sockets{};
    std::array<int, 2> pipe{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) fail(command.front(), errno);
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        close(sockets[0]);
        close(sockets[1]);
        fail(command.front(), error);
    }
    socket_ = sockets[0];
    errors_ = pipe[0];
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    fcntl(errors_, F_SETFL, O_NONBLOCK);
    const auto release = [&] {
        close(sockets[1]);
        close(pipe[1]);
    };
    try {
        if (const int error = start_process(command, {sockets[1], sockets[1], pipe[1]}, pid_, Group::own, environment, on_processors); error != 0)
            fail(command.front(), error);
    } catch (...) {
        release();
        close(socket_);
        close(errors_);
        throw;
    }
    release();
}

ChildProcess::~ChildProcess() {
    end();
    close(socket_);
    close(errors_);
}

void ChildProcess::send(const std::string& line) {
    const std::string text = line + "\n";
    std::size_t sent = 0;
    while (sent < text.size()) {
        const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count > 0) {
            sent += static_cast<std::size_t>(count);
        } else if (count < 0 && errno == EAGAIN) {
            pollfd room{socket_, POLLOUT, 0};
            poll(&room, 1, 1000);
        } else if (errno != EINTR) {
            return;
        }
    }
}

void ChildProcess::read_output() {
    if (!ended_output_ && !drain(socket_, lines_)) ended_output_ = true;
}

void ChildProcess::read_errors() {
    if (!ended_errors_ && !drain(errors_, complaints_)) ended_errors_ = true;
    if (complaints_.size() > most_complaints) complaints_.erase(0, complaints_.size() - most_complaints);
}

std::optional<std::string> ChildProcess::take_line() {
    read_output();
    const std::size_t end = lines_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = lines_.substr(0, end);
    lines_.erase(0, end + 1);
    return line;
}

std::string ChildProcess::end() {
    if (pid_ < 0) return how_it_ended_;
    // A child that closed its output is about to end by itself, and how it ends tells more than our
    // signal.
    for (int patience = 0; ended_output_ && patience < 100; ++patience) {
        siginfo_t info{};
        if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) break;
        poll(nullptr, 0, 10);
    }
    kill_tree(pid_);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    read_errors();
    how_it_ended_ = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                                        : fmt::format("exit code {}", WEXITSTATUS(status));
    if (const std::string complaint = last_line(complaints_); !complaint.empty()) how_it_ended_ += ": " + complaint;
    return how_it_ended_;
}

void ChildProcess::wait(std::span<ChildProcess* const> children, double seconds) {
    std::vector<pollfd> waiting;
    for (const ChildProcess* child : children) {
        waiting.push_back({child->ended_output_ ? -1 : child->socket_, POLLIN, 0});
        waiting.push_back({child->ended_errors_ ? -1 : child->errors_, POLLIN, 0});
    }
    poll(waiting.data(), waiting.size(), static_cast<int>(seconds * 1000));
    for (ChildProcess* child : children) {
        child->read_output();
        child->read_errors();
    }
}

}  // namespace hone::inline v0_1
