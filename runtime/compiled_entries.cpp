#include "runtime/compiled_entries.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>

#include "runtime/elf_symbols.hpp"

namespace hone::inline v0_1 {
namespace {

// A symbol as the compiler's messages write it: "scaled(double*)" for "_Z6scaledPd".
std::string readable(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : symbol;
}

// The name alone: without what stands before it in a template's instance, and the parameters.
std::string plain(const std::string& symbol) {
    std::string name = readable(symbol);
    name.resize(std::min(name.find('('), name.size()));
    const std::size_t type = name.find(' ');
    return type == std::string::npos || name.find('<') < type ? name : name.substr(type + 1);
}

// What linkers add to every shared object, and hone to a source.
bool is_own(const std::string& name) {
    return name == "_init" || name == "_fini" || name.starts_with("hone_");
}

std::string told(Target target, const std::set<std::string>& absent, const std::vector<std::string>& there) {
    const char* const kind = traits_of(target).has_blocks ? "kernel" : "function";
    constexpr std::size_t most = 8;
    std::string has = there.empty() ? "none" : fmt::format("{}", fmt::join(std::span(there).first(std::min(most, there.size())), ", "));
    if (there.size() > most) has += fmt::format(" and {} others", there.size() - most);
    return fmt::format("the source has no {} of the name {}; it has {}", kind, fmt::join(absent, ", "), has);
}

}  // namespace

std::vector<std::string> compiled_entries(Target target, std::string_view binary) {
    std::set<std::string> names;
    for (const ElfSymbol& symbol : elf_symbols(binary)) {
        const bool callable = traits_of(target).has_blocks ? symbol.is_entry : symbol.is_function && !symbol.is_weak;
        if (symbol.is_defined && callable && !is_own(symbol.name)) names.insert(plain(symbol.name));
    }
    return {names.begin(), names.end()};
}

std::string missing_entries(const KernelSource& source, std::string_view binary) {
    std::set<std::string> absent(source.entries.begin(), source.entries.end());
    for (const auto* plan : {&source.prepare, &source.step})
        for (const Launch& launch : *plan) absent.insert(launch.entry);
    for (const ElfSymbol& symbol : elf_symbols(binary))
        if (symbol.is_defined && (traits_of(source.target).has_blocks ? symbol.is_entry : symbol.is_function)) absent.erase(symbol.name);
    return absent.empty() ? "" : told(source.target, absent, compiled_entries(source.target, binary));
}

std::string missing_functions(std::string_view binary, std::string_view log) {
    std::set<std::string> absent;
    for (const ElfSymbol& symbol : elf_symbols(binary))
        if (!symbol.is_defined && !symbol.is_weak && log.find(readable(symbol.name)) != std::string_view::npos) absent.insert(plain(symbol.name));
    return absent.empty() ? "" : told(Target::cpu, absent, compiled_entries(Target::cpu, binary));
}

}  // namespace hone::inline v0_1
