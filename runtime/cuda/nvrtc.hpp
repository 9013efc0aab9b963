#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/cuda/shared_library.hpp"

namespace hone::inline v0_1::cuda {

// Minimal declarations of NVRTC, checked against nvrtc.h like those of driver.hpp.
struct Program;

constexpr int nvrtc_success = 0;
constexpr int nvrtc_out_of_memory = 1;
constexpr int nvrtc_builtins_failure = 7;  // its library of built-in functions is not there

// clang-format off
#define HONE_NVRTC_FUNCTIONS(row)                                                                                     \
    row(version, nvrtcVersion, int, (int* major, int* minor))                                                         \
    row(error_string, nvrtcGetErrorString, const char*, (int result))                                                 \
    row(architecture_count, nvrtcGetNumSupportedArchs, int, (int* count))                                             \
    row(architectures, nvrtcGetSupportedArchs, int, (int* architectures))                                             \
    row(create_program, nvrtcCreateProgram, int, (Program** program, const char* text, const char* name, int headers, \
        const char* const* header_texts, const char* const* header_names))                                            \
    row(destroy_program, nvrtcDestroyProgram, int, (Program** program))                                               \
    row(compile_program, nvrtcCompileProgram, int, (Program* program, int count, const char* const* options))         \
    row(cubin_size, nvrtcGetCUBINSize, int, (Program* program, std::size_t* bytes))                                   \
    row(cubin, nvrtcGetCUBIN, int, (Program* program, char* bytes))                                                   \
    row(log_size, nvrtcGetProgramLogSize, int, (Program* program, std::size_t* bytes))                                \
    row(log, nvrtcGetProgramLog, int, (Program* program, char* text))
// clang-format on

/// NVRTC's functions, or what is missing.
struct Nvrtc {
    SharedLibrary library;
    std::string missing;  ///< empty when it can be used
    std::string remedy;
    std::string name;                   ///< "NVRTC 13.0"
    std::vector<int> architectures_of;  ///< that it makes code for, ascending: 75, 80, ...
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, no expression
#define HONE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
    HONE_NVRTC_FUNCTIONS(HONE_MEMBER)
#undef HONE_MEMBER
};

/// Loads NVRTC, asks its version, and makes sure that it has all that it needs to compile. It needs
/// no device and no driver.
Nvrtc load_nvrtc(const LibraryCandidates& candidates);

}  // namespace hone::inline v0_1::cuda
