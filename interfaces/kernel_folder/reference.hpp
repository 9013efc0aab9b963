#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "interfaces/kernel_folder/description.hpp"

namespace hone::inline v0_1::kernel_folder {

/// Throws Error where a file that a reference runs is not what it was when the folder was read: its
/// results would be kept as those of the former one. `where` is what the error calls it.
void require_unchanged(const ReferenceSource& reference, const std::string& where);

/// The plain function of a kernel folder, compiled for the processor when it is first called, once
/// for each kind of problem, or taken from a shared library. Thread-safe.
class Reference {
  public:
    Reference(std::shared_ptr<const Description> description, std::filesystem::path folder);
    ~Reference();

    /// One step over [first, last) on arrays in host memory. Throws Error when there is no
    /// compiler, with its reason when the function does not compile, and where the answers are
    /// stored files, which no step can be made of.
    void step(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1::kernel_folder
