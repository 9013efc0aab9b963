#include "runtime/cpu/memory_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "foundation/file_store.hpp"
#include "runtime/compiler.hpp"

namespace hone::inline v0_1 {
namespace {

// A way from the folder of descriptors to itself that is another one for each number.
std::string way(unsigned number) {
    std::string text;
    for (; number > 0; number /= 2) text += number % 2 == 0 ? "./" : ".//";
    return text;
}

}  // namespace

MemoryFile::MemoryFile(const std::string& contents) : descriptor_(memfd_create("hone", MFD_CLOEXEC)) {
    static std::atomic<unsigned> counter{1};
    if (!descriptor_.valid() || !write_all(descriptor_.get(), contents))
        throw MachineError("file in memory", system_message(errno),
                           "free memory, or set HONE_CACHE to a folder on a file system that allows execution");
    path_ = fmt::format("/proc/self/fd/{}{}", way(counter++), descriptor_.get());
}

}  // namespace hone::inline v0_1
