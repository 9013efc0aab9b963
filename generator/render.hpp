#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/block.hpp"

namespace hone::inline v0_1 {

/// The blocks that fill a template's holes, by name.
using Holes = std::vector<std::pair<std::string, Block>>;

/// Flags of a template, by name: decisions of a problem and a configuration about its text.
using Flags = std::vector<std::pair<std::string, bool>>;

/// The text of the template templates/`name`.in. Lines that begin with `//@ ` are the template
/// language; all others are text:
///
///     //@ name          a hole: the lines of the block of that name, indented as far as this line
///     //@ use piece     the template templates/`piece`.in, with the same holes and flags, indented as far as this line; or one of a template's own
///                       pieces, `device/copies.cu/bulk`
///     //@ if flag       the lines up to `else` or `end` where the flag is set; `if` may stand within one other `if` of the file
///     //@ if not flag   the same where it is not set
///     //@ else          the lines up to `end` in the other case
///     //@ end
///     //@ piece name    the file's own text ends. The lines up to the next `piece` or the end of the file are where `use` has this name behind the
///                       file's. The line begins with its mark.
///
/// There are no expressions: flags are decided in C++. The same hole, piece or flag may stand in
/// several places. Holes in text that is left out need no block. Throws Error with file and line
/// for a hole without a block, an unknown flag or piece, a piece that uses itself, an `if` without
/// `end`, `else` or `end` without `if`, and an `if` too deep; with the file for a block or a flag
/// that no line names. The text is `tidy` (generator/tidy.hpp). `template_name` may be that of a
/// piece.
std::string render(std::string_view template_name, const Holes& holes, const Flags& flags = {});

/// Renders a template of an application's own, whose lines stay as they are: `text` is its text,
/// `file` its name in errors. Its pieces are those of hone.
std::string render_text(std::string_view text, std::string_view file, const Holes& holes, const Flags& flags = {});

/// Text of an embedded template with its pieces, e.g. `poisson7/kernel.cu` of
/// templates/poisson7/kernel.cu.in. Throws Error when there is none.
std::string_view template_text(std::string_view template_name);

}  // namespace hone::inline v0_1
