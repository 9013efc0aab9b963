#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/printable.hpp"

namespace hone::tools {

/// How a piece of text is to look where colours are wanted.
enum class Style { plain, strong, faint, good, fair, poor };

/// Where a command writes: results on `out`, everything else (progress, messages) on `error`, so
/// that `--json` output is one document and nothing else. All text goes through `printable_text`.
struct Console {
    std::ostream& out;
    std::ostream& error;
    bool error_is_terminal = false;  ///< progress may redraw its line
    int columns = 100;               ///< width of the terminal
    bool out_is_terminal = false;    ///< results are read by somebody: they fit its width, and what is many lines becomes few
    bool colour = false;             ///< results may have colours
    int rows = 24;                   ///< height of the terminal
    int drawn = 0;                   ///< lines of progress that stand above the cursor (redraw_lines)

    /// Columns that results should fit; 0: they are not read on a terminal.
    int out_width() const { return out_is_terminal ? columns : 0; }

    template <typename... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        out << printable_text(fmt::format(format, std::forward<Arguments>(arguments)...));
    }
    template <typename... Arguments>
    void message(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        if (drawn > 0) redraw_lines({});
        error << printable_text(fmt::format(format, std::forward<Arguments>(arguments)...)) << std::flush;
    }
    /// Text of a result in a style, or as it is where there are no colours.
    void styled(Style style, std::string_view text);
    /// Puts lines in place of those that it put there before, for progress; none takes them away.
    void redraw_lines(const std::vector<std::string>& lines);
    /// Puts text in place of the terminal's last line, for progress.
    void redraw(std::string_view text) { error << '\r' << printable_text(text) << "\x1b[K" << std::flush; }
};

/// Whether results on a terminal may have colours: not where NO_COLOR is set to anything
/// (no-color.org), nor on a terminal that knows none.
bool wants_colour(bool terminal, const char* no_color, const char* term);

}  // namespace hone::tools
