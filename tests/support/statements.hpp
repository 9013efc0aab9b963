#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hone::test {

/// Where a statement of a C++ text begins: what stands behind `;`, `{` or `}`, or is governed by
/// `if`, `else`, `for`, `while`, `do` or `switch`. A head such as `for (...)` counts as a
/// statement, too. Declarations of types and functions are there like others: whoever counts asks
/// only for what lies in a function.
struct Statement {
    std::size_t offset;  ///< of its first character
    int line, column;    ///< both from 1
};

/// The statements of a text without macros that change its syntax, in order.
std::vector<Statement> statements_of(std::string_view text);

}  // namespace hone::test
