#include "interfaces/kernel_folder/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "foundation/error.hpp"
#include "foundation/process.hpp"
#include "tests/support/places.hpp"

namespace hone::description_test {
namespace {

using kernel_folder::Description;
using kernel_folder::parse_description;
using testing::HasSubstr;

const std::string whole = R"({
  "name": "scale",
  "summary": "y = a x",
  "parameters": [{"name": "n", "from": 1, "to": 1000}, {"name": "order", "from": 1, "to": 4, "constant": true},
                 {"name": "form", "words": ["plain", "shifted"], "default": "plain"}],
  "arguments": [{"name": "x", "access": "in", "extents": ["n", "order + 1"], "fill": "random"},
                {"name": "at", "access": "in", "type": "int", "extents": ["n"], "fill": {"random": [0, "n - 1"]}},
                {"name": "y", "access": "out", "extents": ["n"]}],
  "cpu": {"source": "kernel.cpp",
          "tunables": [{"name": "block", "values": [1, 2, 4]}, {"name": "way", "values": ["up", "down"]}],
          "constraints": [{"rule": "block <= n", "why": "{block} of {n}"}],
          "safe": {"block": 1, "way": "up"}},
  "cuda": {"source": "kernel.cu",
           "tunables": [{"name": "block", "values": [32, 64]}],
           "safe": {"block": 32},
           "launches": [{"grid": ["(n + block - 1) // block"], "block": ["block"]}]},
  "counts": {"operations": "n"},
  "reference": {"source": "reference.cpp"},
  "tolerance": {"value": "2 * roundoff", "reason": "one product"}
})";

Description parsed(const std::string& text) {
    return parse_description(text, "family.json", [](const std::string& name) {
        if (name == "absent.cpp") throw Error(name, "there is no such file", "");
        return "text of " + name + "\n";
    });
}

// What the reader says of the whole with one piece replaced by another.
std::string error_with(const std::string& piece, const std::string& other) {
    std::string text = whole;
    const std::size_t at = text.find(piece);
    EXPECT_NE(at, std::string::npos) << piece;
    text.replace(at, piece.size(), other);
    try {
        parsed(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(KernelDescription, IsReadAsItStands) {
    const Description description = parsed(whole);
    EXPECT_EQ(description.name, "scale");
    ASSERT_EQ(description.parameters.size(), 4U);
    EXPECT_EQ(description.parameters[0].name, "precision");  // nobody chose: f64
    EXPECT_EQ(description.parameters[0].fallback, "f64");
    EXPECT_TRUE(description.parameters[1].extent);
    EXPECT_FALSE(description.parameters[2].extent);
    EXPECT_EQ(description.parameters[3].words.size(), 2U);
    ASSERT_EQ(description.arguments.size(), 3U);
    EXPECT_EQ(description.arguments[0].extents.size(), 2U);
    EXPECT_TRUE(description.arguments[1].integers());
    EXPECT_EQ(description.arguments[2].access, Access::out);
    ASSERT_TRUE(description.cpu && description.cuda);
    EXPECT_EQ(description.cpu->text, "text of kernel.cpp\n");
    EXPECT_EQ(description.cpu->launches.front().entry, "scale");
    EXPECT_EQ(description.reference.entry, "reference");
}

TEST(KernelDescription, AMistakeIsToldWithItsPlaceAndTheNearestRightWord) {
    struct Case {
        std::string piece, other, told;
    };
    for (const Case& one : std::vector<Case>{
             {R"("summary")", R"("sumary")", "did you mean summary?"},
             {R"("name": "scale")", R"("name": "double")", "name: is \"double\""},
             {R"("name": "n", "from": 1)", R"("name": "int", "from": 1)", "family.json:4: parameters[0].name: is \"int\""},
             {R"("to": 1000)", R"("to": 0)", "parameters[0].to: is 0"},
             {R"("to": 1000)", R"("to": 3000000000)", "parameters[0].to"},
             {R"("to": 1000)", R"("to": "much")", "parameters[0].to"},
             {R"("default": "plain")", R"("default": "plane")", "did you mean plain?"},
             {R"("extents": ["n", "order + 1"], )", "", "says nothing of how long x is"},
             {R"("order + 1")", R"("ordre + 1")", "did you mean order?"},
             {R"("order + 1")", R"("order.size")", "extents[1]"},
             {R"("access": "in", "extents")", R"("access": "input", "extents")", "did you mean inout?"},
             {R"(, "fill": "random")", "", "does not say what x holds"},
             {R"("fill": "random")", R"("fill": "randon")", "did you mean random?"},
             {R"("access": "out")", R"("access": "in", "fill": "random")", "has no array that the kernel writes"},
             {R"("access": "in", "type": "int")", R"("access": "in", "type": "half")", "use one of real, int, float, double"},
             {R"("name": "at")", R"("name": "x")", "stands for something else already"},
             {R"("source": "kernel.cpp")", R"("source": "../kernel.cpp")", "name a file of this folder"},
             {R"("source": "kernel.cpp")", R"("source": "absent.cpp")", "there is no such file"},
             {R"("values": [1, 2, 4])", R"("values": [1, 2, 2])", "is 2 once more"},
             {R"("values": [1, 2, 4])", R"("values": [1, "two"])", "has numbers and words"},
             {R"("values": [1, 2, 4])", R"("values": [])", "has 0 elements"},
             {R"("name": "block", "values": [1)", R"("name": "n", "values": [1)", "stands for something else already"},
             {R"("name": "block", "values": [1)", R"("name": "vector_bytes", "values": [1)", "which is a device's"},
             {R"("rule": "block <= n")", R"("rule": "blok <= n")", "did you mean block?"},
             {R"("why": "{block} of {n}")", R"("why": "{block of")", "has a { without its }"},
             {R"("safe": {"block": 1, "way": "up"})", R"("safe": {"block": 3, "way": "up"})", "cpu.safe.block: is 3"},
             {R"("safe": {"block": 1, "way": "up"})", R"("safe": {"block": 1})", "has no \"way\""},
             {R"("safe": {"block": 32})", R"("safe": {"block": 32, "blocks": 1})", "which is not a tunable"},
             {R"(,
          "safe": {"block": 1, "way": "up"})",
              "", "and the constraint \"block <= n\" asks for n"},
             {R"("grid": ["(n + block - 1) // block"])", R"("grid": ["a", "b", "c", "d"])", "has 4 elements"},
             {R"("grid": ["(n + block - 1) // block"])", R"("grid": ["n", "way"])", "asks for way"},
             {R"("block": ["block"])", R"("block": ["block"], "range_axis": "x")", "the family has no range"},
             {R"("reference": {"source": "reference.cpp"})", R"("reference": {})", "is not one of source, library, python and stored"},
             {R"("reference": {"source": "reference.cpp"})", R"("reference": {"source": "kernel.cpp", "entry": "scale"})", "is the kernel itself"},
             {R"("reference": {"source": "reference.cpp"})", R"("reference": {"stored": true})", "and y has none"},
             {R"("value": "2 * roundoff")", R"("value": "2 * block")", "asks for block"},
         })
        EXPECT_THAT(error_with(one.piece, one.other), HasSubstr(one.told)) << one.other;
}

// The schema and the reader agree about what is a family.json, as far as a schema can tell.
TEST(KernelDescription, TheSchemaTakesWhatTheReaderTakes) {
    constexpr const char* program = R"(
import json, sys
from jsonschema import Draft202012Validator
schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
print("".join("v" if Draft202012Validator(schema).is_valid(json.loads(text)) else "i" for text in sys.argv[2:]), end="")
)";
    const std::string python = find_program("python3");
    if (python.empty()) GTEST_SKIP() << "there is no python3";
    std::vector<std::string> words{python, "-c", program, test::source_path("interfaces/kernel_folder/family.schema.json"), whole};
    std::string expected = "v";
    for (const auto& [piece, other] : std::vector<std::pair<std::string, std::string>>{{R"("summary")", R"("sumary")"},
                                                                                       {R"("to": 1000)", R"("to": 3000000000)"},
                                                                                       {R"(, "fill": "random")", ""},
                                                                                       {R"("source": "kernel.cpp")", R"("source": "../kernel.cpp")"},
                                                                                       {R"("values": [1, 2, 4])", R"("values": [1, "two"])"},
                                                                                       {R"("block": ["block"])", R"("block": [])"},
                                                                                       {R"({"source": "reference.cpp"})", "{}"}}) {
        EXPECT_NE(error_with(piece, other), "");
        std::string text = whole;
        words.push_back(text.replace(text.find(piece), piece.size(), other));
        expected += "i";
    }
    const ProcessResult answer = run_process(words, 60);
    if (!answer.ok() && answer.output.find("jsonschema") != std::string::npos) GTEST_SKIP() << "python3 has no jsonschema";
    EXPECT_EQ(answer.output, expected);
}

TEST(KernelDescription, NamesAreThoseThatCppLeavesFree) {
    for (const char* name : {"x", "block_x", "Tile2"}) EXPECT_TRUE(kernel_folder::is_free_identifier(name)) << name;
    for (const char* name : {"", "2x", "_x", "a-b", "int", "first", "real", "hone_x", "a b", "a\n"})
        EXPECT_FALSE(kernel_folder::is_free_identifier(name)) << name;
}

}  // namespace
}  // namespace hone::description_test
