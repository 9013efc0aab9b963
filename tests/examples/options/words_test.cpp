#include "examples/options/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "foundation/error.hpp"

namespace hone::examples::words_test {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& read) {
    try {
        read();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(NamedValue, StandsBeforeAndBehindTheFirstEquals) {
    EXPECT_EQ(named_value("--group", "a=b=c"), std::pair(std::string("a"), std::string("b=c")));
    EXPECT_EQ(named_value("--group", "a="), std::pair(std::string("a"), std::string()));
    EXPECT_THAT(refusal([] { named_value("--group", "a"); }), HasSubstr("--group: \"a\" has no =; write --group NAME=..."));
}

TEST(Numbers, AreAsManyAsTheyShouldBe) {
    EXPECT_EQ(numbers("--material", "1,2.5e-3", 2), (std::vector<double>{1, 2.5e-3}));
    EXPECT_THAT(refusal([] { numbers("--material", "1", 2); }), HasSubstr("--material: \"1\" has 1 of 2 numbers"));
    EXPECT_THAT(refusal([] { numbers("--material", "1,2,3", 2); }), HasSubstr("3 of 2 numbers"));
    for (const char* text : {"", "1,", ",1", "1,x", "1 ,2", "1,2x"})
        EXPECT_THAT(refusal([&] { numbers("--material", text, 2); }), HasSubstr("is not a number")) << text;
}

TEST(RangeOf, IsOneNumberOrAllBetweenTwo) {
    EXPECT_EQ(range_of("--order", "3", 1, 10), (std::vector<int>{3}));
    EXPECT_EQ(range_of("--order", "1..4", 1, 10), (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(range_of("--order", "10..10", 1, 10), (std::vector<int>{10}));
    for (const char* text : {"0", "11", "0..2", "9..11", "4..3", "2.5", "1..2.5", "nan", "inf", "1..inf"})
        EXPECT_THAT(refusal([&] { range_of("--order", text, 1, 10); }), HasSubstr("--order: ")) << text;
    EXPECT_THAT(refusal([] { range_of("--order", "0..2", 1, 10); }), HasSubstr("it is 0..2; use 1 to 10, or a range such as 1..10"));
}

}  // namespace
}  // namespace hone::examples::words_test
