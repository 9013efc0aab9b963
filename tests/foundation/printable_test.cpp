#include "foundation/printable.hpp"

#include <gtest/gtest.h>

#include <string>

#include "foundation/error.hpp"

namespace hone::printable_test {
namespace {

TEST(Printable, ShowsWhatATerminalWouldActUpon) {
    EXPECT_EQ(printable_text("a\x1b[31mred\a\r\x7f\xc2\x9b!"), R"(a\u001b[31mred\u0007\u000d\u007f\u009b!)");
    EXPECT_EQ(printable_text(std::string("a\0b", 3)), R"(a\u0000b)");
    const std::string plain = "a line,\n\tµs, 32 × 32, Ωmega, 数, 😀";
    EXPECT_EQ(printable_text(plain), plain);
}

// Trojan Source: text that is read in another order than it is written, or not seen at all.
TEST(Printable, ShowsWhatTurnsTheDirectionOrHasNoWidth) {
    EXPECT_EQ(printable_text("x\u202eevil\u202c"), R"(x\u202eevil\u202c)");
    for (const char* const text : {"\u061c", "\u200b", "\u200d", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202d", "\u2060",
                                   "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff", "\u00ad", "\u180e", "\ufff9"})
        EXPECT_TRUE(printable_text(text).starts_with("\\u")) << text;
    EXPECT_EQ(printable_text("\U000e0041"), R"(\udb40\udc41)") << "a tag, in JSON's two halves";
}

TEST(Printable, IsWhatErrorsAre) {
    EXPECT_STREQ(Error(std::string("a\0b", 3), "x\u202e", "\x1b[2J").what(), R"(a\u0000b: x\u202e; \u001b[2J)");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
    EXPECT_EQ(printable_text("\x9b"
                             "31m"),
              R"(\u009b31m)")
        << "an escape sequence of eight bits";
    EXPECT_EQ(printable_text("\xc0\x9b|\xe2\x80|\xed\xa0\x80|\xf8\xff"), R"(\u00c0\u009b|\u00e2\u0080|\u00ed\u00a0\u0080|\u00f8\u00ff)");
}

}  // namespace
}  // namespace hone::printable_test
