#pragma once

#include <mutex>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/cuda/driver.hpp"

namespace hone::inline v0_1::cuda {

/// The driver, a device and its primary context; shared by a backend and its modules, the last of
/// which releases the context.
class Session {
  public:
    /// Throws Error when the driver makes no context.
    Session(Driver driver, Device device, const LibraryCandidates& candidates);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const Driver& driver() const { return driver_; }
    const Device& device() const { return device_; }
    Context* context() const { return context_; }

    /// Throws Error, naming the device, `what` was done, CUDA's code and text, and a remedy, unless
    /// `result` is success.
    void check(Result result, const std::string& what) const {
        if (result != success) fail(result, what);
    }
    [[noreturn]] void fail(Result result, const std::string& what) const;

    /// Before blocks are launched that wait for each other: says once that another program's could
    /// take their room.
    void warn_of_other_clients() const;

  private:
    Driver driver_;
    Device device_;
    mutable std::once_flag warned_;
    int handle_ = 0;
    Context* context_ = nullptr;
};

/// Makes the session's context current in this thread; at the end the thread has the one that it
/// had.
class Current {
  public:
    explicit Current(const Session& session);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    /// For what must not throw.
    bool ok() const { return result_ == success; }
    void check() const;

  private:
    const Session* session_;
    Result result_ = success;
    bool pushed_ = false;
};

inline StreamHandle* handle_of(Stream stream) {
    return static_cast<StreamHandle*>(stream.handle);
}

}  // namespace hone::inline v0_1::cuda
