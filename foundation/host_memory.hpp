#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace hone::inline v0_1 {

/// Bytes of memory that this process may have at most: what the machine has, or the less that its
/// control groups allow. Found once.
std::int64_t usable_memory();

/// Bytes that it can still take now: what the system calls available, or the less that its control
/// groups leave. `root`: of the file system, another in tests.
std::int64_t free_memory(const std::filesystem::path& root = "/");

inline constexpr std::int64_t large_page_bytes = std::int64_t{2} << 20;
/// Whether an array of that size lies on large pages.
bool lies_on_large_pages(std::int64_t bytes);
/// Where in its large page the next large array begins.
std::size_t next_place();

/// Uninitialised host memory, aligned to 256 bytes; release with release_host_memory. Large arrays
/// lie on large pages, and each begins at another place of its page: kernels that walk through a
/// dozen arrays at once would find the same cell of all of them in the same set of every cache, and
/// processors take a load for one of what was just stored at the same place of another page.
///
/// Throws Error, naming `what` and the size asked for, when there is none, and at once for more
/// than the process may have: the system would promise it and end the process when it is used.
void* allocate_host_memory(std::int64_t bytes, const std::string& what);

/// Gives back what allocate_host_memory gave; nothing for null.
void release_host_memory(void* pointer) noexcept;

}  // namespace hone::inline v0_1
