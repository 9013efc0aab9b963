#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/kernel_source.hpp"
#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// DeviceGather by one kernel: each rank's GPU stores its words into the memory of all others, says
/// so by a flag there, and waits for the flags of all. Neither hosts nor events take part, so it is
/// the fastest way for few words. There is this way where there are PeerArrays.
class PeerWords {
  public:
    /// All ranks call it together; null on all of them where one has no such way, or bytes are no
    /// multiples of 4.
    static std::unique_ptr<PeerWords> make(Communicator& communicator, Backend& backend, const std::vector<std::int64_t>& bytes);
    ~PeerWords();
    PeerWords(const PeerWords&) = delete;
    PeerWords& operator=(const PeerWords&) = delete;

    /// As DeviceGather::gather.
    const void* gather(const void* own);

    /// A gathering that a kernel of the caller's does, by share_words and await_words of
    /// `device_functions`, in place of `gather`.
    struct Turn {
        const void* boxes = nullptr;  ///< device memory: of each rank the memory that it gathers in
        void* done = nullptr;         ///< counts blocks, 0 before and after
        std::byte* all = nullptr;
        int words = 0, ranks = 0, rank = 0, data = 0, flags = 0, epoch = 0;  ///< places and lengths in words of 32 bits
    };
    /// The next one. What is gathered is at `all`, until the gathering after it.
    Turn next();
    /// CUDA: `bool share_words(own, words, boxes, done, ranks, rank, data, flags, epoch)` stores
    /// the own words, in their own unit, to boxes[r] + data of all ranks r, then sets
    /// boxes[r][flags + rank] = epoch; `await_words(boxes, ranks, rank, flags, epoch)` waits until
    /// the own box has it of all. In a launch whose blocks all wait there must be no more of them
    /// than a GPU has room for.
    static std::string device_functions();

    /// `share(own, boxes, done, words, ranks, rank, data, flags, epoch)`: both, for words of 32
    /// bits.
    static KernelSource kernel();

  private:
    struct State;
    explicit PeerWords(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
