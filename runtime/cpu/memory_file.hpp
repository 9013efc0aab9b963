#pragma once

#include <string>

#include "foundation/descriptor.hpp"

namespace hone::inline v0_1 {

/// A file in memory, for objects to be loaded from where no folder allows execution.
class MemoryFile {
  public:
    /// Throws MachineError (runtime/compiler.hpp) where there is no memory for it.
    explicit MemoryFile(const std::string& contents);

    /// For this process, while the file lives. No two files had the same: the loader takes a path
    /// that it knows for the object that it has.
    const std::string& path() const { return path_; }

  private:
    Descriptor descriptor_;
    std::string path_;
};

}  // namespace hone::inline v0_1
