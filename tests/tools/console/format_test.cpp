#include "tools/console/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "foundation/error.hpp"

namespace hone::tools::format_test {
namespace {

TEST(Percentages, AreReadWithTheirSign) {
    EXPECT_DOUBLE_EQ(parse_proper_percent("--until", "1%"), 0.01);
    EXPECT_DOUBLE_EQ(parse_proper_percent("--until", "0.5 %"), 0.005);
    for (const char* text : {"", "%", "0%", "-1%", "100%", "1%%", "nan%", "inf", "x%"})
        EXPECT_THROW(parse_proper_percent("--until", text), Error) << text;
}

TEST(Format, ReadsDurations) {
    EXPECT_EQ(parse_duration("30s"), 30);
    EXPECT_EQ(parse_duration("5m"), 300);
    EXPECT_EQ(parse_duration("1h30m"), 5400);
    EXPECT_EQ(parse_duration("90"), 90);
    EXPECT_EQ(parse_duration("0.5s"), 0.5);
    for (const char* wrong : {"", "s", "5x", "5 s", "-3s", "1m-3s", "nan", "inf", "1e3s", "five"})
        EXPECT_THROW(parse_duration(wrong), Error) << wrong;
}

TEST(Format, QuotesWhatAShellWouldTakeApart) {
    EXPECT_EQ(shell_word("./kernels/jacobi-2_d"), "./kernels/jacobi-2_d");
    EXPECT_EQ(shell_word("/größe/x"), "/größe/x");
    EXPECT_EQ(shell_word("my own"), "'my own'");
    EXPECT_EQ(shell_word("it's $HOME"), R"('it'\''s $HOME')");
    EXPECT_EQ(shell_word(""), "''");
}

// Whatever the words, no line is longer than asked unless it is one word, and nothing is lost.
TEST(Format, WrapsAnyTextWithoutLosingAWord) {
    const auto seed = std::random_device{}();
    std::mt19937 random(seed);
    std::string text;
    for (int i = 0; i < 200; ++i) text += (text.empty() ? "" : " ") + std::string(1 + random() % 12, static_cast<char>('a' + random() % 26));
    const std::string lines = wrapped(text, 40, 3);
    std::string joined;
    std::size_t begin = 0;
    while (begin <= lines.size()) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        const std::string line = lines.substr(begin, end - begin);
        EXPECT_LE(line.size(), 40U) << "seed " << seed;
        joined += (joined.empty() ? "" : " ") + line.substr(joined.empty() ? 0 : 3);
        begin = end + 1;
    }
    EXPECT_EQ(joined, text) << "seed " << seed;
}

TEST(Format, AlignsTablesAlsoWithWideCharacters) {
    Table table({{"name"}, {"time", Table::Align::right}, {"remark"}});
    table.row({"a", "1.94 ms", ""});
    table.row({"± b", "2 s", "last"});
    EXPECT_EQ(table.text(),
              "name     time  remark\n"
              "----  -------  ------\n"
              "a     1.94 ms\n"
              "± b       2 s  last\n");
}

TEST(Format, NotesOfATableWidenNothing) {
    Table table({{"a"}, {"b"}});
    table.row({"1", "2"});
    table.note("  much longer than any cell");
    table.row({"3", "4"});
    EXPECT_EQ(table.text(), "a  b\n-  -\n1  2\n  much longer than any cell\n3  4\n");
}

TEST(Format, AlignsDefinitions) {
    EXPECT_EQ(definition_list({{"a", "first"}, {"long", "second"}}), "  a     first\n  long  second\n");
}

TEST(Format, DefinitionsFitTheTerminal) {
    const std::vector<std::pair<std::string, std::string>> lines{{"winner", "form=element,elements_per_block=64,copy_width=4,padding=1,min_blocks=4"},
                                                                 {"--a-long-option NAME", "which of them; several are told one after the other"}};
    for (const int columns : {20, 40, 60, 80, 200}) {
        std::istringstream text(definition_list(lines, columns));
        std::string joined;
        for (std::string line; std::getline(text, line);) {
            EXPECT_LE(display_width(line), std::max(columns, 30)) << line;  // 30: the longest piece that has no place to break
            joined += line.substr(line.find_first_not_of(' '));
        }
        EXPECT_THAT(joined, testing::HasSubstr(lines[0].second)) << "nothing but spaces where a configuration goes on";
    }
    EXPECT_THAT(definition_list(lines), testing::HasSubstr(lines[0].second)) << "in one piece where no terminal is";
}

TEST(Format, LinesThatAreTooLongKeepTheirIndent) {
    EXPECT_EQ(fitted("  a line of words\nshort\n", 12), "  a line\n      of\n      words\nshort\n");
    EXPECT_EQ(fitted("  a=1,b=2,c=3,d=4\n", 14), "  a=1,b=2,\n      c=3,d=4\n");
    EXPECT_EQ(fitted("as it is, however long", 0), "as it is, however long");
}

}  // namespace
}  // namespace hone::tools::format_test
