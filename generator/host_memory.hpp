#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hone {

/// Bytes of memory that this process may have at most: what the machine has, or the less that its control groups allow. Found once.
std::int64_t usable_memory();

/// Bytes that it can still take now: what the system calls available, or the less that its control groups leave. `root`: of the file system,
/// another in tests.
std::int64_t free_memory(const std::filesystem::path& root = "/");

/// Uninitialised host memory, aligned to at least 256 bytes, to large pages from a few of them on; release with std::free.
///
/// Throws Error, naming `what` and the size asked for, when there is none, and at once for more than the process may have: the system would promise
/// it and end the process when it is used.
void* allocate_host_memory(std::int64_t bytes, const std::string& what);

}  // namespace hone
