#include "tests/support/json_schema.hpp"

#include "runtime/process.hpp"

namespace hone::test {
namespace {

// Reads schema, definition, document, schema, ... and prints a letter for each three.
constexpr const char* program = R"(
import json, sys
from jsonschema import Draft202012Validator
words = sys.argv[1:]
letters = ""
schemas = {}
for path, name, document in zip(words[::3], words[1::3], words[2::3]):
    if path not in schemas:
        schemas[path] = json.load(open(path))
        Draft202012Validator.check_schema(schemas[path])
    schema = schemas[path]
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
    for (const auto& [schema, document, definition] : questions) {
        arguments.push_back(schema.string());
        arguments.push_back(definition);
        arguments.push_back(document.string());
    }
    const ProcessResult result = run_process(arguments, 120);
    const std::string begin = "verdicts ";
    return result.ok() && result.output.starts_with(begin) ? result.output.substr(begin.size()) : "";
}

}  // namespace hone::test
