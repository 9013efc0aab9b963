#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/device_mail.hpp"
#include "runtime/ranks/peer_words.hpp"

namespace hone::inline v0_1 {

/// Brings the words of all ranks into the memory of every rank's device, in the order of ranks: for
/// sums that each device then adds up alike, so that scalars of an iteration never leave it.
///
///     DeviceGather gather(communicator, backend, {bytes of rank 0, bytes of rank 1});
///     half.launch();                                   // leaves sums of blocks
///     next.launch(gather.gather(half.block_sums()));   // what follows from those of all ranks
///
/// GPUs that are peers of each other store into each other's memory: by PeerWords where ranks are
/// processes with a GPU each, else by a DeviceMail. The host waits for no device. Where not all are
/// peers, words go through the hosts' memory.
class DeviceGather {
  public:
    /// Bytes of each rank. All ranks make theirs together; communicator and backend must outlive
    /// it; `way` in place of message_way(communicator). Throws Error for another number of ranks.
    DeviceGather(Communicator& communicator, Backend& backend, std::vector<std::int64_t> bytes, std::optional<MessageWay> way = {});
    ~DeviceGather();
    DeviceGather(const DeviceGather&) = delete;
    DeviceGather& operator=(const DeviceGather&) = delete;

    /// Of this rank's words as the default stream leaves them. What is queued there from now on
    /// finds those of all ranks in the memory that it returns, until the next call. All ranks call
    /// it.
    const void* gather(const void* own);
    /// Where a kernel of the caller's can gather by itself and use the words in the same launch:
    /// what it does that by. Null: there is no such way.
    PeerWords* for_kernels() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
