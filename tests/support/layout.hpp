#pragma once

#include <string>
#include <vector>

namespace hone::test {

/// Bodies of functions, lambdas and loops in an emitted text that stand half in the line of their
/// head: "int b) { g(a); }" behind a head of two lines, or "{ g(a," before a line of more. Each is
/// told by its line.
std::vector<std::string> broken_bodies(const std::string& text);

/// Rows of tables that take several lines with different numbers of values.
std::vector<std::string> broken_rows(const std::string& text);

/// Assembler instructions that are broken elsewhere than before a list of operands, within a list
/// that begins its line, between two pieces of their text, or before all of it.
std::vector<std::string> broken_assembler(const std::string& text);

}  // namespace hone::test
