#include "foundation/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::text::text_test {
namespace {

TEST(Text, GivesThreeSignificantDigitsWithoutExponent) {
    EXPECT_EQ(significant(0), "0");
    EXPECT_EQ(significant(0.012345), "0.0123");
    EXPECT_EQ(significant(1.2345), "1.23");
    EXPECT_EQ(significant(9.996), "10.0");  // rounds into the next decade
    EXPECT_EQ(significant(123.4), "123");
    EXPECT_EQ(significant(12345.6), "12346");
    EXPECT_EQ(significant(-1.2345), "-1.23");
    EXPECT_EQ(significant(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Text, CountsMayBeTooLargeForWholeNumbers) {
    EXPECT_EQ(grouped_count(1234567.4), "1 234 567");
    EXPECT_EQ(grouped_count(-1000), "-1 000");
    EXPECT_EQ(grouped_count(1e20), "1e+20");
    EXPECT_EQ(grouped_count(std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(grouped_count(std::nan("")), "nan");
}

TEST(Text, ChoosesTheUnitOfADuration) {
    EXPECT_EQ(duration(0), "0 ns");
    EXPECT_EQ(duration(1.94e-3), "1.94 ms");
    EXPECT_EQ(duration(4.5e-6), "4.50 us");
    EXPECT_EQ(duration(999.9e-6), "1.00 ms");  // not "1000 us"
    EXPECT_EQ(duration(12e-9), "12.0 ns");
    EXPECT_EQ(duration(0.12e-9), "0.120 ns");
    EXPECT_EQ(duration(35), "35.0 s");
    EXPECT_EQ(duration(59.97), "1m 00s");
    EXPECT_EQ(duration(245), "4m 05s");
    EXPECT_EQ(duration(7800), "2h 10m");
    EXPECT_EQ(duration(3599.9), "1h 00m");
    EXPECT_EQ(duration(3600.0 * 24 * 365), "8760h 00m");
    EXPECT_EQ(duration(1e30), "3.17e+22 years");
    EXPECT_EQ(duration(1e300), "3.17e+292 years");
    EXPECT_EQ(duration(-1), "?");
    EXPECT_EQ(duration(std::nan("")), "?");
}

TEST(Text, ChoosesTheUnitOfBytes) {
    EXPECT_EQ(bytes(0), "0 B");
    EXPECT_EQ(bytes(768), "768 B");
    EXPECT_EQ(bytes(1536), "1.50 KiB");
    EXPECT_EQ(bytes(1023), "1023 B");
    EXPECT_EQ(bytes(1 << 20), "1.00 MiB");
    EXPECT_EQ(bytes(1.5 * (1 << 30)), "1.50 GiB");
    EXPECT_EQ(bytes(0x1p41), "2.00 TiB");
}

TEST(Text, GivesPercent) {
    EXPECT_EQ(percent(0.1234), "12.3 %");
    EXPECT_EQ(percent(1), "100 %");
}

TEST(Text, GroupsDigits) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1 000");
    EXPECT_EQ(grouped(1234567), "1 234 567");
    EXPECT_EQ(grouped(-1000), "-1 000");
    EXPECT_EQ(grouped(-100), "-100");
}

TEST(Text, DrawsABarThatNeverLeavesItsWidth) {
    EXPECT_EQ(bar(0.5, 4), "##..");
    EXPECT_EQ(bar(0, 4), "....");
    EXPECT_EQ(bar(2, 4), "####");
    EXPECT_EQ(bar(-1, 4), "....");
    EXPECT_EQ(bar(std::nan(""), 4), "....");
}

TEST(Text, WrapsLinesAtTheirWidth) {
    EXPECT_EQ(wrapped("", 10, 2), "");
    EXPECT_EQ(wrapped("one two", 7, 0), "one two") << "the last column is used";
    EXPECT_EQ(wrapped("one two", 6, 0), "one\ntwo");
    EXPECT_EQ(wrapped("one two three", 11, 4), "one two\n    three") << "the first line begins behind the indent, too";
    EXPECT_EQ(wrapped("one two three", 10, 4), "one\n    two\n    three");
    EXPECT_EQ(wrapped("longer than wide", 4, 2), "longer\n  than\n  wide") << "a word is never cut";
    EXPECT_EQ(wrapped("one two six ten", 7, 0), "one two\nsix ten");
    EXPECT_EQ(wrapped("±± ±±", 5, 0), "±± ±±");
}

TEST(Text, CountsAndCutsCharactersNotBytes) {
    EXPECT_EQ(display_width("±"), 1);
    EXPECT_EQ(cut("a±b", 2), "a±");
    EXPECT_EQ(cut("a±b", 0), "");
    EXPECT_EQ(cut("a±b", 9), "a±b");
}

}  // namespace
}  // namespace hone::text::text_test
