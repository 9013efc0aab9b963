#include "runtime/writable_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tuning_db/file_store.hpp"

namespace hone::inline v0_1 {

std::string why_not_writable(std::filesystem::path folder) {
    std::error_code error;
    while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    return ::access((folder / ".").c_str(), W_OK | X_OK) == 0 ? "" : system_message(errno);
}

}  // namespace hone::inline v0_1
