#include "interfaces/kernel_folder/folder_file.hpp"

#include <algorithm>
#include <system_error>

#include "foundation/error.hpp"

namespace hone::inline v0_1::kernel_folder {

namespace fs = std::filesystem;

fs::path folder_file(const fs::path& folder, const std::string& name) {
    fs::path path = folder / name;
    std::error_code error;
    const fs::path root = fs::canonical(folder, error), file = fs::canonical(path, error);
    if (error) throw Error(path.string(), error.message(), "add the file to the folder");
    if (std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first != root.end())
        throw Error(path.string(), "it is a link to " + file.string() + ", outside of the kernel folder", "copy that file into the folder");
    if (!fs::is_regular_file(file, error)) throw Error(path.string(), "it is not a regular file", "put a file in its place");
    return path;
}

}  // namespace hone::inline v0_1::kernel_folder
