#pragma once

#include <string>
#include <string_view>

namespace hone::inline v0_1 {

/// The longest line of an emitted kernel.
constexpr std::size_t kernel_columns = 120;

/// Lays a program out for readers and changes nothing else: a brace that stands alone goes to the
/// end of the line that it opens a block for, and no line is longer than `kernel_columns`. Code is
/// broken where the fewest brackets are open, and goes on four columns further right. A body in the
/// line of its head gets lines of its own, the row of a table lines of equally many values, and an
/// assembler instruction is broken before its lists of operands. What a comment says beside code
/// that is broken stands above it. Lines of the preprocessor and texts in quotation marks stay
/// whole.
std::string tidy(std::string_view text);

/// The program alone: without comments, and any run of white space as one space. Lines of the
/// preprocessor stay lines. Texts of which this is the same are the same program, however they are
/// explained and laid out.
std::string code_of(std::string_view text);

/// The command in the comment at the head of an emitted kernel, `hone emit ...`, in one line
/// however long; empty when there is none.
std::string command_of(std::string_view text);

/// The text with another command in its place. One without a command comes back as it is.
std::string with_command(std::string_view text, const std::string& command);

}  // namespace hone::inline v0_1
