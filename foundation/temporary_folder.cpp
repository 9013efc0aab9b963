#include "foundation/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {

namespace fs = std::filesystem;

fs::path temporary_place() {
    std::error_code error;
    const fs::path place = fs::temp_directory_path(error);
    return error ? fs::path("/tmp") : place;
}

TemporaryFolder::TemporaryFolder(const std::string& beginning) {
    std::string pattern = temporary_place() / (beginning + "XXXXXX");
    if (::mkdtemp(pattern.data()) == nullptr)
        throw Error("temporary folder " + pattern, std::strerror(errno), "set TMPDIR to a folder that can be written to");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace hone::inline v0_1
