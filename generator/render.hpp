#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/block.hpp"

namespace hone {

/// The blocks that fill a template's holes, by name.
using Holes = std::vector<std::pair<std::string, Block>>;

/// Replaces every line `//@ name` of the template templates/`name`.in by the block of that name, indented alike.
///
/// There are no conditions and no expressions in templates. A hole without a block, or a block without a hole, throws Error with
/// file and line. The same hole may stand in several places.
std::string render(std::string_view template_name, const Holes& holes);

/// The same with a template of an application's own: its text, and the name that errors call it.
std::string render_text(std::string_view text, std::string_view file, const Holes& holes);

/// Text of an embedded template, e.g. `poisson7/kernel.cu` of templates/poisson7/kernel.cu.in. Throws Error when there is none.
std::string_view template_text(std::string_view template_name);

}  // namespace hone
