// Mutated problems and configurations: never a crash, never a value outside the declaration; what
// is refused is refused with an Error.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/value_lists.hpp"
#include "tests/generator/sample_family.hpp"

namespace hone::parsing_fuzz_test {
namespace {

constexpr int inputs = 30000;

using Generator = std::mt19937_64;

std::size_t below(Generator& generator, std::size_t bound) {
    return bound == 0 ? 0 : generator() % bound;
}

// One small change: another byte, a byte more or less, a piece repeated, cut, or moved in from
// elsewhere.
std::string mutated(std::string text, const std::vector<std::string>& seeds, Generator& generator) {
    static const std::vector<std::string> pieces{"=",     ",",    "..",  " ",  "-",  "0", "9223372036854775807", "-9223372036854775808",
                                                 "1..10", "nx=4", "f32", "\n", "%s", "{}"};
    const std::size_t place = below(generator, text.size() + 1);
    switch (generator() % 6) {
        case 0:
            if (!text.empty()) text[below(generator, text.size())] = static_cast<char>(generator() % 256);
            break;
        case 1:
            text.insert(place, 1, static_cast<char>(generator() % 256));
            break;
        case 2:
            text.erase(place, 1 + below(generator, 4));
            break;
        case 3:
            text.insert(place, pieces[below(generator, pieces.size())]);
            break;
        case 4:
            text.insert(place, text.substr(below(generator, text.size() + 1), below(generator, 12)));
            break;
        default: {
            const std::string& other = seeds[below(generator, seeds.size())];
            text = text.substr(0, place) + other.substr(below(generator, other.size() + 1));
        }
    }
    return text;
}

std::string mutant(const std::vector<std::string>& seeds, Generator& generator) {
    std::string text = seeds[below(generator, seeds.size())];
    for (std::size_t changes = 1 + below(generator, 4); changes > 0; --changes) text = mutated(std::move(text), seeds, generator);
    return text;
}

// The declaration of `problem`'s family holds for every value.
void expect_declared(const Families& families, const Problem& problem) {
    const Family& family = families.of(problem);
    ASSERT_EQ(problem.parameters().size(), family.parameters.size());
    for (std::size_t i = 0; i < family.parameters.size(); ++i) {
        const ProblemParameter& declared = family.parameters[i];
        ASSERT_EQ(problem.parameters()[i].name, declared.name);
        if (declared.words.empty()) {
            const std::int64_t value = problem.integer(declared.name);
            ASSERT_TRUE(value >= declared.low && value <= declared.high) << declared.name;
        } else {
            ASSERT_NE(std::find(declared.words.begin(), declared.words.end(), problem.word(declared.name)), declared.words.end());
        }
    }
}

TEST(ParsingFuzz, NoMutantOfAProblemIsAcceptedOutsideTheDeclaration) {
    const Families families = testing::sample_families();
    const std::vector<std::string> seeds{"blur_2d kind=box order=2 precision=f64 nx=64 ny=64", "blur_2d kind=box,gauss order=1..3 nx=4 ny=4,8",
                                         "sharpen_2d kind=gauss order=10 nx=1 ny=4096", "blur_2d kind=box order=1,3..5 nx=4 ny=4"};
    const auto seed = std::random_device{}();
    Generator generator(seed);
    int accepted = 0;
    for (int i = 0; i < inputs; ++i) {
        const std::string text = mutant(seeds, generator);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", input \"" + text + "\"");
        try {
            const auto problems = families.parse_problems(text);
            ++accepted;
            for (const auto& problem : problems) {
                ASSERT_NO_FATAL_FAILURE(expect_declared(families, problem));
                ASSERT_EQ(families.parse_problem(problem.key()), problem);
            }
        } catch (const Error& error) {
            ASSERT_NE(std::string(error.what()).find("; "), std::string::npos) << "no remedy: " << error.what();
        }
    }
    EXPECT_GT(accepted, inputs / 1000) << "the mutants are too wild to reach what lies behind the first check";
    EXPECT_LT(accepted, inputs) << "nothing was refused";
}

TEST(ParsingFuzz, NoMutantOfAConfigurationIsAcceptedOutsideTheSpace) {
    const SearchSpace space(
        {{"block_x", "", numbers({16, 32, 64})}, {"unroll", "", numbers({1, 2, 4})}, {"staging", "", words({"registers", "caches"})}}, {},
        {{"block_x", std::int64_t{32}}, {"unroll", std::int64_t{1}}, {"staging", std::string("caches")}});
    const std::vector<std::string> seeds{"block_x=32,unroll=2,staging=registers", "unroll=4", "staging=caches,block_x=16", ""};
    const auto seed = std::random_device{}();
    Generator generator(seed);
    int accepted = 0;
    for (int i = 0; i < inputs; ++i) {
        const std::string text = mutant(seeds, generator);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", input \"" + text + "\"");
        try {
            const Config config = space.parse(text);
            ++accepted;
            ASSERT_FALSE(space.check(config).has_value());
            ASSERT_EQ(space.at(space.index_of(config)), config);
        } catch (const Error& error) {
            ASSERT_NE(std::string(error.what()).find("; "), std::string::npos) << "no remedy: " << error.what();
        }
    }
    EXPECT_GT(accepted, inputs / 1000);
    EXPECT_LT(accepted, inputs);
}

}  // namespace
}  // namespace hone::parsing_fuzz_test
