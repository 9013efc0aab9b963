#pragma once

#include <memory>

#include "runtime/cuda/session.hpp"
#include "runtime/peer_memory.hpp"

namespace hone::inline v0_1::cuda {

/// Memory of a GPU that others store into: by their pointers within a process, with peer access
/// where the GPUs differ; by CUDA IPC between processes of one host. Source: CUDA Driver API
/// reference manual, sections on peer context memory access and on interprocess communication.
std::unique_ptr<PeerMemory> cuda_peers(std::shared_ptr<const Session> session);

}  // namespace hone::inline v0_1::cuda
