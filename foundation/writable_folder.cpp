#include "foundation/writable_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "foundation/file_store.hpp"

namespace hone::inline v0_1 {

std::string why_not_writable(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::path nearest = folder;
    while (!std::filesystem::exists(nearest, error) && nearest.has_relative_path()) nearest = nearest.parent_path();
    if (::access((nearest / ".").c_str(), W_OK | X_OK) == 0) return "";
    const std::string reason = system_message(errno);
    return nearest == folder ? reason : nearest.string() + ": " + reason;
}

}  // namespace hone::inline v0_1
