#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "foundation/python_expression.hpp"

namespace hone::inline v0_1 {

/// A node of an expression's tree: what to do, with the children's values.
struct PythonExpression::Node {
    enum class Kind { constant, name, list, comprehension, call, unary, binary, comparison, conjunction, disjunction, conditional };
    Kind kind = Kind::constant;
    PythonValue constant = {};
    std::string text = {};                      ///< a name, an operator, a function; a comprehension's variable
    std::vector<std::string> operators = {};    ///< of a chain of comparisons
    std::vector<Node> children = {};            ///< a comprehension's: element, list, and a condition where there is one
    std::unordered_set<std::string> fast = {};  ///< of a constant list: its elements' keys
};

/// The tree of an expression (see PythonExpression). Throws Error with `where` for what is not one,
/// and for one that is too long or too deep.
PythonExpression::Node parse_python(std::string_view text, const std::string& where);

}  // namespace hone::inline v0_1
