#pragma once

#include <cstdint>
#include <string>

namespace hone {

/// Bytes of memory that this machine has.
std::int64_t physical_memory();

/// Uninitialised host memory, aligned to at least 256 bytes, to large pages from a few of them on; release with std::free.
///
/// Throws Error, naming `what` and the size asked for, when there is none, and at once for more than the machine has: the system would promise it
/// and end the process when it is used.
void* allocate_host_memory(std::int64_t bytes, const std::string& what);

}  // namespace hone
