#pragma once

#include <string>
#include <vector>

#include "runtime/compiler.hpp"

namespace hone::inline v0_1 {

/// The host's C++ compiler, or why there is none.
struct HostCompiler {
    std::string path;                      ///< absolute; empty when there is none
    std::string version;                   ///< first line of `--version`
    std::string missing;                   ///< when there is none: what was tried, why it does not serve, and what to install
    bool has_room = true;                  ///< else there is none because temporary files found no room, as `missing` says
    std::vector<std::string> passed_over;  ///< those before it in the order that do not serve, each with its reason
};

/// The path of the compiler that built hone. It need not be on this machine.
std::string building_compiler();

/// The first that serves of: HONE_CXX, CXX, the one that built hone, c++, g++, clang++ (paths, or
/// names on PATH). A compiler serves when it compiles a small kernel with
/// `host_compiler_options()`, and the kernel can be loaded here and computes what it should. One
/// that does not is passed over, except HONE_CXX: where it is set, nothing else is tried.
///
/// The answer is kept in `cache`, if there is one, by the program's path, size and time of change,
/// so that a warm start starts no compiler.
HostCompiler find_host_compiler(const DiskCache* cache, const std::string& builder = building_compiler());

/// The compiler's options, in order, without files. Each has its reason in host_compiler.cpp.
std::vector<std::string> host_compiler_options();

/// `source.text` followed by the table `hone_entries` of its entry points, all callable the same
/// way: with an array of pointers to the arguments' values. Throws Error when two launches of an
/// entry differ in their number of constants.
std::string with_entry_table(const KernelSource& source);

}  // namespace hone::inline v0_1
