#pragma once

#include <string>

namespace hone::tools {

/// Texts that are made from the table of commands, their options, the families and the strategies:
/// what `hone --help` says, and nothing else.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();
/// A page of section 1 in roff, for man.
std::string manual_page(const std::string& version);

}  // namespace hone::tools
