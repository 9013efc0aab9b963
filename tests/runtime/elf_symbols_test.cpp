#include "runtime/elf_symbols.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "foundation/file_store.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::elf_symbols_test {
namespace {

constexpr std::int64_t longest = std::int64_t{1} << 32;

// What the loader itself reads: a library of the system.
std::string shared_object() {
    for (const char* path : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6", "/usr/lib/libm.so.6"}) try {
            return read_file(path, longest);
        } catch (const std::exception&) {
            continue;
        }
    return {};
}

TEST(ElfSymbols, AreThoseOfASharedObject) {
    const std::string file = shared_object();
    if (file.empty()) GTEST_SKIP() << "libm.so.6 is in none of its usual places";
    const std::vector<ElfSymbol> symbols = elf_symbols(file);
    const auto called = [&](const std::string& name) {
        return std::find_if(symbols.begin(), symbols.end(), [&](const ElfSymbol& symbol) { return symbol.name == name; });
    };
    ASSERT_NE(called("cbrt"), symbols.end());
    EXPECT_TRUE(called("cbrt")->is_defined);
    EXPECT_TRUE(called("cbrt")->is_function);
    EXPECT_FALSE(called("cbrt")->is_entry);
    EXPECT_TRUE(std::any_of(symbols.begin(), symbols.end(), [](const ElfSymbol& symbol) { return !symbol.is_defined && !symbol.is_weak; }));
}

TEST(ElfSymbols, OfWhatIsNoWholeElfFileAreFewerAndNeverReadBehindIt) {
    EXPECT_TRUE(elf_symbols("").empty());
    EXPECT_TRUE(elf_symbols("\x7f"
                            "ELF")
                    .empty());
    EXPECT_TRUE(elf_symbols(std::string(10000, '\xff')).empty());
    const std::string file = shared_object();
    if (file.empty()) GTEST_SKIP() << "libm.so.6 is in none of its usual places";
    test::FreshRandom random;
    constexpr int damages = 200;
    for (int i = 0; i < damages; ++i) {
        std::string damaged = file.substr(0, random() % file.size());
        for (int byte = 0; byte < 20 && !damaged.empty(); ++byte)
            damaged[random() % std::min<std::size_t>(damaged.size(), 64)] = static_cast<char>(random());
        EXPECT_LE(elf_symbols(damaged).size(), file.size());  // the address sanitizer watches
        std::string heads = file;
        for (int byte = 0; byte < 8; ++byte) heads[40 + random() % 24] = static_cast<char>(random());
        EXPECT_LE(elf_symbols(heads).size(), file.size());
    }
}

}  // namespace
}  // namespace hone::elf_symbols_test
