#include "generator/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "tests/generator/sample_family.hpp"

namespace hone::families_test {
namespace {

using ::testing::HasSubstr;

const Families families = testing::sample_families();

// The text of the error that parsing gives; fails the test when there is none.
std::string error_of(const std::string& text) {
    try {
        families.parse_problems(text);
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << '"' << text << "\" was accepted";
    return "";
}

std::vector<std::string> keys_of(const std::string& text) {
    std::vector<std::string> keys;
    for (const auto& problem : families.parse_problems(text)) keys.push_back(problem.key());
    return keys;
}

TEST(Families, ListsAndRangesMeanTheirProductInOrder) {
    EXPECT_EQ(keys_of("blur_2d kind=box order=2..3 precision=f32,f64 nx=4 ny=4"),
              (std::vector<std::string>{"blur_2d kind=box order=2 precision=f32 nx=4 ny=4", "blur_2d kind=box order=2 precision=f64 nx=4 ny=4",
                                        "blur_2d kind=box order=3 precision=f32 nx=4 ny=4", "blur_2d kind=box order=3 precision=f64 nx=4 ny=4"}));
    EXPECT_EQ(keys_of("blur_2d kind=box order=7..7 nx=4 ny=4").size(), 1U);
    EXPECT_EQ(keys_of("blur_2d kind=box order=1,3..5,10 nx=4 ny=4").size(), 5U);
    EXPECT_EQ(keys_of("  blur_2d   kind=box order=1  nx=4 ny=4 ").size(), 1U);
}

TEST(Families, OneProblemWhereOneIsWanted) {
    EXPECT_EQ(families.parse_problem("blur_2d kind=box order=1 nx=4 ny=4").integer("order"), 1);
    EXPECT_THROW(families.parse_problem("blur_2d kind=box order=1,2 nx=4 ny=4"), Error);
}

TEST(Families, AFallbackFillsWhatIsLeftOutAndNothingElseMayBe) {
    EXPECT_EQ(families.parse_problem("blur_2d kind=box order=1 nx=4 ny=4").word("precision"), "f32");
    const std::string error = error_of("blur_2d kind=box nx=4 ny=4");
    EXPECT_THAT(error, HasSubstr("order is missing"));
    EXPECT_THAT(error, HasSubstr("blur_2d kind=box order=2 nx=64 ny=64")) << "the remedy shows a whole problem";
}

TEST(Families, AMisspeltNameIsAnsweredWithTheNearest) {
    EXPECT_THAT(error_of("blurr_2d kind=box order=1 nx=4 ny=4"), HasSubstr("did you mean blur_2d?"));
    EXPECT_THAT(error_of("blur_2d kind=box oder=1 nx=4 ny=4"), HasSubstr("did you mean order?"));
    EXPECT_THAT(error_of("blur_2d kind=gaus order=1 nx=4 ny=4"), HasSubstr("did you mean gauss?"));
    EXPECT_THAT(error_of("poisson kind=box order=1 nx=4 ny=4"), HasSubstr("the families are blur_2d, sharpen_2d"));
}

TEST(Families, ValuesOutsideTheDeclarationAreRefusedWithWhatIsAllowed) {
    EXPECT_THAT(error_of("blur_2d kind=box order=0 nx=4 ny=4"), HasSubstr("from 1 to 10"));
    EXPECT_THAT(error_of("blur_2d kind=box order=11 nx=4 ny=4"), HasSubstr("order is 11"));
    EXPECT_THAT(error_of("blur_2d kind=box order=1..11 nx=4 ny=4"), HasSubstr("order is 11"));
    EXPECT_THAT(error_of("blur_2d kind=box order=two nx=4 ny=4"), HasSubstr("order is two"));
    EXPECT_THAT(error_of("blur_2d kind=7 order=1 nx=4 ny=4"), HasSubstr("use one of box, gauss"));
    EXPECT_THAT(error_of("blur_2d kind=box order=99999999999999999999 nx=4 ny=4"), HasSubstr("order"));
}

TEST(Families, WhatIsNotAProblemSaysHowToWriteOne) {
    for (const char* text : {"", "   ", "blur_2d kind", "blur_2d =box", "blur_2d kind=box order=1 nx 4"})
        EXPECT_THAT(error_of(text), HasSubstr("family name=value")) << '"' << text << '"';
    EXPECT_THAT(error_of("blur_2d kind=box order=1 order=2 nx=4 ny=4"), HasSubstr("order is given twice"));
    EXPECT_THAT(error_of("blur_2d kind=box order= nx=4 ny=4"), HasSubstr("order is"));
}

TEST(Families, ARangeMustBeOne) {
    for (const char* range : {"3..1", "..", "1..", "..3", "a..b", "1..2..3", "1..100000", "-9223372036854775808..9223372036854775807",
                              "9223372036854775806..9223372036854775807"})
        EXPECT_THAT(error_of("blur_2d kind=box order=" + std::string(range) + " nx=4 ny=4"), HasSubstr("order")) << range;
}

TEST(Families, TooManyProblemsAreRefusedBeforeTheyAreMade) {
    EXPECT_THAT(error_of("blur_2d kind=box order=1..10 nx=1..4000 ny=1..4000"), HasSubstr("problems"));
}

TEST(Families, EveryErrorSaysWhereWhatAndWhatToDo) {
    for (const char* text :
         {"", "blurr_2d", "blur_2d kind", "blur_2d kind=box order=11 nx=4 ny=4", "blur_2d kind=box order=3..1 nx=4 ny=4", "blur_2d kind=box"}) {
        const std::string error = error_of(text);
        EXPECT_TRUE(error.starts_with("problem")) << error;
        EXPECT_NE(error.find(": "), std::string::npos) << error;
        const std::size_t remedy = error.rfind("; ");
        ASSERT_NE(remedy, std::string::npos) << error;
        EXPECT_GT(error.size() - remedy, 10U) << error;
    }
}

}  // namespace
}  // namespace hone::families_test
