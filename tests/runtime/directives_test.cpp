#include "runtime/directives.hpp"

#include <gtest/gtest.h>

namespace hone::directives_test {
namespace {

std::vector<std::string> included(std::string_view text) {
    std::vector<std::string> files;
    for (const Directive& line : directives(text))
        if (line.includes()) files.push_back(line.file());
    return files;
}

using Files = std::vector<std::string>;

TEST(Directives, SayWhatALineIncludesHoweverItIsWritten) {
    EXPECT_EQ(included("#include <a.h>\n#include \"b.h\"\n"), (Files{"a.h", "b.h"}));
    EXPECT_EQ(included("  #  include\t<a.h> // x\n"), Files{"a.h"});
    EXPECT_EQ(included("#include \"a//b.h\" /* of\nlines */\nint x;\n"), Files{"a//b.h"});
    EXPECT_EQ(included("/* a\n b */ #include <a.h>"), Files{"a.h"});
    EXPECT_EQ(included("#inc\\\nlude \\\n <a.h>\r\n"), Files{"a.h"});
    EXPECT_EQ(included("%:include <a.h>\n"), Files{"a.h"});
    EXPECT_EQ(included("#include HEADER\n"), Files{"HEADER"});
    EXPECT_EQ(directives("#include HEADER\n")[0].names(), Directive::Names::computed);
}

TEST(Directives, AreNoneInCommentsAndLiterals) {
    EXPECT_EQ(included("// \\\n#include <a.h>\n/*\n#include <b.h>\n*/\n"), Files{});
    EXPECT_EQ(included("auto a = R\"x(\n#include <a.h>\n)\" )x\";\n#include <b.h>\n"), Files{"b.h"});
    EXPECT_EQ(included("auto a = \"/*\";\n#include <a.h>\n"), Files{"a.h"});
    EXPECT_EQ(included("char a = '\"';\nint b = 1'000'000;\n#include <a.h>\n"), Files{"a.h"});
    EXPECT_EQ(included("int a = 1'000; // don't\n#include <a.h>\n"), Files{"a.h"});
    EXPECT_EQ(included("x #include <a.h>\n"), Files{});
}

TEST(Directives, KnowTheirLines) {
    const std::string text = "int a;\n#define b \\\n 2\n/* c\n*/ #if d\n";
    const auto lines = directives(text);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].line, 2);
    EXPECT_EQ(lines[0].next_line, 4);
    EXPECT_EQ(text.substr(lines[0].begin, lines[0].end - lines[0].begin), "#define b \\\n 2\n");
    EXPECT_EQ(lines[1].keyword, "if");
    EXPECT_EQ(lines[1].rest, "d");
    EXPECT_EQ(lines[1].next_line, 6);
}

TEST(Directives, EndWhereTheTextDoes) {
    for (const char* text :
         {"", "#", "#include", "#include <", "#include \"a", "/*", "\"", "'", "R\"(", "R\"", "\\", "#\\", "\\\n", "/", "%", "%:", "\"\\"})
        directives(text);
}

TEST(StandardHeaders, AreThoseThatEveryCompilerHas) {
    for (const char* name : {"vector", "cmath", "stdint.h", "omp.h", "sys/mman.h"}) EXPECT_TRUE(is_standard_header(name)) << name;
    for (const char* name : {"", "vector ", "vector.h", "mine.h", "cuda_fp16.h", "sys"}) EXPECT_FALSE(is_standard_header(name)) << name;
}

}  // namespace
}  // namespace hone::directives_test
