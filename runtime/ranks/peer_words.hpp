#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "generator/kernel_source.hpp"
#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// DeviceGather by one kernel: each rank's GPU stores its words into the memory of all others, says so by a flag there, and waits for the flags of
/// all. Neither hosts nor events take part, so it is the fastest way for few words.
///
/// A kernel that waits keeps its GPU, so there is this way only where every rank is a process of its own on a GPU of its own, and they are peers.
/// Where a rank is gone, its launcher has to end the others.
class PeerWords {
  public:
    /// All ranks call it together; null on all of them where one has no such way, or bytes are no multiples of 4.
    static std::unique_ptr<PeerWords> make(Communicator& communicator, Backend& backend, const std::vector<std::int64_t>& bytes);
    ~PeerWords();
    PeerWords(const PeerWords&) = delete;
    PeerWords& operator=(const PeerWords&) = delete;

    /// As DeviceGather::gather.
    const void* gather(const void* own);

    /// `share(own, boxes, done, first, last, ranks, rank, data, flags, epoch)`: words first to last of `own` to the places from boxes[r] + data on,
    /// of all ranks r, then boxes[r][flags + rank] = epoch, and waits until the own box has it of all. All in words of 32 bits. `done` is 0 before
    /// and after.
    static KernelSource kernel();

  private:
    struct State;
    explicit PeerWords(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
