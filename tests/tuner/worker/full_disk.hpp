#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/cpu/host_compiler.hpp"
#include "tests/support/environment.hpp"

namespace hone::test {

/// While one lives, workers compile by a script that ends as compilers do on a full disk, while it
/// is full.
class FullDisk {
  public:
    /// Asks for the compiler that serves before the script takes its place. There is room at first.
    explicit FullDisk(const std::filesystem::path& folder)
        : mark_(folder / "full"), real_(find_host_compiler(nullptr).path), chosen_("HONE_CXX", (folder / "c++").string()) {
        const std::filesystem::path script = folder / "c++";
        std::ofstream(script) << "#!/bin/sh\n[ \"$1\" = --version ] || ! [ -e " << mark_
                              << " ] || { echo 'kernel.s: fatal error: error writing to kernel.o: No space left on device'; exit 1; }\nexec " << real_
                              << " \"$@\"\n";
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    }

    void fill() const { std::ofstream(mark_) << "full"; }
    void make_room() const { std::filesystem::remove(mark_); }

  private:
    std::filesystem::path mark_;  // streamed in quotes
    std::filesystem::path real_;
    EnvironmentVariable chosen_;
};

}  // namespace hone::test
