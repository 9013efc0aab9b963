#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hone::inline v0_1::cuda {

/// A library that is loaded at run time, if it is there. It stays loaded until the process ends, as
/// NVIDIA's libraries want it.
///
///     SharedLibrary driver({"libcuda.so.1"});
///     int (*init)(unsigned) = nullptr;
///     if (driver.bind("cuInit", init)) init(0);
class SharedLibrary {
  public:
    SharedLibrary() = default;
    /// The first of `candidates` (names for the loader's own search, or paths) that loads.
    explicit SharedLibrary(const std::vector<std::string>& candidates);

    explicit operator bool() const { return handle_ != nullptr; }
    const std::string& path() const { return path_; }      ///< the file that was loaded
    const std::string& reason() const { return reason_; }  ///< why nothing was loaded, as the loader says it

    /// Sets `function` to the symbol `name`. False, leaving it null, when the library has none.
    template <typename Function>
    bool bind(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(symbol(name));
        return function != nullptr;
    }

  private:
    void* symbol(const char* name) const;

    void* handle_ = nullptr;
    std::string path_;
    std::string reason_;
};

/// Where NVIDIA's libraries are looked for, first to last.
struct LibraryCandidates {
    std::vector<std::string> driver;
    std::vector<std::string> nvrtc;
    std::vector<std::string> nvml;
    std::vector<std::string> nccl = {};
};

/// Folders of CUDA toolkits that may be on this machine, in the order of preference: CUDA_HOME,
/// CUDA_PATH and the usual places, newest version first. None where HONE_CUDA_LIBRARIES names a
/// folder.
std::vector<std::filesystem::path> toolkit_folders();

/// The loader's own search, then CUDA_HOME, CUDA_PATH and the usual folders of the toolkit, newest
/// version first. Where HONE_CUDA_LIBRARIES names a folder, that folder alone: an empty one makes a
/// machine look as if it had neither driver nor toolkit.
LibraryCandidates library_candidates();

}  // namespace hone::inline v0_1::cuda
