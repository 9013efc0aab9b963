#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "generator/kernel_source.hpp"
#include "runtime/disk_cache.hpp"

namespace hone::inline v0_1 {

/// The compiler's report about one entry point. CUDA only; empty on the CPU.
struct EntryResources {
    std::string entry;
    int registers = 0;
    int shared_bytes = 0;  ///< static
    int local_bytes = 0;   ///< stack frame
    int spill_store_bytes = 0;
    int spill_load_bytes = 0;
};

/// A compiled kernel source: a cubin, or a shared object.
struct CompiledCode {
    Target target = Target::cpu;
    std::string binary;          ///< bytes
    std::filesystem::path file;  ///< CPU: a file that begins with `binary` and can be loaded; the cache may have dropped it meanwhile
    std::vector<EntryResources> resources;
    std::string log;
    double seconds = 0;  ///< of the compiler; as measured when it was built, also when it comes from the cache
    bool from_cache = false;
};

/// A compilation that may have failed: an expected outcome.
struct CompileOutcome {
    bool ok = false;
    CompiledCode code;    ///< when ok
    std::string failure;  ///< else: why, in one line; the compiler's log is in code.log
};

/// The machine is at fault: a disk is full, no folder allows execution, memory has run out, the
/// compiler or the device is gone. What was being compiled, loaded or measured meanwhile is not to
/// blame: whoever judges candidates judges none by it, and ends.
class MachineError : public Error {
  public:
    using Error::Error;
};

/// Turns a source into code for one architecture, through a disk cache. Needs no device.
/// Thread-safe.
class Compiler {
  public:
    virtual ~Compiler() = default;
    /// Name and version; part of the cache's key.
    virtual std::string version() const = 0;
    /// Throws MachineError where the compiler's temporary files find no room, and where it makes no
    /// other kernel either.
    virtual CompileOutcome compile(const KernelSource& source) const = 0;
    /// Why nothing at all can be compiled here, with the remedy; empty when it can.
    virtual std::string missing() const { return {}; }
};

/// NVRTC for `architecture` ("sm_90"). Throws Error, saying what to install, where libnvrtc is
/// absent.
std::unique_ptr<Compiler> make_nvrtc_compiler(const std::string& architecture, DiskCache& cache);

/// How a program that compiles many kernels treats the standard headers that they begin with
/// (runtime/cpu/compiled_headers.hpp): parse them each time; use their compiled form where the disk
/// cache has it; also make it there.
enum class HeaderUse { parses, uses_compiled, makes_compiled };

/// The host's C++ compiler (see runtime/cpu/host_compiler.hpp), started without a shell and killed
/// after `timeout_seconds`. Where there is none, every compilation fails with what to install, and
/// `missing` says so.
std::unique_ptr<Compiler> make_host_compiler(DiskCache& cache, double timeout_seconds = 120, HeaderUse headers = HeaderUse::parses);

}  // namespace hone::inline v0_1
