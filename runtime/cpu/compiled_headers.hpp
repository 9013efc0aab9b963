#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/run_folder.hpp"
#include "runtime/compiler.hpp"
#include "runtime/disk_cache.hpp"

namespace hone::inline v0_1 {

/// The lines that a kernel's text begins with as far as they include headers of the system:
/// `#include <...>`, and conditions around such lines, without what stands between them. Empty when
/// there are none.
std::string leading_includes(std::string_view text);

/// Standard headers in the form that a compiler reads without parsing them again. Half of the time
/// that a kernel takes to compile goes into headers, and all kernels of a family begin with the
/// same ones.
///
/// They lie in the disk cache, by compiler, options and headers. For programs that compile many
/// kernels: one of them makes what is not there, when it meets the same headers for the second
/// time, and the others use it once it is there.
class CompiledHeaders {
  public:
    /// `compiler` with `options` as kernels are compiled; `machine`: what else the compiler's
    /// output depends on. The cache must outlive it.
    CompiledHeaders(HeaderUse use, const DiskCache& cache, std::string compiler, std::vector<std::string> options, const std::string& machine);

    /// Options to add for this text; nothing when its headers are not there. A compilation that
    /// fails with them is to be done without.
    std::vector<std::string> options_for(std::string_view text, double timeout_seconds);

  private:
    /// Headers that a text began with.
    struct Known {
        int met = 0;
        std::filesystem::path header;  ///< to be included first, with its compiled form beside it; empty: not there
    };

    std::vector<std::string> usable_for(std::string_view text, double timeout_seconds);
    bool make(const std::string& key, const std::string& includes, double timeout_seconds) const;
    std::filesystem::path placed(const std::string& key, const std::string& includes);

    HeaderUse use_;
    const DiskCache* cache_;
    std::string compiler_;
    std::vector<std::string> options_;
    std::string machine_;
    std::optional<RunFolder> folder_;  ///< where it is needed
    std::map<std::string, Known> known_;
};

}  // namespace hone::inline v0_1
