#pragma once

#include <cstddef>
#include <string>

#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/shared_library.hpp"

namespace hone::inline v0_1::cuda {

// Minimal declarations of NCCL (NVIDIA Collective Communications Library, user guide), checked
// against nccl.h like those of driver.hpp.
struct NcclCommunicator;
struct NcclId {
    char bytes[128];
};

constexpr int nccl_success = 0;
constexpr int nccl_bytes = 1;  // ncclUint8
constexpr int nccl_f64 = 8;
constexpr int nccl_sum = 0;

// clang-format off
#define HONE_NCCL_FUNCTIONS(row)                                                                                                             \
    row(version, ncclGetVersion, int, (int* version))                                                                                        \
    row(error_string, ncclGetErrorString, const char*, (int result))                                                                         \
    row(unique_id, ncclGetUniqueId, int, (NcclId* id))                                                                                       \
    row(init_rank, ncclCommInitRank, int, (NcclCommunicator** communicator, int ranks, NcclId id, int rank))                                 \
    row(destroy, ncclCommDestroy, int, (NcclCommunicator* communicator))                                                                     \
    row(abort, ncclCommAbort, int, (NcclCommunicator* communicator))                                                                         \
    row(all_reduce, ncclAllReduce, int, (const void* own, void* all, std::size_t count, int type, int operation,                             \
        NcclCommunicator* communicator, StreamHandle* stream))                                                                               \
    row(send, ncclSend, int, (const void* data, std::size_t count, int type, int to, NcclCommunicator* communicator, StreamHandle* stream))  \
    row(receive, ncclRecv, int, (void* data, std::size_t count, int type, int from, NcclCommunicator* communicator, StreamHandle* stream))   \
    row(group_start, ncclGroupStart, int, ())                                                                                                \
    row(group_end, ncclGroupEnd, int, ())
// clang-format on

/// NCCL's functions, or what is missing.
struct Nccl {
    SharedLibrary library;
    std::string missing;  ///< empty when it can be used
    std::string remedy;
    std::string name;  ///< "NCCL 2.28.9"
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, no expression
#define HONE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
    HONE_NCCL_FUNCTIONS(HONE_MEMBER)
#undef HONE_MEMBER
};

/// Loads NCCL and asks its version. It needs no device.
Nccl load_nccl(const LibraryCandidates& candidates);

}  // namespace hone::inline v0_1::cuda
