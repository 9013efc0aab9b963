#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generator/families.hpp"

namespace hone::inline v0_1 {

namespace kernel_folder {
struct Description;
}

/// A kernel that a user describes in a folder, without C++ against hone: family.json says what it
/// computes, how it is launched and what may be tuned; beside it lie sources for the processor or
/// CUDA and a plain reference (docs/your-own-kernel.md).
///
///     const hone::KernelFolder jacobi("my_kernels/jacobi");
///     const hone::Families families({jacobi.family()});
///     const hone::Problem problem = families.parse_problem("jacobi precision=f64 size=4096");
///
/// The family is called by the kernel's name and eight digits of a hash of family.json, the sources
/// that it names and all that they read: headers (interfaces/kernel_folder/headers.hpp), a
/// reference's shared library, the Python files that it imports: "jacobi:3fa91c02". So tuned
/// results of a kernel as it was before a change stay in the database and are not handed to what it
/// is now. `Families::find` takes the name alone.
class KernelFolder {
  public:
    /// Reads family.json and the sources. Nothing is compiled. Throws Error, with file, line and
    /// place, for what is not as it should be.
    explicit KernelFolder(const std::filesystem::path& folder);

    const std::filesystem::path& path() const { return path_; }
    const kernel_folder::Description& description() const { return *description_; }
    /// Holds all that it needs: the KernelFolder may go, the folder's data files are read when data
    /// is made. Its reference compiles when it first runs.
    const Family& family() const { return family_; }

  private:
    std::filesystem::path path_;  // absolute
    std::shared_ptr<const kernel_folder::Description> description_;
    Family family_;
};

/// Folders separated by colons, as HONE_KERNELS lists them.
std::vector<std::filesystem::path> listed_kernel_folders(std::string_view list);

/// Adds a kernel's family, unless it is there. Throws Error where hone has a family of its own that
/// is called so.
void add_kernel(Families& families, const KernelFolder& kernel);

/// Whether a folder has a family.json.
bool is_kernel_folder(const std::filesystem::path& folder);

}  // namespace hone::inline v0_1
