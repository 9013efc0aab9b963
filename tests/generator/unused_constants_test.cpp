#include "generator/unused_constants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hone::unused_constants_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnusedConstants, AreTakenOutOneByOne) {
    EXPECT_EQ(without_unused_constants("constexpr int a = 1, b = 2, c = 3;\nint f() { return a + c; }\n"),
              "constexpr int a = 1, c = 3;\nint f() { return a + c; }\n");
    EXPECT_EQ(without_unused_constants("    static constexpr real t[2][1] = {\n        {1},\n        {2}};\nint f();\n"), "int f();\n");
    EXPECT_EQ(without_unused_constants("template <int n, int m = 2>\nconstexpr int twice = 2 * n;\nint f();\n"), "int f();\n");
    EXPECT_EQ(without_unused_constants("void f() {\n    const int k = a[i] + int(b);\n    g();\n}\n"), "void f() {\n    g();\n}\n");
}

TEST(UnusedConstants, GoWithThoseThatOnlyTheyNeeded) {
    EXPECT_EQ(without_unused_constants("constexpr int a = 1;\nconstexpr int b = a;\nconstexpr int c = b, d = 2;\nint f() { return d; }\n"),
              "constexpr int d = 2;\nint f() { return d; }\n");
}

TEST(UnusedConstants, CommentsKeepWhatIsAboutWhatStays) {
    const auto left = [](const std::string& declaration) {
        const std::string text = without_unused_constants(declaration + "\nint f() { return a + c; }\n");
        return text.substr(0, text.find("\nint f"));
    };
    EXPECT_EQ(left("constexpr int a = 1, b = 2, c = 3;  // of one, of two, of three"), "constexpr int a = 1, c = 3;  // of one, of three");
    EXPECT_EQ(left("constexpr int a = 1, b = 2, c = 3;  // in words"), "constexpr int a = 1, c = 3;  // in words");
    EXPECT_EQ(left("constexpr int a = 1, b = 2, c = 3;  // b: in words, and more"), "constexpr int a = 1, c = 3;");
    EXPECT_EQ(left("constexpr int a = 1, b = 2, c = 3;  // a: in words, of one, of two"),
              "constexpr int a = 1, c = 3;  // a: in words, of one, of two");
    EXPECT_EQ(left("constexpr int a = 1, c = 3;\n// Only about b.\nconstexpr int b = 2;\n"), "constexpr int a = 1, c = 3;\n");
    EXPECT_EQ(left("// About all.\nconstexpr int b = 2;\nconstexpr int a = 1, c = 3;"), "// About all.\nconstexpr int a = 1, c = 3;");
}

TEST(UnusedConstants, WhatIsNoneStays) {
    for (const char* text : {
             "constexpr int a = 1;\n#pragma unroll a\nfor (;;) {\n}\n",                                // used by the preprocessor
             "constexpr int f(int x) {\n    return x;\n}\n",                                           // a function
             "void f(const real* x,\n    const real* y) {\n}\n",                                       // parameters
             "struct A {\n    const real* x;\n    const int n;\n};\n",                                 // members that others set
             "void f() {\n    const int before = atomicAdd(x, 1);\n}\n",                               // a call may do more
             "void f() {\n    const int before = x++;\n}\n",                                           // and so may this
             "int a = 1;\n",                                                                           // no constant
             "void f() {\n    if constexpr (x) g();\n}\n",                                             // no declaration
             "// const int a = 1;\n/* const int b = 1; */\nchar c[] = \"\\\"; const int d = 1;\";\n",  // no code
         }) {
        EXPECT_THAT(unused_constants(text), IsEmpty()) << text;
        EXPECT_EQ(without_unused_constants(text), text);
    }
}

TEST(UnusedConstants, AreNamedInTheirOrder) {
    EXPECT_THAT(unused_constants("constexpr int b = 1;\n// a comment's word: b\nconst int a = b;\nconstexpr unsigned c = 2, d = c;\n"),
                ElementsAre("a", "d"));
    for (const char* unfinished : {"constexpr", "const int a", "constexpr int a = {", "template <", "\"", "/*", "const int a = 1"})
        EXPECT_EQ(without_unused_constants(unfinished), unfinished);  // reads nothing behind its end
}

TEST(UnusedConstants, LongDeclarationsAreLaidOutAnew) {
    std::string declaration = "constexpr int used = 0, unused = 1";
    for (int i = 0; i < 12; ++i) declaration += ",\n    name_" + std::to_string(i) + " = " + std::to_string(i);
    std::string uses;
    for (int i = 0; i < 12; ++i) uses += " + name_" + std::to_string(i);
    const std::string text = without_unused_constants(declaration + ";\nint f() {\n    return used" + uses + ";\n}\n");
    EXPECT_TRUE(text.starts_with("constexpr int used = 0, name_0 = 0, name_1 = 1,")) << text;
    for (std::size_t begin = 0; begin < text.find("int f"); begin = text.find('\n', begin) + 1) EXPECT_LE(text.find('\n', begin) - begin, 120U);
}

}  // namespace
}  // namespace hone::unused_constants_test
