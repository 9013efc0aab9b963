#include "tests/support/places.hpp"

#include "runtime/disk_cache.hpp"

namespace hone::test {

// The only source that knows where the tree and its build lie: a compiler cache serves all others
// wherever it was checked out.
std::string source_path(const std::filesystem::path& relative) {
    return (std::filesystem::path(HONE_SOURCE_FOLDER) / relative).string();
}

std::string fake_driver_folder() {
    return HONE_FAKE_DRIVER_FOLDER;
}

std::string kernel_cache_folder() {
    return DiskCache::default_folder().string() + "-tests";
}

}  // namespace hone::test
