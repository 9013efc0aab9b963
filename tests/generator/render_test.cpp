#include "generator/render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "generator/tidy.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"

namespace hone::render_test {
namespace {

using ::testing::HasSubstr;

// A line of a template with what its pieces bring, where it stands, and the flags that it depends
// on with the values that they must have.
struct Line {
    std::string text;
    std::string place;
    std::vector<std::pair<std::string, bool>> conditions;
    std::string hole;  // if it is one
};

struct Template {
    std::string name;
    std::vector<std::string> lines;  // of the file
    std::vector<Line> expanded;
    std::set<std::string> holes, flags;
};

std::vector<std::string> lines_of_file(const std::string& name) {
    std::ifstream file(test::source_path("templates/" + name + ".in"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

// A file's own text by the name "", and those of its pieces: the numbers of their first lines,
// counted from 1, and of the lines behind them.
std::map<std::string, std::pair<std::size_t, std::size_t>> texts_of_file(const std::vector<std::string>& lines) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> texts;
    std::string name;
    std::size_t first = 1;
    for (std::size_t number = 1; number <= lines.size(); ++number) {
        if (!lines[number - 1].starts_with("//@ piece ")) continue;
        texts[name] = {first, number};
        name = lines[number - 1].substr(10);
        first = number + 1;
    }
    texts[name] = {first, lines.size() + 1};
    return texts;
}

// The words of a line of the template language behind its mark, or nothing in a line of text.
std::vector<std::string> words_of(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != "//@") return {};
    std::vector<std::string> result;
    while (words >> word) result.push_back(word);
    return result;
}

// Pieces in place of the lines that use them, and on every line its conditions: what `render` does
// in one go.
void expand(const std::string& name, const std::string& indent, const std::vector<std::pair<std::string, bool>>& around, Template& result) {
    auto conditions = around;
    const bool whole = name.find('.', name.rfind('/')) != std::string::npos;
    const std::string file = whole ? name : name.substr(0, name.rfind('/')), piece = whole ? "" : name.substr(name.rfind('/') + 1);
    const auto lines = lines_of_file(file);
    const auto [first, behind] = texts_of_file(lines).at(piece);
    for (std::size_t number = first; number < behind; ++number) {
        const std::string& line = lines[number - 1];
        const auto words = words_of(line);
        const std::string column = line.substr(0, std::min(line.find_first_not_of(' '), line.size()));
        if (words.empty()) {
            result.expanded.push_back({line.empty() ? "" : indent + line, "", conditions, ""});
        } else if (words[0] == "use") {
            expand(words[1], indent + column, conditions, result);
        } else if (words[0] == "if") {
            result.flags.insert(words.back());
            conditions.emplace_back(words.back(), words[1] != "not");
        } else if (words[0] == "else") {
            conditions.back().second = !conditions.back().second;
        } else if (words[0] == "end") {
            conditions.pop_back();
        } else {
            result.holes.insert(words[0]);
            result.expanded.push_back({indent + column, "templates/" + file + ".in:" + std::to_string(number), conditions, words[0]});
        }
    }
}

// Every template of the tree, as it stands on disk, and every piece of one.
std::vector<Template> templates() {
    const std::filesystem::path folder = test::source_path("templates");
    std::vector<Template> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".in") continue;
        Template found{entry.path().lexically_relative(folder).replace_extension().string(), {}, {}, {}, {}};
        found.lines = lines_of_file(found.name);
        for (const auto& [piece, lines] : texts_of_file(found.lines)) {
            Template part = found;
            if (!piece.empty()) part.name += "/" + piece;
            expand(part.name, "", {}, part);
            result.push_back(std::move(part));
        }
    }
    return result;
}

Holes fill(const Template& source) {
    Holes holes;
    for (const auto& name : source.holes) {
        Block block;
        block.text("block of " + name).text("").text("and its end");
        holes.emplace_back(name, block);
    }
    return holes;
}

// Any value for each flag.
Flags decide(const Template& source, std::mt19937_64& random) {
    Flags flags;
    for (const auto& name : source.flags) flags.emplace_back(name, random() % 2 == 0);
    return flags;
}

bool holds(const Line& line, const Flags& flags) {
    return std::all_of(line.conditions.begin(), line.conditions.end(),
                       [&](const auto& condition) { return std::find(flags.begin(), flags.end(), condition) != flags.end(); });
}

std::string error_of(const std::string& name, const Holes& holes, const Flags& flags = {}) {
    try {
        render(name, holes, flags);
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << name << " was rendered";
    return "";
}

std::string error_of_text(const std::string& text, const Holes& holes = {}, const Flags& flags = {}) {
    try {
        render_text(text, "own.cu", holes, flags);
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << text << " was rendered";
    return "";
}

TEST(Render, EveryTemplateIsEmbeddedWordForWord) {
    ASSERT_FALSE(templates().empty());
    for (const auto& source : templates()) {
        if (source.name.find('.', source.name.rfind('/')) == std::string::npos) continue;  // a piece of another one
        std::string text;
        for (const auto& line : source.lines) text += line + "\n";
        EXPECT_EQ(template_text(source.name), text) << source.name;
    }
}

TEST(Render, BlocksPiecesAndFlagsGiveTheTextOfEveryTemplate) {
    const std::uint64_t seed = std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    for (const auto& source : templates()) {
        for (int time = 0; time < 8; ++time) {
            const Flags flags = decide(source, random);
            std::string expected;
            for (const auto& line : source.expanded) {
                if (!holds(line, flags)) continue;
                if (line.hole.empty())
                    expected += line.text + "\n";
                else
                    expected += line.text + "block of " + line.hole + "\n\n" + line.text + "and its end\n";
            }
            EXPECT_EQ(render(source.name, fill(source), flags), tidy(expected)) << source.name;
        }
    }
}

TEST(Render, AHoleWithoutABlockIsAnErrorWithFileAndLine) {
    test::FreshRandom random;
    for (const auto& source : templates()) {
        const Flags flags = decide(source, random);
        const Holes all = fill(source);
        for (std::size_t missing = 0; missing < all.size(); ++missing) {
            Holes holes = all;
            holes.erase(holes.begin() + static_cast<std::ptrdiff_t>(missing));
            const auto wanted = std::find_if(source.expanded.begin(), source.expanded.end(),
                                             [&](const Line& line) { return line.hole == all[missing].first && holds(line, flags); });
            if (wanted == source.expanded.end()) {  // in text that is left out it needs none
                EXPECT_NO_THROW(render(source.name, holes, flags)) << source.name;
                continue;
            }
            const std::string error = error_of(source.name, holes, flags);
            EXPECT_TRUE(error.starts_with(wanted->place + ": ")) << error;
            EXPECT_THAT(error, HasSubstr('"' + all[missing].first + '"'));
        }
    }
}

TEST(Render, ABlockWithoutAHoleIsAnError) {
    test::FreshRandom random;
    for (const auto& source : templates()) {
        Holes holes = fill(source);
        holes.emplace_back("no_such_hole", Block().text("x"));
        EXPECT_THAT(error_of(source.name, holes, decide(source, random)), HasSubstr("no_such_hole"));
    }
}

TEST(Render, AFlagThatIsMissingOrThatNothingDependsOnIsAnError) {
    test::FreshRandom random;
    for (const auto& source : templates()) {
        const Flags all = decide(source, random);
        Flags more = all;
        more.emplace_back("no_such_flag", true);
        EXPECT_THAT(error_of(source.name, fill(source), more), HasSubstr("nothing depends on the flag \"no_such_flag\""));
        for (std::size_t missing = 0; missing < all.size(); ++missing) {
            Flags flags = all;
            flags.erase(flags.begin() + static_cast<std::ptrdiff_t>(missing));
            EXPECT_THAT(error_of(source.name, fill(source), flags), HasSubstr("there is no flag \"" + all[missing].first + '"')) << source.name;
        }
    }
}

TEST(Render, LinesOfAFlagAreThereWhereItIsSet) {
    const std::string text = "a\n//@ if f\n    b\n    //@ if g\n    c\n    //@ end\n//@ else\nd\n//@ hole\n//@ end\ne\n";
    const Holes holes{{"hole", Block().text("h")}};
    EXPECT_EQ(render_text(text, "own.cu", holes, {{"f", true}, {"g", true}}), "a\n    b\n    c\ne\n");
    EXPECT_EQ(render_text(text, "own.cu", holes, {{"f", true}, {"g", false}}), "a\n    b\ne\n");
    EXPECT_EQ(render_text(text, "own.cu", holes, {{"f", false}, {"g", true}}), "a\nd\nh\ne\n");
}

TEST(Render, LinesOfANegatedFlagAreThereWhereItIsNotSet) {
    const std::string text = "a\n//@ if not f\n    b\n    //@ if not g\n    c\n    //@ end\n//@ else\nd\n//@ end\ne\n";
    EXPECT_EQ(render_text(text, "own.cu", {}, {{"f", false}, {"g", false}}), "a\n    b\n    c\ne\n");
    EXPECT_EQ(render_text(text, "own.cu", {}, {{"f", false}, {"g", true}}), "a\n    b\ne\n");
    EXPECT_EQ(render_text(text, "own.cu", {}, {{"f", true}, {"g", false}}), "a\nd\ne\n");
}

TEST(Render, NoTemplateHasAnEmptyBranch) {
    for (const auto& source : templates())
        for (std::size_t number = 1; number < source.lines.size(); ++number) {
            const auto before = words_of(source.lines[number - 1]), here = words_of(source.lines[number]);
            if (before.empty() || here.empty() || (before[0] != "if" && before[0] != "else")) continue;
            EXPECT_TRUE(here[0] != "else" && here[0] != "end") << source.name << ':' << number + 1 << ": say '//@ if not flag'";
        }
}

TEST(Render, AnOwnTemplateUsesThePiecesOfHone) {
    std::string expected = "begin\n";
    const std::vector<std::string> lines = lines_of_file("device/copies.cu");
    const auto [first, behind] = texts_of_file(lines).at("kept_reads");
    for (std::size_t number = first; number < behind; ++number) expected += "    " + lines[number - 1] + "\n";
    EXPECT_EQ(render_text("begin\n    //@ use device/copies.cu/kept_reads\n", "own.cu", {}), expected);
}

TEST(Render, ErrorsOfTheLanguageSayWhereAndWhatToDo) {
    const auto expect = [](const std::string& text, const std::string& place, const std::string& found) {
        const std::string error = error_of_text(text, {}, {{"f", true}});
        EXPECT_TRUE(error.starts_with("own.cu:" + place + ": ")) << error;
        EXPECT_THAT(error, HasSubstr(found));
    };
    expect("a\n//@ if f\nb\n", "2", "no end");
    expect("//@ if f\n//@ if f\n//@ end\n", "1", "no end");
    expect("//@ if f\n//@ end\n//@ end\n", "3", "'end' without 'if'");
    expect("//@ else\n", "1", "'else' without 'if'");
    expect("//@ if f\n//@ else\n//@ else\n//@ end\n", "3", "'else' without 'if'");
    expect("//@ if f\n//@ if f\n//@ if f\n", "3", "within two others");
    expect("//@ if g\n//@ end\n", "1", "no flag \"g\"");
    expect("//@ if f g\n//@ end\n", "1", "no flag \"f g\"");
    expect("//@ if not g\n//@ end\n", "1", "no flag \"g\"");
    expect("//@ if not f g\n//@ end\n", "1", "no flag \"f g\"");
    expect("//@ if not\n//@ end\n", "1", "no flag \"not\"");
    expect("//@ if not not f\n//@ end\n", "1", "no flag \"not f\"");
    expect("//@ if f\n//@ else\n    //@ use device/no_such_piece.cu\n//@ end\n", "3", "no piece \"device/no_such_piece.cu\"");
    expect("//@ use device/copies.cu/no_such_piece\n", "1", "no piece \"device/copies.cu/no_such_piece\"");
    expect("//@ use device/copies.cu/\n", "1", "no piece \"device/copies.cu/\"");
    expect("//@ use no_such_piece\n", "1", "no piece \"no_such_piece\"");
    expect("//@ if\n", "1", "the hole \"if\"");
}

// Whatever stands in a template, it is rendered or refused by an Error.
TEST(Render, AnyLinesAreRenderedOrRefused) {
    const std::vector<std::string> lines{
        "text",   "",    "//@ hole", "//@ if f", "//@ if not f", "//@ if g", "//@ else", "//@ end", "    //@ use device/copies.cu/kept_reads",
        "  //@ ", "//@", "//@ use ", "//@ if "};
    const std::uint64_t seed = std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    int rendered = 0;
    for (int time = 0; time < 3000; ++time) {
        std::string text = "//@ hole\n//@ if f\n//@ end\n//@ if g\n//@ end\n";
        const std::size_t count = random() % 8, kinds = random() % 10 == 0 ? lines.size() : lines.size() - 4;
        for (std::size_t i = 0; i < count; ++i) text += lines[random() % kinds] + "\n";
        if (random() % 4 == 0) text.pop_back();
        try {
            const std::string result = render_text(text, "own.cu", {{"hole", Block().text("h")}}, {{"f", true}, {"g", random() % 2 == 0}});
            EXPECT_TRUE(result.starts_with("h\n"));
            ++rendered;
        } catch (const Error& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("own.cu:")) << error.what();
        }
    }
    EXPECT_GT(rendered, 100);
}

TEST(Render, AnUnknownTemplateIsAnError) {
    EXPECT_THAT(error_of("no_such_family.cu", {}), HasSubstr("templates/no_such_family.cu.in"));
    EXPECT_THROW(template_text(""), Error);
}

}  // namespace
}  // namespace hone::render_test
