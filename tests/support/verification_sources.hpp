#pragma once

#include <filesystem>
#include <string>

namespace hone::test {

/// The code by which kernels of a family are verified, as text: the family's reference, data and
/// tolerance (generator/families/<family>/reference, data, family and what they include there),
/// what all families have in common of that, the comparison, and the options that kernels are
/// compiled with. Without comments of whole lines and indentation.
///
/// Sources that make kernels are no part of it, because their texts show what they do. Nor is
/// anything that depends on the machine. `root`: of the source tree.
std::string verification_sources(const std::filesystem::path& root, const std::string& family);

/// The text of one source, in the same form. `file`: as a compiler names it, of which the part from
/// "tests/" on counts. Throws Error when it cannot be read.
std::string verification_source(const std::filesystem::path& root, const std::string& file);

}  // namespace hone::test
