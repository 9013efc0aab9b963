#include "runtime/cuda/nvrtc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hone::inline v0_1::cuda {
namespace {

// NVRTC compiles nothing without a second library, which it asks the loader for when it first
// compiles. One that lies beside it is loaded here, as the loader does not look there. Else whether
// it is found is tried: compiling nothing takes a twentieth of a second.
bool lacks_builtins(const Nvrtc& nvrtc, const std::string& builtins) {
    if (SharedLibrary({std::filesystem::path(nvrtc.library.path()).replace_filename(builtins).string()})) return false;
    Program* program = nullptr;
    if (nvrtc.create_program(&program, "", "nothing.cu", 0, nullptr, nullptr) != nvrtc_success) return false;
    const int result = nvrtc.compile_program(program, 0, nullptr);
    nvrtc.destroy_program(&program);
    return result == nvrtc_builtins_failure;
}

}  // namespace

Nvrtc load_nvrtc(const LibraryCandidates& candidates) {
    Nvrtc nvrtc;
    nvrtc.library = SharedLibrary(candidates.nvrtc);
    nvrtc.remedy =
        "install the CUDA toolkit's NVRTC (NVIDIA's package cuda-nvrtc-13-0, Debian's libnvrtc12), or set CUDA_PATH to the toolkit's folder";
    if (!nvrtc.library) {
        nvrtc.missing = fmt::format("no NVRTC, which compiles CUDA kernels ({})", nvrtc.library.reason());
        return nvrtc;
    }
    const auto bind = [&](const char* symbol, auto*& function) {
        if (!nvrtc.library.bind(symbol, function) && nvrtc.missing.empty())
            nvrtc.missing = fmt::format("NVRTC {} has no {}: it is older than CUDA 11.2", nvrtc.library.path(), symbol);
    };
#define HONE_BIND(member, symbol, result, parameters) bind(#symbol, nvrtc.member);
    HONE_NVRTC_FUNCTIONS(HONE_BIND)
#undef HONE_BIND
    if (!nvrtc.missing.empty()) return nvrtc;
    int major = 0;
    int minor = 0;
    int count = 0;
    if (nvrtc.version(&major, &minor) != nvrtc_success || nvrtc.architecture_count(&count) != nvrtc_success || count <= 0) {
        nvrtc.missing = fmt::format("NVRTC {} does not tell its version and architectures", nvrtc.library.path());
        return nvrtc;
    }
    if (const std::string builtins = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor); lacks_builtins(nvrtc, builtins)) {
        nvrtc.missing = fmt::format("NVRTC {} does not find {}, and compiles nothing without it", nvrtc.library.path(), builtins);
        nvrtc.remedy = "install the package that has it (NVIDIA's cuda-nvrtc, Debian's libnvrtc-builtins), or add its folder to LD_LIBRARY_PATH";
        return nvrtc;
    }
    nvrtc.name = fmt::format("NVRTC {}.{}", major, minor);
    nvrtc.architectures_of.resize(static_cast<std::size_t>(count));
    nvrtc.architectures(nvrtc.architectures_of.data());
    std::sort(nvrtc.architectures_of.begin(), nvrtc.architectures_of.end());
    nvrtc.remedy.clear();
    return nvrtc;
}

}  // namespace hone::inline v0_1::cuda
