#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/kernel_folder/kernel_folder.hpp"

namespace hone::tools {

/// A mistake, or a possible one, in a kernel folder.
struct KernelFinding {
    enum class Kind { mistake, remark };
    Kind kind = Kind::mistake;
    std::string text;
};

/// Findings without running anything: tunables and parameters that nothing uses, arguments that do
/// not occur in a source.
std::vector<KernelFinding> source_findings(const KernelFolder& kernel);

/// Mistakes in a problem's space on a device: safe configuration or constraints that leave nothing,
/// values that no configuration has.
std::vector<KernelFinding> space_findings(const KernelFolder& kernel, const Problem& problem, const Limits& limits);

/// The safe configuration and some that are drawn; none where the space cannot be made.
std::vector<Config> some_members(const Family& family, const Problem& problem, const Limits& limits);

/// Mistakes of the reference: outputs that it does not write, inputs that it changes. It runs in
/// this process, which ends with it where it crashes (CrashGuard).
std::vector<KernelFinding> reference_findings(const KernelFolder& kernel, const Problem& problem);

/// The compiler's complaints about configurations, for a device that need not be here. With what
/// their entries have to look like.
std::vector<KernelFinding> compiler_findings(const KernelFolder& kernel, const Problem& problem, const std::vector<Config>& configs,
                                             const Compiler& compiler, const Limits& limits);

/// Runs a step of each configuration twice, with outputs poisoned in two ways, and compares:
/// outputs that are not written, written where the reference writes nothing, wrong, or that depend
/// on what was in memory; inputs that are changed. What is found in several configurations is told
/// once. Requires that they compile. They run in this process, which ends with them where they
/// crash (CrashGuard).
std::vector<KernelFinding> run_findings(const KernelFolder& kernel, const Problem& problem, const std::vector<Config>& configs, Backend& backend);

/// The problem with every size changed to one that few numbers divide, as far as the family takes
/// it; else the problem.
Problem odd_sized(const KernelFolder& kernel, const Problem& problem);

}  // namespace hone::tools
