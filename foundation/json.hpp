#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::inline v0_1 {

/// `text` as a JSON string with its quotes.
std::string json_string(std::string_view text);
/// The shortest JSON number that reads back the same; null for what JSON cannot hold (NaN,
/// infinity).
std::string json_number(double number);

/// A parsed JSON value that knows its line, so that an error can point at it. Numbers keep the text
/// that they were written as.
struct JsonNode {
    enum class Kind { null, boolean, integer, real, string, array, object };
    Kind kind = Kind::null;
    int line = 1;
    std::string name;          ///< of an object's member
    std::string text;          ///< a string's contents; a number or boolean as written
    std::int64_t integer = 0;  ///< of Kind::integer
    double real = 0;           ///< of both kinds of numbers
    std::vector<JsonNode> children;

    /// The member of that name, or null.
    const JsonNode* find(std::string_view member) const;
    JsonNode* find(std::string_view member);
};

/// The text behind a byte order mark, which editors write before UTF-8. Throws Error naming `file`
/// for one of another encoding.
std::string_view without_byte_order_mark(std::string_view text, const std::string& file);

/// Strict: one value, UTF-8, no member twice, at most 16 levels and 1.5 million values. Throws
/// Error naming `file` and line; `first_line` is the line of a larger file where `text` begins.
JsonNode parse_json(std::string_view text, const std::string& file, int first_line = 1);

/// On one line: `{"a": 1, "b": [2, 3]}`.
std::string write_json(const JsonNode& node);

/// A place in a JSON text: what a strict reader asks for values, and what explains a wrong one by
/// file, line and path.
///
///     const JsonPlace place(root, "nvidia_h200.json");
///     const double median = place["records"][0]["step_seconds"]["median"].number(1e-12, 1e7);
///
/// The tree must outlive it. Every member throws Error when the value is absent or of another kind.
class JsonPlace {
  public:
    /// `name` is of the root, where it was taken out of a larger text: "cache", say.
    JsonPlace(const JsonNode& root, std::string file, std::string name = "")
        : node_(&root), whole_(std::make_shared<const Whole>(Whole{&root, std::move(file), std::move(name)})) {}

    JsonPlace operator[](std::string_view member) const;
    JsonPlace operator[](std::size_t element) const;
    std::optional<JsonPlace> find(std::string_view member) const;

    std::size_t elements() const;                  ///< of an array
    const std::vector<JsonNode>& members() const;  ///< of an object
    const std::string& string(std::size_t longest) const;
    double number(double low, double high) const;
    std::int64_t integer(std::int64_t low, std::int64_t high) const;
    bool is_null() const { return node_->kind == JsonNode::Kind::null; }
    const JsonNode& node() const { return *node_; }

    /// Refuses members of other names.
    void only(std::initializer_list<std::string_view> names) const;
    /// `file:line: path`.
    std::string where() const;
    [[noreturn]] void fail(const std::string& found, const std::string& remedy) const;

  private:
    struct Whole {
        const JsonNode* root;
        std::string file;
        std::string name;
    };
    JsonPlace(const JsonNode& node, std::shared_ptr<const Whole> whole) : node_(&node), whole_(std::move(whole)) {}

    const JsonNode* node_;
    std::shared_ptr<const Whole> whole_;  // shared with every place below
};

}  // namespace hone::inline v0_1
