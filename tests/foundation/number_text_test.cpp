#include "foundation/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace hone::number_text_test {
namespace {

TEST(NumberText, ReadsWhatCReads) {
    for (const char* text :
         {"1.5", " \t-2.5e3x", "+7", ".5", "5.", "1e400", "-1e400", "1e-400", "0.000e5", "inf", "-inf", "1,5", "1e", "0", "-0.0", "0x"}) {
        char* end = nullptr;
        const double expected = std::strtod(text, &end);
        std::size_t read = 0;
        const auto number = number_at_head(text, &read);
        ASSERT_TRUE(number) << text;
        EXPECT_EQ(*number, expected) << text;
        EXPECT_EQ(read, std::string_view(text).starts_with("0x") ? 1U : static_cast<std::size_t>(end - text)) << text;
    }
    for (const char* text : {"", " ", "x", "+", "-", "+-1", "e5", "."}) EXPECT_FALSE(number_at_head(text)) << text;
    EXPECT_TRUE(std::isnan(number_at_head("nan").value()));
}

}  // namespace
}  // namespace hone::number_text_test
