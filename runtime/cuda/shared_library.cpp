#include "runtime/cuda/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

#include "foundation/environment.hpp"

namespace hone::inline v0_1::cuda {
namespace {

namespace fs = std::filesystem;

// The names that NVRTC has had, newest first: CUDA 13, 12, and 11.2 to 11.8.
const std::vector<std::string> nvrtc_names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
const std::vector<std::string> driver_names{"libcuda.so.1"};
const std::vector<std::string> nvml_names{"libnvidia-ml.so.1"};
const std::vector<std::string> nccl_names{"libnccl.so.2"};

std::vector<std::string> in_folder(const fs::path& folder, const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    paths.reserve(names.size());
    for (const auto& name : names) paths.push_back((folder / name).string());
    return paths;
}

}  // namespace

std::vector<fs::path> toolkit_folders() {
    std::vector<fs::path> folders;
    if (!environment_variable("HONE_CUDA_LIBRARIES").empty()) return folders;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string value = environment_variable(name); !value.empty()) folders.emplace_back(value);
    folders.emplace_back("/usr/local/cuda");
    std::vector<fs::path> versions;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/usr/local", ignored))
        if (entry.path().filename().string().starts_with("cuda-")) versions.push_back(entry.path());
    std::sort(versions.rbegin(), versions.rend());
    folders.insert(folders.end(), versions.begin(), versions.end());
    folders.emplace_back("/opt/cuda");
    return folders;
}

SharedLibrary::SharedLibrary(const std::vector<std::string>& candidates) {
    for (const auto& name : candidates) {
        handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (handle_ != nullptr) {
            link_map* map = nullptr;
            path_ = dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0' ? map->l_name : name;
            return;
        }
        // The first failure is the one to show: the later ones are guesses at where else it might
        // be.
        const char* reason = dlerror();
        if (reason_.empty() && reason != nullptr) reason_ = reason;
    }
}

void* SharedLibrary::symbol(const char* name) const {
    return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

LibraryCandidates library_candidates() {
    if (const std::string only = environment_variable("HONE_CUDA_LIBRARIES"); !only.empty())
        return {in_folder(only, driver_names), in_folder(only, nvrtc_names), in_folder(only, nvml_names), in_folder(only, nccl_names)};
    LibraryCandidates candidates{driver_names, nvrtc_names, nvml_names, nccl_names};
    for (const auto& toolkit : toolkit_folders())
        for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
            std::error_code ignored;
            if (!fs::is_directory(toolkit / folder, ignored)) continue;
            const auto nvrtc = in_folder(toolkit / folder, nvrtc_names), nccl = in_folder(toolkit / folder, nccl_names);
            candidates.nvrtc.insert(candidates.nvrtc.end(), nvrtc.begin(), nvrtc.end());
            candidates.nccl.insert(candidates.nccl.end(), nccl.begin(), nccl.end());
        }
    return candidates;
}

}  // namespace hone::inline v0_1::cuda
