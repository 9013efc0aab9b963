#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::inline v0_1 {

/// A name of a program, shared object or cubin, from its table of symbols.
struct ElfSymbol {
    std::string name;
    bool is_defined = false;   ///< here; else another object has to have it
    bool is_function = false;  ///< code, as far as the file says it
    bool is_weak = false;
    bool is_entry = false;  ///< a kernel, of a cubin
};

/// The global symbols of an ELF file of 64 bits in memory: those for the loader where it has them,
/// as shared objects do, else all. Empty where the bytes are no such file.
std::vector<ElfSymbol> elf_symbols(std::string_view file);

}  // namespace hone::inline v0_1
