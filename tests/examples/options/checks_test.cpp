#include "examples/options/checks.hpp"

#include <gtest/gtest.h>

namespace hone::examples::checks_test {
namespace {

TEST(OptionChecks, TakeNothingThatIsNoNumber) {
    for (const CLI::Validator& check : {positive(), not_negative(), between(0.1, 1e6)})
        for (const char* text : {"nan", "inf", "-inf", "", "1e999", "x", "-1"}) EXPECT_NE(check(text), "") << check.get_description() << ": " << text;
}

TEST(OptionChecks, TakeTheEndsOfARange) {
    for (const char* text : {"0.1", "1e6", "7"}) EXPECT_EQ(between(0.1, 1e6)(text), "") << text;
    for (const char* text : {"0.0999", "1000001"})
        EXPECT_EQ(between(0.1, 1e6)(text), "\"" + std::string(text) + "\" is not a number from 0.1 to 1000000");
    EXPECT_EQ(not_negative()("0"), "");
    EXPECT_NE(positive()("0"), "");
}

}  // namespace
}  // namespace hone::examples::checks_test
