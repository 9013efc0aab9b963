#pragma once

#include <string>

#include "interfaces/kernel_folder/description.hpp"

namespace hone::inline v0_1::kernel_folder {

/// The arrays of a problem. Throws Error where an extent is below 1 or all are too long.
std::vector<ArraySpec> array_specs(const Description& description, const Problem& problem);

/// Compulsory work of a step.
Counts work_counts(const Description& description, const Problem& problem);

/// Length of the range: 1 where the family has none.
std::int64_t range_length(const Description& description, const Problem& problem);

/// The configurations of a side on a device: its own constraints, and what the device allows of its
/// launches.
SearchSpace search_space(const Description& description, const std::string& family, const Problem& problem, const Limits& limits);

/// The kernel of a configuration: the folder's source, with what it is told before it. A plain file
/// is told by macros, a template by constants in its hole `constants`. Before the source stand
/// declarations of its entries, so that one with other arguments does not compile, and `extern "C"`
/// is theirs already.
KernelSource kernel_source(const Description& description, const std::string& family, const Problem& problem, const Config& config,
                           const Limits& limits);

/// The folder's reference as a kernel for the processor without tunables, of one entry.
KernelSource reference_source(const Description& description, const Problem& problem);

/// How a function with a kernel's arguments is declared: "void name(const real* u, real* v, int
/// size)".
std::string declaration(const Description& description, const std::string& entry, const std::vector<Scratch>& scratch, std::size_t constants);

}  // namespace hone::inline v0_1::kernel_folder
