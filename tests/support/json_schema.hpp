#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hone::test {

/// A document and the schema, or one of its definitions, that it should be valid for.
struct SchemaQuestion {
    std::filesystem::path schema;
    std::filesystem::path document;
    std::string definition = "";  ///< below "$defs"; empty: the whole schema
    bool closed = false;          ///< members that the schema does not name are invalid, too
};

/// v (valid) or i (invalid) for each, by python3 with jsonschema; empty where these are not
/// installed. A schema that is none ends in an empty text, too.
std::string schema_verdicts(const std::vector<SchemaQuestion>& questions);

constexpr const char* no_schema_validator = "python3 with jsonschema 4 is not installed (Debian, Ubuntu: python3-jsonschema)";

}  // namespace hone::test
