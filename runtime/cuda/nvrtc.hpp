#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/cuda/shared_library.hpp"

namespace hone::cuda {

// Minimal declarations of NVRTC, checked against nvrtc.h like those of driver.hpp.
struct Program;

constexpr int nvrtc_success = 0;
constexpr int nvrtc_compilation_failed = 6;

#define HONE_NVRTC_FUNCTIONS(function)                                                                                                    \
    function(version, nvrtcVersion, int, (int* major, int* minor)) function(error_string, nvrtcGetErrorString, const char*, (int result)) \
        function(architecture_count, nvrtcGetNumSupportedArchs, int, (int* count))                                                        \
            function(architectures, nvrtcGetSupportedArchs, int, (int* architectures))                                                    \
                function(create_program, nvrtcCreateProgram, int,                                                                         \
                         (Program * *program, const char* text, const char* name, int headers, const char* const* header_texts,           \
                          const char* const* header_names)) function(destroy_program, nvrtcDestroyProgram, int, (Program * *program))     \
                    function(compile_program, nvrtcCompileProgram, int, (Program * program, int count, const char* const* options))       \
                        function(cubin_size, nvrtcGetCUBINSize, int, (Program * program, std::size_t * bytes))                            \
                            function(cubin, nvrtcGetCUBIN, int, (Program * program, char* bytes))                                         \
                                function(log_size, nvrtcGetProgramLogSize, int, (Program * program, std::size_t * bytes))                 \
                                    function(log, nvrtcGetProgramLog, int, (Program * program, char* text))

/// NVRTC's functions, or what is missing.
struct Nvrtc {
    SharedLibrary library;
    std::string missing;  ///< empty when it can be used
    std::string remedy;
    std::string name;                   ///< "NVRTC 13.0"
    std::vector<int> architectures_of;  ///< that it makes code for, ascending: 75, 80, ...
#define HONE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
    HONE_NVRTC_FUNCTIONS(HONE_MEMBER)
#undef HONE_MEMBER
};

/// Loads NVRTC and asks its version. It needs no device and no driver.
Nvrtc load_nvrtc(const LibraryCandidates& candidates);

}  // namespace hone::cuda
