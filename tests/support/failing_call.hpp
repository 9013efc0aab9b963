#pragma once

namespace hone::test {

/// While one lives, a call to the system fails in this process: what a disk does that is full or
/// has no locks. One at a time.
///
///     const FailingCall failing(FailingCall::Call::flock, ENOLCK);
class FailingCall {
  public:
    enum class Call {
        flock,
        ofd_lock,       ///< fcntl with F_OFD_SETLK or F_OFD_GETLK
        write_short,    ///< of 16 bytes and more writes only 8, then fails
        rename_second,  ///< every rename from the second on
    };

    FailingCall(Call call, int error);
    ~FailingCall();
    FailingCall(const FailingCall&) = delete;
    FailingCall& operator=(const FailingCall&) = delete;
};

}  // namespace hone::test
