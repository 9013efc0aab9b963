// A compiler that compiles nothing, beside the fake driver: whatever has the word "wrong" in it
// fails.
#include <cstddef>
#include <cstring>
#include <string>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

struct Program {
    std::string text;
    std::string log;
    std::string cubin;
};

void hand_out(const std::string& text, char* to) {
    std::memcpy(to, text.data(), text.size());
}

}  // namespace

EXPORTED int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return 0;
}
EXPORTED const char* nvrtcGetErrorString(int) {
    return "NVRTC_ERROR_FAKE";
}
EXPORTED int nvrtcGetNumSupportedArchs(int* count) {
    *count = 3;
    return 0;
}
EXPORTED int nvrtcGetSupportedArchs(int* architectures) {
    for (const int architecture : {80, 90, 100}) *architectures++ = architecture;
    return 0;
}
EXPORTED int nvrtcCreateProgram(Program** program, const char* text, const char*, int, const char* const*, const char* const*) {
    *program = new Program{text, "", ""};
    return 0;
}
EXPORTED int nvrtcDestroyProgram(Program** program) {
    delete *program;
    *program = nullptr;
    return 0;
}
EXPORTED int nvrtcCompileProgram(Program* program, int, const char* const*) {
    const bool wrong = program->text.find("wrong") != std::string::npos;
    program->log = wrong ? "kernel.cu(1): error: this is wrong\n" : "";
    program->cubin = wrong ? ""
                           : "\x7f"
                             "ELF of nothing";
    return wrong ? 6 : 0;
}
EXPORTED int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
    *bytes = program->log.size() + 1;
    return 0;
}
EXPORTED int nvrtcGetProgramLog(Program* program, char* text) {
    hand_out(program->log, text);
    text[program->log.size()] = '\0';
    return 0;
}
EXPORTED int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
    *bytes = program->cubin.size();
    return 0;
}
EXPORTED int nvrtcGetCUBIN(Program* program, char* bytes) {
    hand_out(program->cubin, bytes);
    return 0;
}
