#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// An array of each rank in the memory of its GPU, within the reach of all other ranks' kernels:
/// they store into it, raise flags there, and wait for those that are raised in their own.
///
/// A kernel that waits keeps its GPU, so there is this way only where every rank is a process of
/// its own on a GPU of its own, and they are peers. Where a rank is gone, its launcher has to end
/// the others.
class PeerArrays {
  public:
    /// So many bytes of this rank, all 0. All ranks call it together; null on all of them where one
    /// has no such way, or asks for none.
    static std::unique_ptr<PeerArrays> make(Communicator& communicator, Backend& backend, std::int64_t bytes);
    /// Waits for this rank's GPU; that the others' are done with this array the caller knows.
    ~PeerArrays();
    PeerArrays(const PeerArrays&) = delete;
    PeerArrays& operator=(const PeerArrays&) = delete;

    std::byte* own() const;
    /// Device memory: of each rank its array, as this GPU sees it.
    const void* all() const;

  private:
    struct State;
    explicit PeerArrays(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
