#pragma once

#include <filesystem>

namespace hone::inline v0_1 {

/// Where the files lie that belong to this hone. Nothing says that they are there.
struct Package {
    std::filesystem::path records;  ///< folder of the tuned results that ship with it
    std::filesystem::path program;  ///< the `hone` command
};

/// Of a program that is built together with hone: the records of the source tree and the command of
/// the build folder. Of a program that uses an installed hone: those below the prefix where CMake
/// found the package, wherever it was moved since it was built.
Package package();

}  // namespace hone::inline v0_1
