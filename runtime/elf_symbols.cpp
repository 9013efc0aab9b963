#include "runtime/elf_symbols.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace hone::inline v0_1 {
namespace {

// What CUDA's compilers set in a symbol's `other` byte for a kernel (STO_CUDA_ENTRY).
constexpr unsigned char kernel_mark = 0x10;

// A copy of what lies at an offset; false where the file ends before.
template <typename Record>
bool read(std::string_view file, std::uint64_t offset, Record& record) {
    if (offset > file.size() || file.size() - offset < sizeof(Record)) return false;
    std::memcpy(&record, file.data() + offset, sizeof(Record));
    return true;
}

std::string_view section_bytes(std::string_view file, const Elf64_Shdr& section) {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset) return {};
    return file.substr(section.sh_offset, section.sh_size);
}

std::vector<Elf64_Shdr> sections_of(std::string_view file) {
    Elf64_Ehdr header{};
    std::vector<Elf64_Shdr> sections;
    if (!read(file, 0, header) || std::memcmp(&header.e_ident[0], ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return sections;
    Elf64_Shdr section{};
    for (std::uint64_t i = 0; i < header.e_shnum && read(file, header.e_shoff + i * sizeof(section), section); ++i) sections.push_back(section);
    return sections;
}

}  // namespace

std::vector<ElfSymbol> elf_symbols(std::string_view file) {
    const std::vector<Elf64_Shdr> sections = sections_of(file);
    const Elf64_Shdr* table = nullptr;
    for (const Elf64_Shdr& section : sections)
        if (section.sh_type == SHT_DYNSYM || (section.sh_type == SHT_SYMTAB && table == nullptr)) table = &section;
    std::vector<ElfSymbol> symbols;
    if (table == nullptr || table->sh_link >= sections.size()) return symbols;
    const std::string_view rows = section_bytes(file, *table), names = section_bytes(file, sections[table->sh_link]);
    Elf64_Sym row{};
    for (std::uint64_t at = 0; read(rows, at, row); at += sizeof(row)) {
        const unsigned binding = ELF64_ST_BIND(row.st_info);
        if ((binding != STB_GLOBAL && binding != STB_WEAK) || row.st_name >= names.size()) continue;
        const std::string_view name = names.substr(row.st_name);
        const bool function = ELF64_ST_TYPE(row.st_info) == STT_FUNC;
        symbols.push_back({std::string(name.substr(0, name.find('\0'))), row.st_shndx != SHN_UNDEF, function, binding == STB_WEAK,
                           function && (row.st_other & kernel_mark) != 0});
    }
    return symbols;
}

}  // namespace hone::inline v0_1
