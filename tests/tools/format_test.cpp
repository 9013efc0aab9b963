#include "tools/format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "generator/error.hpp"

namespace hone::tools {
namespace {

TEST(Format, GivesThreeSignificantDigitsWithoutExponent) {
    EXPECT_EQ(significant(0), "0");
    EXPECT_EQ(significant(0.012345), "0.0123");
    EXPECT_EQ(significant(1.2345), "1.23");
    EXPECT_EQ(significant(9.996), "10.0");  // rounds into the next decade
    EXPECT_EQ(significant(123.4), "123");
    EXPECT_EQ(significant(12345.6), "12346");
    EXPECT_EQ(significant(-1.2345), "-1.23");
    EXPECT_EQ(significant(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Format, ChoosesTheUnitOfADuration) {
    EXPECT_EQ(duration(0), "0 ns");
    EXPECT_EQ(duration(1.94e-3), "1.94 ms");
    EXPECT_EQ(duration(4.5e-6), "4.50 us");
    EXPECT_EQ(duration(999.9e-6), "1.00 ms");  // not "1000 us"
    EXPECT_EQ(duration(12e-9), "12.0 ns");
    EXPECT_EQ(duration(35), "35.0 s");
    EXPECT_EQ(duration(59.97), "1m 00s");
    EXPECT_EQ(duration(245), "4m 05s");
    EXPECT_EQ(duration(7800), "2h 10m");
    EXPECT_EQ(duration(3599.9), "1h 00m");
    EXPECT_EQ(duration(-1), "?");
    EXPECT_EQ(duration(std::nan("")), "?");
}

TEST(Format, ChoosesTheUnitOfBytes) {
    EXPECT_EQ(bytes(0), "0 B");
    EXPECT_EQ(bytes(768), "768 B");
    EXPECT_EQ(bytes(1536), "1.50 KiB");
    EXPECT_EQ(bytes(1.5 * (1 << 30)), "1.50 GiB");
}

TEST(Format, GroupsDigits) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1 000");
    EXPECT_EQ(grouped(1234567), "1 234 567");
    EXPECT_EQ(grouped(-1000), "-1 000");
    EXPECT_EQ(grouped(-100), "-100");
}

TEST(Format, DrawsABarThatNeverLeavesItsWidth) {
    EXPECT_EQ(bar(0.5, 4), "##..");
    EXPECT_EQ(bar(0, 4), "....");
    EXPECT_EQ(bar(2, 4), "####");
    EXPECT_EQ(bar(-1, 4), "....");
    EXPECT_EQ(bar(std::nan(""), 4), "....");
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
    EXPECT_EQ(display_width("±"), 1);
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

}  // namespace
}  // namespace hone::tools
