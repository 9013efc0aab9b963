#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hone::inline v0_1 {

/// A line of the preprocessor in a C++ or CUDA source.
struct Directive {
    std::size_t begin = 0;  ///< of its line in the text
    std::size_t end = 0;    ///< behind its line's end
    int line = 0;           ///< number of its line, from 1
    int next_line = 0;      ///< number of the line behind it
    std::string keyword;    ///< "include", "if", "pragma"
    std::string rest;       ///< what follows the keyword, without comments, on one line

    /// What an `#include` names.
    enum class Names { quoted, angled, computed };
    bool includes() const { return keyword == "include" || keyword == "include_next" || keyword == "import"; }
    Names names() const;
    /// The file that it names; of a computed one the expression.
    std::string file() const;
};

/// The directives of a text, also in branches that are not compiled: conditions are not evaluated.
/// Comments and literals hide what only looks like one.
std::vector<Directive> directives(std::string_view text);

/// Whether a header of this name (`#include <name>`) comes with every C++ compiler or POSIX system,
/// so that the compiler's version stands for it.
bool is_standard_header(std::string_view name);

}  // namespace hone::inline v0_1
