#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hone::inline v0_1 {

/// A value of an expression: true or false, a whole number, a number, a text or a list (tuples
/// count as lists).
struct PythonValue {
    using List = std::vector<PythonValue>;
    std::variant<bool, std::int64_t, double, std::string, List> held;

    bool truth() const;
    bool operator==(const PythonValue& other) const;  ///< as Python compares: 1 == 1.0 == True
    std::string text() const;                         ///< as Python prints it
    std::string key() const;                          ///< the same text for equal values, and for these only
};

/// The part of Python's expressions that search spaces are described with, parsed once and
/// evaluated many times, by code of ours: nothing in a file is ever run by Python or a shell.
///
///     const PythonExpression rule("32 <= block_size_x * block_size_y <= 1024", "space.json:12");
///     rule.evaluate([&](const std::string& name) { return value_of(name); }).truth();
///
/// There are: whole numbers, numbers, texts, True, False, names; + - * / // % **, comparisons and
/// their chains, in and not in; and, or, not; a if c else b; lists, tuples, `[e for i in list if
/// c]`; min, max, abs, int, float, len, sum, range, list; brackets. There is nothing else: no
/// attributes, no indices, no other functions, no assignments. What is missing is an Error that
/// names it, at parsing; division by zero, texts in arithmetic, whole numbers beyond 64 bits and
/// lists of over 100 000 values, and more than a million steps, are Errors when evaluated.
class PythonExpression {
  public:
    using Lookup = std::function<PythonValue(const std::string&)>;

    /// `where` is for messages. Throws Error.
    PythonExpression(std::string_view text, std::string where);

    /// `value_of` gives the values of names. Throws Error.
    PythonValue evaluate(const Lookup& value_of) const;
    /// The names that it asks for, each once; those of its own loops are not among them.
    std::vector<std::string> names() const;

    struct Node;
    const Node& node() const { return *root_; }
    /// An operand of it, as an expression of its own.
    PythonExpression child(std::size_t place) const;

  private:
    PythonExpression(std::shared_ptr<const Node> root, std::string where) : root_(std::move(root)), where_(std::move(where)) {}

    std::shared_ptr<const Node> root_;
    std::string where_;
};

}  // namespace hone::inline v0_1
