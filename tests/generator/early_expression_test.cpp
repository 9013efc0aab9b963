#include "generator/early_expression.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "foundation/error.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::early_expression_test {
namespace {

using Verdict = EarlyAnswer::Verdict;
using Levels = std::vector<std::uint16_t>;
using Tunables = std::shared_ptr<const std::vector<EarlyName>>;

std::vector<PythonValue> whole(const std::vector<std::int64_t>& numbers) {
    std::vector<PythonValue> values;
    for (const std::int64_t number : numbers) values.push_back({number});
    return values;
}

Tunables abc() {
    return std::make_shared<const std::vector<EarlyName>>(
        std::vector<EarlyName>{{"a", whole({1, 2, 4, 8})}, {"b", whole({1, 2, 4, 8})}, {"c", whole({1, 2, 4, 8})}});
}

EarlyAnswer answer(const std::string& text, const Levels& levels, const Tunables& tunables = abc()) {
    EarlyExpression rule(PythonExpression(text, "rule"), tunables, [](const std::string&) -> PythonValue { return {std::int64_t{16}}; });
    return rule.ask(levels);
}

TEST(EarlyExpression, IsDecidedAsSoonAsTheIntervalsSaySo) {
    EXPECT_EQ(answer("a * b * c <= 512", {}).verdict, Verdict::holds) << "the greatest product";
    EXPECT_EQ(answer("a * b * c <= 63", {3}).verdict, Verdict::open);
    EXPECT_EQ(answer("a * b * c <= 63", {3, 3}).verdict, Verdict::broken) << "64 at least";
    EXPECT_EQ(answer("a + b + c == 2", {}).verdict, Verdict::broken) << "3 at least";
    EXPECT_EQ(answer("a <= 4 and b * c > 100", {3}).verdict, Verdict::broken) << "one operand is enough";
    EXPECT_EQ(answer("a == 8 or b * c > 100", {3}).verdict, Verdict::holds);
    EXPECT_EQ(answer("min(a, b, c) < 1", {}).verdict, Verdict::broken);
    EXPECT_EQ(answer("a in [3, 5] or b in (1, 2)", {}).verdict, Verdict::open);
    EXPECT_EQ(answer("c in [16, 32]", {}).verdict, Verdict::broken);
    EXPECT_EQ(answer("c <= limit", {}).verdict, Verdict::holds) << "a name that always has a value";
    EXPECT_EQ(answer("(a + b) % 16 < 20", {}).verdict, Verdict::holds);
    EXPECT_EQ(answer("(c if a > 2 else b) > 8", {}).verdict, Verdict::broken);
}

TEST(EarlyExpression, FactorsAndSummandsThatAreKnownCountTogether) {
    EXPECT_EQ(answer("a * b * c <= 63", {0, 2}).rest, answer("a * b * c <= 63", {2, 0}).rest) << "4 times c";
    EXPECT_NE(answer("a * b * c <= 63", {0, 2}).rest, answer("a * b * c <= 63", {3, 0}).rest);
    EXPECT_EQ(answer("c * 2 * a * b == 16", {1, 2}).rest, answer("c * 2 * a * b == 16", {2, 1}).rest);
    EXPECT_EQ(answer("a + 3 - c + b < 5", {0, 1}).rest, answer("a + 3 - c + b < 5", {1, 0}).rest);
}

TEST(EarlyExpression, OfAListOfListsThoseRemainThatBeginAlike) {
    const char* const text = "(a, c, b) in [(1, 2, 4), (1, 4, 4), (2, 2, 1)]";
    EXPECT_EQ(answer(text, {3}).verdict, Verdict::broken);
    EXPECT_EQ(answer(text, {0}).verdict, Verdict::open);
    EXPECT_EQ(answer(text, {0, 0}).verdict, Verdict::broken);
    EXPECT_EQ(answer(text, {0, 2, 1}).verdict, Verdict::holds);
    EXPECT_EQ(answer(std::string("not ") + text, {3}).verdict, Verdict::holds);
}

TEST(EarlyExpression, WhatHasNoValueIsLeftToTheEnd) {
    EXPECT_EQ(answer("8 // (a - 1) > c", {0}).verdict, Verdict::open) << "division by zero";
    EXPECT_THROW(answer("8 // (a - 1) > c", {0, 0, 0}), Error);
    EXPECT_EQ(answer("a != 1 and 8 // (a - 1) > c", {0}).verdict, Verdict::broken);
}

// Expressions of all kinds, drawn.
class Drawn {
  public:
    explicit Drawn(test::FreshRandom& random) : random_(random) {}

    Tunables tunables() {
        std::vector<EarlyName> all;
        const std::size_t count = 2 + below(3);
        for (std::size_t i = 0; i < count; ++i) {
            EarlyName& one = all.emplace_back(EarlyName{std::string(1, static_cast<char>('a' + i)), {}});
            const std::size_t kind = below(8);
            const std::size_t values = 1 + below(4);
            for (std::size_t v = 0; v < values; ++v) {
                if (kind == 0) one.values.push_back({v % 2 == 0});
                if (kind == 1) one.values.push_back({std::string(1, static_cast<char>('p' + v))});
                if (kind == 2) one.values.push_back({0.5 * static_cast<double>(v) - 0.7});
                if (kind == 3) one.values.push_back({static_cast<std::int64_t>(below(7)) - 3});
                if (kind > 3) one.values.push_back({std::int64_t{1} << v});
            }
        }
        names_ = count;
        return std::make_shared<const std::vector<EarlyName>>(std::move(all));
    }

    std::string truth(int depth) {
        if (depth == 0) return fmt::format("{} {} {}", number(1), pick({"<", "<=", ">", ">=", "==", "!="}), number(1));
        switch (below(9)) {
            case 0:
                return fmt::format("({} and {})", truth(depth - 1), truth(depth - 1));
            case 1:
                return fmt::format("({} or {})", truth(depth - 1), truth(depth - 1));
            case 2:
                return fmt::format("not {}", truth(depth - 1));
            case 3:
                return fmt::format("{} {} {} {} {}", number(depth), pick({"<", "<=", "=="}), number(depth), pick({"<", ">="}), number(depth));
            case 4:
                return fmt::format("{} {} [{}, {}, 4]", name(), pick({"in", "not in"}), constant(), constant());
            case 5:
                return fmt::format("({}, {}) {} [({}, {}), ({}, {}), ({}, {})]", name(), name(), pick({"in", "not in"}), constant(), constant(),
                                   constant(), constant(), constant(), constant());
            case 6:
                return fmt::format("({} if {} else {})", truth(depth - 1), truth(depth - 1), truth(depth - 1));
            case 7:
                return number(depth);
            default:
                return fmt::format("{} {} {}", number(depth), pick({"<", "<=", ">", ">=", "==", "!="}), number(depth));
        }
    }

    std::string number(int depth) {
        if (depth == 0) return below(3) == 0 ? constant() : name();
        switch (below(10)) {
            case 0:
                return fmt::format("min({}, {})", number(depth - 1), number(depth - 1));
            case 1:
                return fmt::format("max([{}, {}])", number(depth - 1), number(depth - 1));
            case 2:
                return fmt::format("abs({})", number(depth - 1));
            case 3:
                return fmt::format("-{}", name());
            case 4:
                return fmt::format("({} if {} else {})", number(depth - 1), truth(depth - 1), number(depth - 1));
            case 5:
                return fmt::format("sum([{}, {}])", number(depth - 1), number(depth - 1));
            case 6:
                return fmt::format("({} {} {})", number(depth - 1), pick({"/", "//", "%", "**"}), number(depth - 1));
            default:
                return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*", "*"}), number(depth - 1));
        }
    }

  private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    std::string name() { return std::string(1, static_cast<char>('a' + below(names_))); }
    std::string constant() { return pick({"0", "1", "2", "4", "8", "3", "0.5", "'p'", "16"}); }
    std::string pick(const std::vector<const char*>& words) { return words[below(words.size())]; }

    test::FreshRandom& random_;
    std::size_t names_ = 2;
};

void complete(const std::vector<EarlyName>& tunables, Levels levels, std::vector<Levels>& all) {
    if (levels.size() == tunables.size()) return all.push_back(levels);
    levels.push_back(0);
    for (; levels.back() < tunables[levels.size() - 1].values.size(); ++levels.back()) complete(tunables, levels, all);
}

// What an answer says of all that begins so is true of each, and equal texts mean equal futures.
TEST(EarlyExpression, SaysNothingThatAnyEndContradicts) {
    test::FreshRandom random;
    Drawn drawn(random);
    int decided = 0, alike = 0;
    for (int trial = 0; trial < 1500; ++trial) {
        const Tunables tunables = drawn.tunables();
        const std::string text = drawn.truth(2);
        const PythonExpression expression(text, "rule");
        EarlyExpression rule(expression, tunables, {});
        // Of each assignment: '1', '0', or 'e' for an Error.
        const auto plain = [&](const Levels& levels) {
            try {
                const auto value = [&](const std::string& name) {
                    const auto i = static_cast<std::size_t>(name[0] - 'a');
                    return (*tunables)[i].values[levels[i]];
                };
                return expression.evaluate(value).truth() ? '1' : '0';
            } catch (const Error&) {
                return 'e';
            }
        };
        std::vector<Levels> beginnings{{}};
        for (std::size_t length = 0; length < tunables->size(); ++length) {
            std::map<std::string, std::string> futures;
            std::vector<Levels> longer;
            for (const Levels& beginning : beginnings) {
                std::vector<Levels> ends;
                complete(*tunables, beginning, ends);
                std::string future;
                for (const Levels& end : ends) future += plain(end);
                EarlyAnswer early;
                try {
                    early = rule.ask(beginning);
                } catch (const Error&) {
                    EXPECT_EQ(future, std::string(future.size(), 'e')) << text;
                    continue;
                }
                const char wrong = early.verdict == Verdict::holds ? '0' : '1';
                if (early.verdict != Verdict::open) {
                    ASSERT_EQ(future.find(wrong), std::string::npos)
                        << text << " after " << length << " of " << tunables->size() << " values: " << future;
                    ++decided;
                } else {
                    const auto [same, is_new] = futures.emplace(early.rest, future);
                    if (!is_new) ++alike;
                    for (std::size_t i = 0; i < future.size(); ++i) {
                        if (same->second[i] == 'e' || future[i] == 'e') continue;
                        ASSERT_EQ(same->second[i], future[i]) << text << ": " << early.rest;
                    }
                }
                for (std::uint16_t value = 0; value < (*tunables)[length].values.size(); ++value) {
                    longer.push_back(beginning);
                    longer.back().push_back(value);
                }
            }
            beginnings = std::move(longer);
        }
        for (const Levels& end : beginnings) {
            const char expected = plain(end);
            if (expected == 'e') {
                EXPECT_THROW(rule.ask(end), Error) << text;
            } else {
                EXPECT_EQ(rule.ask(end).verdict, expected == '1' ? Verdict::holds : Verdict::broken) << text;
            }
        }
    }
    EXPECT_GT(decided, 1000);
    EXPECT_GT(alike, 1000);
}

}  // namespace
}  // namespace hone::early_expression_test
