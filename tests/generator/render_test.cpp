#include "generator/render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "generator/error.hpp"
#include "tests/support/places.hpp"

namespace hone::render_test {
namespace {

using ::testing::HasSubstr;

struct Template {
    std::string name;
    std::vector<std::string> lines;
    std::set<std::string> holes;
};

// Every template of the tree, as it stands on disk.
std::vector<Template> templates() {
    const std::filesystem::path folder = test::source_path("templates");
    std::vector<Template> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".in") continue;
        Template found{entry.path().lexically_relative(folder).replace_extension().string(), {}, {}};
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            const std::size_t mark = line.find("//@ ");
            if (mark != std::string::npos && line.find_first_not_of(' ') == mark) found.holes.insert(line.substr(mark + 4));
            found.lines.push_back(line);
        }
        result.push_back(std::move(found));
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

std::string error_of(const std::string& name, const Holes& holes) {
    try {
        render(name, holes);
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << name << " was rendered";
    return "";
}

TEST(Render, EveryTemplateIsEmbeddedWordForWord) {
    ASSERT_FALSE(templates().empty());
    for (const auto& source : templates()) {
        std::string text;
        for (const auto& line : source.lines) text += line + "\n";
        EXPECT_EQ(template_text(source.name), text) << source.name;
    }
}

TEST(Render, ABlockReplacesItsHoleIndentedAlike) {
    for (const auto& source : templates()) {
        std::string expected;
        for (const auto& line : source.lines) {
            const std::size_t mark = line.find("//@ ");
            if (mark == std::string::npos || line.find_first_not_of(' ') != mark) {
                expected += line + "\n";
                continue;
            }
            const std::string indent(mark, ' ');
            expected += indent + "block of " + line.substr(mark + 4) + "\n\n" + indent + "and its end\n";
        }
        EXPECT_EQ(render(source.name, fill(source)), expected) << source.name;
    }
}

TEST(Render, AHoleWithoutABlockIsAnErrorWithFileAndLine) {
    for (const auto& source : templates()) {
        const Holes all = fill(source);
        for (std::size_t missing = 0; missing < all.size(); ++missing) {
            Holes holes = all;
            holes.erase(holes.begin() + static_cast<std::ptrdiff_t>(missing));
            const std::string error = error_of(source.name, holes);
            EXPECT_THAT(error, HasSubstr('"' + all[missing].first + '"'));
            const std::string place = "templates/" + source.name + ".in:";
            ASSERT_TRUE(error.starts_with(place)) << error;
            const auto line = static_cast<std::size_t>(std::stoi(error.substr(place.size())));
            ASSERT_TRUE(line >= 1 && line <= source.lines.size()) << error;
            EXPECT_THAT(source.lines[line - 1], HasSubstr("//@ " + all[missing].first));
        }
    }
}

TEST(Render, ABlockWithoutAHoleIsAnError) {
    for (const auto& source : templates()) {
        Holes holes = fill(source);
        holes.emplace_back("no_such_hole", Block().text("x"));
        EXPECT_THAT(error_of(source.name, holes), HasSubstr("no_such_hole"));
    }
}

TEST(Render, AnUnknownTemplateIsAnError) {
    EXPECT_THAT(error_of("no_such_family.cu", {}), HasSubstr("templates/no_such_family.cu.in"));
    EXPECT_THROW(template_text(""), Error);
}

}  // namespace
}  // namespace hone::render_test
