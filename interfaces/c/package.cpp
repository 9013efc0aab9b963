// Where an application's libhone finds its records and the `hone` program: below the prefix that it
// lies in, wherever that was moved; in a build, where every other program of the tree finds them.
// Takes the place of the library's own answer (tuning_db/package.cpp), which is fixed when it is
// linked. Where the C++ libraries are shared, they find it by its name (package.map), else it is
// hidden as all but hone.h is (hone.map).
#include "tuning_db/package.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "interfaces/c/hone.h"

namespace hone::inline v0_1 {

[[gnu::visibility("default")]] Package package() {
    namespace fs = std::filesystem;
    Dl_info own{};
    std::error_code error;
    fs::path folder;
    if (dladdr(reinterpret_cast<void*>(&hone_abi), &own) != 0 && own.dli_fname != nullptr) folder = fs::canonical(own.dli_fname, error).parent_path();
    // lib, lib64 or lib/<architecture>
    for (int levels = 0; levels < 2 && folder.has_relative_path(); ++levels) {
        folder = folder.parent_path();
        if (fs::is_directory(folder / "share" / "hone" / "records", error)) return {folder / "share" / "hone" / "records", folder / "bin" / "hone"};
    }
    return {HONE_PACKAGE_RECORDS, HONE_PACKAGE_PROGRAM};
}

}  // namespace hone::inline v0_1
