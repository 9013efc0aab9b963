// A compiler that compiles nothing, beside the fake driver: whatever has the word "wrong" in it
// fails. Its cubins have names alone, as the text has them. With
// HONE_FAKE_NVRTC_WITHOUT_BUILTINS it is one whose second library is not there.
#include <elf.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <string>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

struct Program {
    std::string text;
    std::string log;
    std::string cubin;
};

template <typename Record>
void append(std::string& bytes, const Record& record) {
    bytes.append(reinterpret_cast<const char*>(&record), sizeof(record));
}

// An ELF file of symbols alone. It does not tell kernels from functions: where there are kernels,
// all that is declared or called is one.
std::string cubin_of(const std::string& text) {
    static const std::regex function(R"((\w+)\()");
    std::string names(1, '\0'), symbols;
    append(symbols, Elf64_Sym{});
    for (std::sregex_iterator one(text.begin(), text.end(), function), end; one != end && text.find("__global__") != std::string::npos; ++one) {
        Elf64_Sym symbol{};
        symbol.st_name = static_cast<Elf64_Word>(names.size());
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbol.st_other = 0x10;  // a kernel
        symbol.st_shndx = SHN_ABS;
        append(symbols, symbol);
        names += (*one)[1].str() + '\0';
    }
    Elf64_Ehdr header{};
    std::memcpy(&header.e_ident[0], ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shoff = sizeof(header);
    header.e_shnum = 2;
    header.e_shentsize = sizeof(Elf64_Shdr);
    std::vector<Elf64_Shdr> sections(2);
    sections[0].sh_type = SHT_SYMTAB;
    sections[0].sh_link = 1;
    sections[0].sh_offset = sizeof(header) + 2 * sizeof(Elf64_Shdr);
    sections[0].sh_size = symbols.size();
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = sections[0].sh_offset + symbols.size();
    sections[1].sh_size = names.size();
    std::string file;
    append(file, header);
    for (const Elf64_Shdr& section : sections) append(file, section);
    return file + symbols + names;
}

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
    constexpr int builtins_failure = 7;
    if (std::getenv("HONE_FAKE_NVRTC_WITHOUT_BUILTINS") != nullptr) return builtins_failure;
    const bool wrong = program->text.find("wrong") != std::string::npos;
    program->log = wrong ? "kernel.cu(1): error: this is wrong\n" : "";
    program->cubin = wrong ? "" : cubin_of(program->text);
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
