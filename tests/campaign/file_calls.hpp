#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

// What the preloaded library (file_calls.cpp) and the campaign agree on.
//
// The library stands before the C library's calls about files under the folder HONE_CALLS_FOLDER
// (absolute, without links), in every process whose first argument is HONE_CALLS_COMMAND (unset: in
// every process):
//
//   HONE_CALLS_LOG=FILE            appends an Event for each of these calls, with what it wrote
//   HONE_CALLS_FAIL=NAME:N:ERRNO   lets the N-th call (from 1) of that name fail with that error number; a write with ERRNO 0 writes half of its data
//                                  and has no room for the rest

namespace hone::test {

enum class Call : std::uint32_t {
    open,
    write,
    pwrite,
    read,
    fsync,
    fdatasync,
    rename,
    link,
    unlink,
    ftruncate,
    mkdir,
    rmdir,
    flock,
    lock,  ///< fcntl with F_OFD_SETLK or F_OFD_GETLK
    close,
    mark  ///< no call: the campaign's own remark in the log
};

inline constexpr std::array call_names{"open",   "write",     "pwrite", "read",  "fsync", "fdatasync", "rename", "link",
                                       "unlink", "ftruncate", "mkdir",  "rmdir", "flock", "lock",      "close",  "mark"};

/// One call, as it stands in the log: this, then the path, then the second path or the data.
struct Event {
    Call call = Call::mark;
    pid_t process = 0;
    std::int32_t error = 0;      ///< of a call that failed
    std::uint32_t injected = 0;  ///< the failure was made here
    std::uint64_t inode = 0;     ///< of the file or folder
    std::int64_t offset = 0;     ///< where it was written, or the new length
    std::uint32_t created = 0;   ///< by this open
    std::uint32_t truncated = 0;
    std::uint32_t path_bytes = 0;
    std::uint32_t more_bytes = 0;
};

}  // namespace hone::test
