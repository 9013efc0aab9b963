#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// Messages of one thread with other processes, beside those of other threads: as
/// Communicator::begin_exchange and end_exchange, but for tags, which go up to
/// Processes::largest_tag.
class ProcessMessages {
  public:
    virtual ~ProcessMessages() = default;
    virtual void begin(std::span<const Send> sends, std::span<const Receive> receives) = 0;
    /// Result: the bytes that came, of each message.
    virtual std::vector<std::size_t> end() = 0;
};

/// What processes have beside a Communicator, for threads of theirs that are ranks of their own
/// (run_threads_of_processes).
class Processes {
  public:
    virtual ~Processes() = default;

    /// The threads of the processes on this host, of each by its local rank. From then on, threads
    /// may wait for messages at the same time, without spinning where there are more of them than
    /// processors. The processes of a host call it together. Throws Error where threads may not.
    virtual std::vector<int> start_threads(int own) = 0;
    /// For one thread more.
    virtual std::unique_ptr<ProcessMessages> messages() = 0;
    virtual int largest_tag() const = 0;
    /// Ends all processes of the run at once, after a line on standard error. Any thread may.
    [[noreturn]] virtual void abort(const std::string& reason) = 0;
};

}  // namespace hone::inline v0_1
