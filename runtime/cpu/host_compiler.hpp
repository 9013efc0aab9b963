#pragma once

#include <string>
#include <vector>

#include "runtime/compiler.hpp"

namespace hone {

/// The host's C++ compiler, or why there is none.
struct HostCompiler {
    std::string path;     ///< absolute; empty when there is none
    std::string version;  ///< first line of `--version`
    std::string missing;  ///< when there is none: what was looked for and what to install
};

/// HONE_CXX (a path or a name; where it is set, nothing else is tried), else c++, g++, clang++ on PATH.
///
/// The version is kept in `cache`, if there is one, by the program's path, size and time of change, so that a warm start does not start it.
HostCompiler find_host_compiler(const DiskCache* cache);

/// The compiler's options, in order, without files. Each has its reason in host_compiler.cpp.
std::vector<std::string> host_compiler_options();

/// `source.text` followed by the table `hone_entries` of its entry points, all callable the same way: with an array of pointers to the
/// arguments' values. Throws Error when two launches of an entry differ in their number of constants.
std::string with_entry_table(const KernelSource& source);

/// One row of that table, which ends with a null name.
struct HostEntry {
    const char* name;
    void (*launch)(void** arguments);
};

}  // namespace hone
