#include "generator/tidy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace hone::tidy_test {
namespace {

TEST(Tidy, ShortLinesStayAsTheyAre) {
    const std::string text = "// what it is\n\nint a = 1;  // beside it\n#pragma unroll\n    for (;;) {\n    }\n";
    EXPECT_EQ(tidy(text), text);
    EXPECT_EQ(tidy(""), "");
}

TEST(Tidy, BracesOpenBlocksAtTheEndOfALine) {
    EXPECT_EQ(tidy("void f(int a)\n{\n}\n"), "void f(int a) {\n}\n");
    EXPECT_EQ(tidy("void f(\n    int a\n)\n{\n}\n"), "void f(\n    int a\n) {\n}\n");
    EXPECT_EQ(tidy("    A(int a) : b(a)\n    {\n    }\n"), "    A(int a) : b(a) {\n    }\n");
    // A block of its own, a parallel region, a list, and a line with a comment.
    for (const char* text : {"a = 1;\n{\n}\n", "#pragma omp parallel\n{\n}\n", "int a[] = {\n{\n1}};\n", "f()  // why\n{\n}\n"})
        EXPECT_EQ(tidy(text), text);
}

TEST(Tidy, LongCodeIsBrokenWhereTheFewestBracketsAreOpen) {
    const std::string a(50, 'a'), b(50, 'b'), c(50, 'c');
    EXPECT_EQ(tidy("    x = f(" + a + ", " + b + ") + " + c + ";\n"), "    x = f(" + a + ", " + b + ")\n        + " + c + ";\n");
    EXPECT_EQ(tidy("void f(int " + a + ", int " + b + ", int " + c + ");\n"), "void f(int " + a + ", int " + b + ",\n    int " + c + ");\n");
    EXPECT_EQ(tidy("for (int i = 0; i < 2; ++i) " + a + "[i] = " + b + "[i];\n"), "for (int i = 0; i < 2; ++i)\n    " + a + "[i] = " + b + "[i];\n");
}

TEST(Tidy, AssemblerIsBrokenBeforeItsOperandsAlone) {
    const std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
    EXPECT_EQ(tidy("asm(\"" + a + ", " + b + ", %1\" : \"=r\"(" + c + "));\n"), "asm(\"" + a + ", " + b + ", %1\"\n    : \"=r\"(" + c + "));\n");
    EXPECT_EQ(tidy("asm volatile(\"" + a + "\" ::\"r\"(x), \"l\"(" + b + "), \"n\"(" + a + "));\n"),
              "asm volatile(\"" + a + "\"\n    ::\"r\"(x), \"l\"(" + b + "), \"n\"(" + a + "));\n");
}

TEST(Tidy, ABodyInTheLineOfItsHeadGetsLinesOfItsOwn) {
    const std::string a(40, 'a'), b(40, 'b');
    EXPECT_EQ(tidy("void f(int " + a + ", int " + b + ") const { g(" + a + "); h(); }\n"),
              "void f(int " + a + ", int " + b + ") const {\n    g(" + a + ");\n    h();\n}\n");
    EXPECT_EQ(tidy("  each([&](int m) { " + a + "[m] += " + b + "[m]; " + a + "(); });\n"),
              "  each([&](int m) {\n      " + a + "[m] += " + b + "[m];\n      " + a + "();\n  });\n");
    EXPECT_EQ(tidy("for (;;) { for (int i = 0; i < 2; ++i) { " + a + "(i); } " + b + "(); " + a + "(); }\n"),
              "for (;;) {\n    for (int i = 0; i < 2; ++i) { " + a + "(i); }\n    " + b + "();\n    " + a + "();\n}\n");
    EXPECT_EQ(tidy("int " + a + "[] = {" + a + ", " + b + "};\n"), "int " + a + "[] =\n    {" + a + ", " + b + "};\n") << "no body";
}

TEST(Tidy, ARowOfATableTakesLinesOfEquallyManyValues) {
    std::string row = "    {0.500000000f", flat = "    0.500000000f";
    for (int i = 1; i < 10; ++i) row += ", -0.125000000f", flat += ", -0.125000000f";
    const std::string half = ", -0.125000000f, -0.125000000f, -0.125000000f, -0.125000000f";
    EXPECT_EQ(tidy(row + "},\n"), "    {0.500000000f" + half + ",\n     -0.125000000f" + half + "},\n");
    EXPECT_EQ(tidy(flat + ",\n"), "    0.500000000f" + half + ",\n    -0.125000000f" + half + ",\n");
}

TEST(Tidy, WhatCannotBeBrokenStaysWhole) {
    EXPECT_EQ(tidy("#pragma " + std::string(200, 'x') + " y, z\n"), "#pragma " + std::string(200, 'x') + " y, z\n");
    const std::string quoted = "\"" + std::string(200, ' ') + " // , \";\n";
    EXPECT_EQ(tidy(quoted), quoted);
    EXPECT_EQ(tidy(std::string(200, 'x') + ";\n"), std::string(200, 'x') + ";\n");
}

TEST(Tidy, CommentsAreBrokenBetweenWordsAndStandAboveBrokenCode) {
    std::string words;
    for (int i = 0; i < 25; ++i) words += " words";
    EXPECT_EQ(tidy("    //" + words + "\n    // so on\n"), "    //" + words.substr(0, 19 * 6) + "\n    //" + words.substr(19 * 6) + " so on\n");
    const std::string a(70, 'a'), b(70, 'b');
    EXPECT_EQ(tidy("    int " + a + " = " + b + ";  // a, in b\n"), "    // a, in b\n    int " + a + " =\n        " + b + ";\n");
    EXPECT_EQ(tidy("int " + a + ";  // " + std::string(60, 'c') + "\n"), "// " + std::string(60, 'c') + "\nint " + a + ";\n");
}

TEST(Tidy, TheCodeOfATextIsWithoutCommentsAndLayout) {
    EXPECT_EQ(code_of("// head\nint a =\n    1;  // why\n/* more\n lines */ int b;\n"), "int a = 1; int b;");
    EXPECT_EQ(code_of("int a;\n  #define f(x) \\\n    (x)  // one\n#if 1\nint b;\n#endif\n"), "int a;\n#define f(x) (x)\n#if 1\nint b;\n#endif\n");
    EXPECT_EQ(code_of("s = \"a  // b\" ; c = '\"';  // d\nn = 1'000;  e\n"), "s = \"a  // b\" ; c = '\"'; n = 1'000; e");
    EXPECT_EQ(code_of("a \"\\\"  //\" b"), "a \"\\\"  //\" b");
    for (const char* unfinished : {"\"a", "'", "/* a", "//", "a\\", "\"\\", "#", ""}) code_of(unfinished);  // reads nothing behind its end
    EXPECT_EQ(code_of("/*"), "");
}

// Layout is all that changes: without spaces and comments the text is as before.
std::string tokens(const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "//") == 0) i = text.find('\n', i);
        if (text[i] != ' ' && text[i] != '\n') result += text[i];
    }
    return result;
}

TEST(Tidy, RandomTextsKeepTheirTokens) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::string pieces[] = {"a",    "(",   ")",   "[",           "]",    "{",           "}",  ", ", "; ", " + ",
                                  " && ", " ? ", " : ", "\"x, y; z\"", "'\"'", "  // a, b\n", "\n", "b ", "= "};
    for (int trial = 0; trial < 300; ++trial) {
        std::string text;
        for (int i = 0; i < 120; ++i) text += pieces[random() % std::size(pieces)];
        text += "\n";
        EXPECT_EQ(tokens(tidy(text)), tokens(text)) << text;
    }
}

TEST(Tidy, ACommandIsBrokenBehindCommasAndReadBackWhole) {
    std::string config = "a=1";
    for (int i = 0; i < 60; ++i) config += ",b=" + std::to_string(i);
    const std::string command = "hone emit family nx=3 ny=4 --target cpu --config " + config;
    const std::string text = tidy("// family: what it is\n// " + command + "\n// more\nint a;\n");
    EXPECT_EQ(command_of(text), command);
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) EXPECT_LE(text.find('\n', begin) - begin, kernel_columns);
    EXPECT_EQ(with_command(text, "hone emit other"), "// family: what it is\n// hone emit other\n// more\nint a;\n");
    EXPECT_EQ(command_of("int a;\n"), "");
    EXPECT_EQ(with_command("int a;\n", command), "int a;\n");
}

}  // namespace
}  // namespace hone::tidy_test
