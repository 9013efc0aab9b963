#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/backend.hpp"

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

/// Verifies each configuration as `hone tune` does finalists (tuner/worker/verifier.hpp): many
/// steps, from two sets of data, outputs poisoned in two ways. Says what is wrong by array and
/// place: outputs that are not written, written where the reference writes nothing, wrong, or that
/// depend on what was in memory; inputs that are changed; writes past an end. What is found in
/// several configurations is told once. Requires that they compile. They run in this process, which
/// ends with them where they crash (CrashGuard).
std::vector<KernelFinding> run_findings(const KernelFolder& kernel, const Problem& problem, const std::vector<Config>& configs, Backend& backend);

}  // namespace hone::tools
