#include "foundation/value.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "foundation/error.hpp"

namespace hone::value_test {
namespace {

TEST(Value, WholeNumbersAreNumbersAndAllElseIsAWord) {
    EXPECT_EQ(parse_value("12"), Value(std::int64_t{12}));
    EXPECT_EQ(parse_value("-3"), Value(std::int64_t{-3}));
    EXPECT_EQ(parse_value("9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
    for (const char* word : {"", "f32", "12a", " 12", "12 ", "+12", "1.5", "1e3", "9223372036854775808", "0x10", "-"})
        EXPECT_EQ(parse_value(word), Value(std::string(word))) << '"' << word << '"';
}

TEST(Value, PrintsBackWhatWasRead) {
    for (const char* text : {"12", "-3", "f32", "", "semi_constant"}) EXPECT_EQ(to_string(parse_value(text)), text);
}

TEST(Value, PrecisionsAndTargetsHaveTheirCommandLineNames) {
    EXPECT_EQ(to_string(Precision::f32), "f32");
    EXPECT_EQ(to_string(Precision::f64), "f64");
    EXPECT_EQ(to_string(ValueType::i32), "int32");
    EXPECT_EQ(to_string(ValueType::f32), "float32");
    EXPECT_EQ(to_string(ValueType::f64), "float64");
    EXPECT_EQ(bytes_per_word(Precision::f32), 4);
    EXPECT_EQ(bytes_per_word(Precision::f64), 8);
    for (const Target target : {Target::cuda, Target::cpu}) EXPECT_EQ(parse_target(to_string(target)), target);
    EXPECT_THROW(parse_target("gpu"), Error);
}

TEST(Value, TheNearestWordIsFoundAndAFarOneIsNot) {
    const std::vector<std::string> families{"gauss_seidel_27", "dg_volume"};
    EXPECT_EQ(nearest_word("gauss_seidel", families), "gauss_seidel_27");
    EXPECT_EQ(nearest_word("dg_volum", families), "dg_volume");
    EXPECT_EQ(nearest_word("gd_volume", families), "dg_volume");
    EXPECT_EQ(nearest_word("poisson", families), "");
    EXPECT_EQ(nearest_word("dg_volume", {}), "");
    EXPECT_EQ(did_you_mean("dg_volum", families), "did you mean dg_volume? ");
    EXPECT_EQ(did_you_mean("poisson", families), "");
}

// Two changed letters, or a third of the word.
TEST(Value, TheNearestWordIsAsNearAsItMustBe) {
    EXPECT_EQ(nearest_word("abcdef", {"abcdxy"}), "abcdxy");
    EXPECT_EQ(nearest_word("bcdefx", {"abcdefy"}), "abcdefy") << "one letter more and one changed";
    EXPECT_EQ(nearest_word("abcdef", {"abcxyz"}), "");
    EXPECT_EQ(nearest_word("abc", {"axy"}), "axy");
    EXPECT_EQ(nearest_word("abcdefghijkl", {"abcdefghwxyz"}), "abcdefghwxyz");
    EXPECT_EQ(nearest_word("abcdefghijkl", {"abcdefgvwxyz"}), "");
    EXPECT_EQ(nearest_word("abcdef", {"abcdxy", "abcdey", "abcdez"}), "abcdey") << "the first of the nearest";
}

TEST(Value, TheNearestWordMayBeLongerWhereNoOtherHasIt) {
    const std::vector<std::string> devices{"AMD EPYC", "NVIDIA H100 80GB HBM3", "NVIDIA H200"};
    EXPECT_EQ(nearest_word("H200", devices), "NVIDIA H200");
    EXPECT_EQ(nearest_word("h100", devices), "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(nearest_word("nvidia", devices), "") << "two have it";
    EXPECT_EQ(nearest_word("H1", devices), "") << "two letters say little";
}

TEST(Value, PrecisionsAreKnownByTheirOtherNames) {
    const std::vector<std::string> precisions{"f32", "f64"};
    for (const char* word : {"double", "Double", "fp64", "float64", "real8", "r8"}) EXPECT_EQ(nearest_word(word, precisions), "f64") << word;
    for (const char* word : {"float", "single", "FP32", "float32", "real", "r4"}) EXPECT_EQ(nearest_word(word, precisions), "f32") << word;
    EXPECT_EQ(nearest_word("half", precisions), "");
    EXPECT_EQ(nearest_word("double", {"single", "doubled"}), "doubled") << "where no f64 is meant";
}

TEST(Value, AnAbsentNameOrTheOtherTypeIsAnErrorThatNamesThePlace) {
    const std::vector<Assignment> assignments{{"order", std::int64_t{5}}, {"precision", std::string("f32")}};
    EXPECT_EQ(integer_of(assignments, "order", "here"), 5);
    EXPECT_EQ(word_of(assignments, "precision", "here"), "f32");
    for (const char* name : {"precision", "nx"}) {
        try {
            integer_of(assignments, name, "here");
            ADD_FAILURE() << name << " was accepted as a number";
        } catch (const Error& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("here: ")) << error.what();
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
        }
    }
    EXPECT_THROW(word_of(assignments, "order", "here"), Error);
}

TEST(Value, AssignmentsAreJoinedInOrder) {
    EXPECT_EQ(assignments_text({{"b", std::int64_t{1}}, {"a", std::string("two")}}, ","), "b=1,a=two");
    EXPECT_EQ(assignments_text({}, ","), "");
}

}  // namespace
}  // namespace hone::value_test
