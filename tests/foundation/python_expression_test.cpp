#include "foundation/python_expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"

namespace hone::python_expression_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PythonValue evaluate(const std::string& text) {
    return PythonExpression(text, "test").evaluate([](const std::string& name) -> PythonValue {
        if (name == "block_size_x") return {std::int64_t{32}};
        if (name == "tile") return {std::int64_t{3}};
        if (name == "method") return {std::string("shared")};
        if (name == "padding") return {false};
        throw Error("test", "no " + name, "");
    });
}

std::string error_of(const std::string& text) {
    try {
        evaluate(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// Expected values are what CPython 3.11 prints for the same texts.
TEST(PythonExpression, GivesWhatPythonGives) {
    for (const auto& [text, value] :
         std::vector<std::pair<std::string, std::string>>{{"1 + 2 * 3", "7"},
                                                          {"(1 + 2) * 3", "9"},
                                                          {"7 // 2", "3"},
                                                          {"-7 // 2", "-4"},
                                                          {"-7 % 3", "2"},
                                                          {"7 % -3", "-2"},
                                                          {"7.5 % 2", "1.5"},
                                                          {"-7.5 % 2", "0.5"},
                                                          {"7 / 2", "3.5"},
                                                          {"2 ** 3 ** 2", "512"},
                                                          {"-2 ** 2", "-4"},
                                                          {"2 ** -1", "0.5"},
                                                          {"7.5 // 2", "3.0"},
                                                          {"1 < 2 < 3", "True"},
                                                          {"1 < 3 < 2", "False"},
                                                          {"not 1 == 2", "True"},
                                                          {"not not not 0", "True"},
                                                          {"not not 5", "True"},
                                                          {"1 == 1.0 == True", "True"},
                                                          {"0 or 5", "5"},
                                                          {"0 and 5", "0"},
                                                          {"3 if False else 4", "4"},
                                                          {"block_size_x * tile <= 96 and not padding", "True"},
                                                          {"method in ['shared', \"global\"]", "True"},
                                                          {"(block_size_x, tile) in [(32, 3), (64, 1)]", "True"},
                                                          {"method not in ('shared',)", "False"},
                                                          {"tile in [block_size_x, tile]", "True"},
                                                          {"tile in [block_size_x, tile + 1]", "False"},
                                                          {"tile not in [block_size_x, tile]", "False"},
                                                          {"tile not in [block_size_x, tile + 1]", "True"},
                                                          {"2.5 <= 2.5", "True"},
                                                          {"2.5 < 2.5", "False"},
                                                          {"[32 * i for i in range(1, 5)]", "[32, 64, 96, 128]"},
                                                          {"[1] + [2 * i for i in range(1, 4)]", "[1, 2, 4, 6]"},
                                                          {"[i for i in range(10, 0, -3) if i != 7]", "[10, 4, 1]"},
                                                          {"[[j for j in range(i)] for i in range(3)]", "[[], [0], [0, 1]]"},
                                                          {"max(1, 3, 2) + min([5, 4])", "7"},
                                                          {"sum(i for i in range(5)) + len([1, 2]) + abs(-3) + int(2.9)", "17"},
                                                          {"float(3)", "3.0"},
                                                          {"True + True", "2"},
                                                          {"1e3", "1000.0"},
                                                          {".5", "0.5"}})
        EXPECT_EQ(evaluate(text).text(), value) << text;
}

TEST(PythonExpression, NamesAreThoseThatItAsksFor) {
    EXPECT_THAT(PythonExpression("b * sum([a + i for i in range(n)]) if False else b", "").names(), ElementsAre("a", "b", "n"));
}

TEST(PythonExpression, RefusesWhatItDoesNotKnowAndNamesIt) {
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{{"__import__('os')", "there is no function __import__"},
                                                                                     {"tile.real", "'.' has no meaning"},
                                                                                     {"lambda 1", "\"lambda\" is not understood"},
                                                                                     {"tile is 3", "\"is\" is not understood"},
                                                                                     {"1 +", "ends too early"},
                                                                                     {"(1", "ends too early"},
                                                                                     {"1 2", "\"2\" is not understood"},
                                                                                     {"'open", "no closing quote"},
                                                                                     {"x = 1", "'=' has no meaning"},
                                                                                     {"1.2.3", "is not a number"},
                                                                                     {"99999999999999999999", "is not a number"},
                                                                                     {"", "ends too early"}})
        EXPECT_THAT(error_of(text), HasSubstr(part)) << text;
}

TEST(PythonExpression, RefusesWhatHasNoValue) {
    for (const char* text : {"1 // 0", "1 % 0", "1 / 0", "1.0 // 0.0", "method + 1", "method < 1", "[1] < [2]", "9223372036854775807 + 1", "2 ** 64",
                             "-9223372036854775807 - 2", "min([])", "range(1, 2, 0)", "range(1.5)", "len(3)", "1 in 3", "int(1e30)", "-method",
                             "range(10 ** 9)", "[i for i in range(3000) if [j for j in range(3000)]]"})
        EXPECT_NE(error_of(text), "") << text;
}

TEST(PythonExpression, DepthIsBounded) {
    EXPECT_THAT(error_of(std::string(100'000, '(')), HasSubstr("levels of nesting"));
    EXPECT_THAT(error_of(std::string(100'000, '-')), HasSubstr("levels of nesting"));
    std::string nots;
    std::string sum = "1";
    std::string powers = "1";
    for (int i = 0; i < 100'000; ++i) {
        nots += "not ";
        sum += "+1";
        powers += "**1";
    }
    EXPECT_EQ(evaluate(nots + "1").text(), "True");
    EXPECT_THAT(error_of(sum), HasSubstr("operations in a row"));
    EXPECT_THAT(error_of(powers), HasSubstr("levels of nesting"));
}

}  // namespace
}  // namespace hone::python_expression_test
