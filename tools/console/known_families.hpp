#pragma once

#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/capture.hpp"

namespace hone::tools {

/// Hone's own families, those of the kernel folders in HONE_KERNELS (separated by colons), and
/// those that this command line names. Throws Error for a folder in HONE_KERNELS that is none.
const Families& known_families();

/// The name of the family in a kernel folder, which is known from here on. Throws Error as
/// KernelFolder does, and for a name that one of hone's own families has.
std::string know_kernel_folder(const std::string& folder);

/// Has the family of a capture take the captured data for its problem from here on
/// (runtime/capture.hpp), and returns that problem. Throws Error for a family, or a version of a
/// kernel folder, that is not known.
Problem know_capture(const Capture& capture);

/// Whether a path on a command line can only be a kernel folder, or also a folder of results.
enum class PathMeans { kernel, anything };

/// A word of a command line that stands for a family: where it begins with a kernel folder
/// ("./my_kernel", or "my_kernel" where there is one and no family is called so), the family's name
/// takes the folder's place. Throws Error for a path that should be a kernel folder and is none.
std::string with_family_name(const std::string& word, PathMeans path);

/// The command that starts a worker (tuner/worker/worker.hpp) which knows the same families and
/// captures.
std::vector<std::string> worker_words();

}  // namespace hone::tools
