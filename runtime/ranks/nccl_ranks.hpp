#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/cuda/shared_library.hpp"
#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// A message to or from another rank's device by NCCL.
struct DeviceMessage {
    int rank = 0, tag = 0;  ///< messages between two ranks in one direction are told apart by tags
    void* data = nullptr;   ///< of the device
    std::int64_t bytes = 0;
};

/// Sums and messages between the GPUs of ranks by NVIDIA's NCCL, which is loaded at run time. Each
/// rank needs a GPU of its own: NCCL refuses two on one.
///
///     NcclRanks nccl(communicator, backend);
///     nccl.sum(words.data(), 3);                                    // on the default stream
///     nccl.exchange({{{right, 0, edge, bytes}}}, {{{right, 1, halo, bytes}}});
///
/// Everything is queued on a stream; the host waits for nothing. A sum's digits depend on the
/// number of ranks and on NCCL's algorithm; where they must not, gather sums of blocks
/// (docs/many-devices.md).
class NcclRanks {
  public:
    /// All ranks make it together. Throws Error on all of them where NCCL is missing on one (with
    /// what to install), two ranks have the same GPU, a device is no GPU, or NCCL refuses.
    NcclRanks(Communicator& communicator, Backend& backend, const cuda::LibraryCandidates& candidates = cuda::library_candidates());
    ~NcclRanks();
    NcclRanks(const NcclRanks&) = delete;
    NcclRanks& operator=(const NcclRanks&) = delete;

    /// "NCCL 2.28.9".
    const std::string& version() const;
    /// Of each word over all ranks, in place. All ranks call it.
    void sum(double* words, std::int64_t count, Stream stream = {});
    /// All messages at once. For each one that is sent, the receiver names one of the same tag and
    /// length.
    void exchange(std::span<const DeviceMessage> sends, std::span<const DeviceMessage> receives, Stream stream = {});

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
