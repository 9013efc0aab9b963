#pragma once

#include <memory>
#include <string>

#include "generator/limits.hpp"
#include "runtime/backend.hpp"
#include "runtime/device_list.hpp"
#include "tools/console/json.hpp"
#include "tools/console/options.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools {

/// The options `--device`, `--target` and `--arch`, as typed.
struct TargetOptions {
    std::string device;
    std::string target;
    std::string arch;

    void declare(Options& options);
};

/// The target of a command that generates: a device of this machine, or an architecture that need
/// not be here.
struct TargetChoice {
    Limits limits;
    std::string architecture;  ///< "sm_90"; for the CPU its instruction set
    std::string name;          ///< "NVIDIA H200", or "any sm_90" without a device
};

/// `--device NAME` means that device of this machine, with its limits. `--target cuda --arch sm_90`
/// means an architecture, whether it is here or not. `--target cuda` alone means this machine's
/// first GPU, or sm_90 where there is none; `--target cpu` this machine's processor. Nothing means
/// the best device found.
///
/// Throws Error for words that make no sense, MissingError when the named device is not here.
TargetChoice choose_target(const TargetOptions& options);

/// {"name": ..., "target": ..., "architecture": ..., "limits": {...}}
Json json_of(const TargetChoice& choice);

/// The device of a name ("cpu", "cuda", "gpu", "cuda:1", "best"), of this machine. Throws Error for
/// a name that cannot be one, MissingError, with what to install, when there is no such device.
Device find_device(const std::string& name);

/// The device of a model, whether it is here or not: of one that the records know, by its name or
/// its key ("NVIDIA H200", "nvidia_h200"), else of one that is described (find_model). Throws Error
/// naming the models that there are.
Device recorded_device(const std::string& model, const Database& database);

/// A backend for the device; errors as for `find_device`.
std::unique_ptr<Backend> open_backend(const std::string& name, DiskCache& cache);

/// The compiler for a choice, which needs no device. Throws MissingError, with what to install,
/// when there is none.
std::unique_ptr<Compiler> open_compiler(const TargetChoice& choice, DiskCache& cache);

}  // namespace hone::tools
