#include "generator/block.hpp"

#include <gtest/gtest.h>

namespace hone::block_test {
namespace {

using Lines = std::vector<std::string>;

TEST(Block, NestsByFourSpaces) {
    Block block;
    block.line("real sum = {};", 0);
    block.open("do").open("for (int m = 0; m < 4; ++m)").line("sum += d[m];").close().close(" while (false);");
    EXPECT_EQ(block.lines(),
              (Lines{"real sum = 0;", "do {", "    for (int m = 0; m < 4; ++m) {", "        sum += d[m];", "    }", "} while (false);"}));
}

TEST(Block, AppendedLinesKeepTheirShapeAtTheNewDepth) {
    Block inner;
    inner.open("if (active)").text("x = 1;").close();
    Block outer;
    outer.open("for (;;)").append(inner).close();
    EXPECT_EQ(outer.lines(), (Lines{"for (;;) {", "    if (active) {", "        x = 1;", "    }", "}"}));
}

TEST(Block, TextIsNotFormattedAndEmptyLinesStayEmpty) {
    Block block;
    block.open("f()").text("int a[] = {0, 1};").text("").close();
    EXPECT_EQ(block.lines(), (Lines{"f() {", "    int a[] = {0, 1};", "", "}"}));
}

TEST(Block, TakesTheLinesOfARenderedTemplate) {
    Block block;
    block.open("f()").lines_of("a;\n\n    b;\n").lines_of("c;").lines_of("").close();
    EXPECT_EQ(block.lines(), (Lines{"f() {", "    a;", "", "        b;", "    c;", "}"}));
}

TEST(Block, ListsAsManyItemsInALineAsFit) {
    EXPECT_EQ(Block().list({"int nx", "int ny"}).lines(), (Lines{"int nx, int ny"}));
    EXPECT_EQ(Block().list({std::string(60, 'a'), std::string(39, 'b'), "c"}).lines(),
              (Lines{std::string(60, 'a') + ",", std::string(39, 'b') + ", c"}));
    EXPECT_TRUE(Block().list({}).empty());
}

TEST(Block, StartsEmpty) {
    EXPECT_TRUE(Block().empty());
    EXPECT_FALSE(Block().text("").empty());
}

}  // namespace
}  // namespace hone::block_test
