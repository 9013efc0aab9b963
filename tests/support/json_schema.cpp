#include "tests/support/json_schema.hpp"

#include "foundation/process.hpp"

namespace hone::test {
namespace {

// Reads schema, definition, document, "closed" or nothing, schema, ... and prints a letter for each
// four.
constexpr const char* program = R"(
import json, sys
from jsonschema import Draft202012Validator
words = sys.argv[1:]
letters = ""
schemas = {}
def close(part):
    if isinstance(part, dict) and "properties" in part: part.setdefault("additionalProperties", False)
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else []: close(inner)
for path, name, document, closed in zip(words[::4], words[1::4], words[2::4], words[3::4]):
    if (path, closed) not in schemas:
        schemas[path, closed] = json.load(open(path))
        Draft202012Validator.check_schema(schemas[path, closed])
        if closed: close(schemas[path, closed])
    schema = schemas[path, closed]
    if name:
        schema = {"$ref": "#/$defs/" + name, "$defs": schema["$defs"]}
    letters += "v" if Draft202012Validator(schema).is_valid(json.load(open(document))) else "i"
print(end="verdicts " + letters)
)";

}  // namespace

std::string schema_verdicts(const std::vector<SchemaQuestion>& questions) {
    const std::string python = find_program("python3");
    if (python.empty()) return "";
    std::vector<std::string> arguments{python, "-c", program};
    for (const auto& [schema, document, definition, closed] : questions) {
        arguments.push_back(schema.string());
        arguments.push_back(definition);
        arguments.push_back(document.string());
        arguments.emplace_back(closed ? "closed" : "");
    }
    const ProcessResult result = run_process(arguments, 120);
    const std::string begin = "verdicts ";
    return result.ok() && result.output.starts_with(begin) ? result.output.substr(begin.size()) : "";
}

}  // namespace hone::test
