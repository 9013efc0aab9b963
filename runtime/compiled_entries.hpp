#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/kernel_source.hpp"

namespace hone::inline v0_1 {

/// The kernels of a cubin, or the functions of a shared object that others can call: their names as
/// a source has them, without parameters. Hone's own functions around a source are left out.
std::vector<std::string> compiled_entries(Target target, std::string_view binary);

/// What a source's launch plan asks of code that does not have it, with what is there: "the source
/// has no kernel of the name jacobi; it has jacoby". Empty where the code has all entries.
std::string missing_entries(const KernelSource& source, std::string_view binary);

/// The same of a shared object that was linked although functions that it calls are nowhere, as the
/// linker's message `log` says. Empty where no name of the object stands in it.
std::string missing_functions(std::string_view binary, std::string_view log);

}  // namespace hone::inline v0_1
