#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/backend.hpp"

namespace hone::inline v0_1 {

/// A piece of device memory into which devices of other ranks store, with a few events and flags
/// that order their work: where it was made, or as another rank's device sees it. Used by one
/// thread; the backend must outlive it.
class PeerBox {
  public:
    static constexpr int events = 2;

    virtual ~PeerBox() = default;
    /// Its memory, for the copies and kernels of the device that made or opened it.
    virtual std::byte* memory() const = 0;
    /// Bytes that another rank on this host needs to open it.
    virtual std::vector<std::byte> ticket() const = 0;
    /// Event `number` is when all that is queued on the stream now has been done. Only where the
    /// box was made. `outside`: for another process.
    virtual void record(int number, Stream stream, bool outside) = 0;
    /// What is queued on the stream from now on runs after event `number`, as it was recorded last.
    /// That it was recorded the caller knows by other means: of an event that never was nobody
    /// waits.
    virtual void wait(int number, Stream stream) = 0;

    /// Of one that was opened: another process made it; and on another device, too. Only then a
    /// kernel here may wait for one there.
    virtual bool is_outside() const { return false; }
    virtual bool is_apart() const { return false; }

    /// A word of 32 bits in the box's memory beside the rest, 0 at first, by which streams of
    /// different processes wait for each other without their hosts; null where the device has no
    /// such way.
    virtual void* flag() const { return nullptr; }
    /// The flag is `value` when all that is queued on the stream now has been done, and seen so by
    /// whoever reads it. Where it was opened.
    virtual void set_flag(std::uint32_t /*value*/, Stream /*stream*/) {}
    /// What is queued on the stream from now on runs once the flag is at least `value`. Where it
    /// was made. Somebody must set it: a stream that waits cannot be told otherwise.
    virtual void await_flag(std::uint32_t /*value*/, Stream /*stream*/) {}
};

/// Access to a device's memory for the stores of others. A backend has it where its kind of device
/// has such a way (Backend::peers).
///
///     const auto mine = backend.peers()->make(bytes);      // this rank
///     const auto there = backend.peers()->open(ticket);    // another one: its device stores into there->memory()
///
/// Memory that was made is kept for boxes to come until the process ends, as CUDA wants it: another
/// process may have it open for longer than this one can know.
class PeerMemory {
  public:
    virtual ~PeerMemory() = default;
    /// Throws Error where the device refuses.
    virtual std::unique_ptr<PeerBox> make(std::int64_t bytes) = 0;
    /// Of the same process, whichever of its devices, or of another process of this host. Throws
    /// Error with the reason where there is no way to it.
    virtual std::unique_ptr<PeerBox> open(std::span<const std::byte> ticket) = 0;
    /// How many devices of this kind this process sees.
    virtual int devices() const { return 1; }
};

}  // namespace hone::inline v0_1
