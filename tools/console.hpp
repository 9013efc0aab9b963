#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace hone::tools {

/// Text without what a terminal would act upon: control characters but the line's end and the tabulator are shown as JSON escapes them (\u001b). What
/// records, journals and drivers say is not ours.
std::string printable(std::string_view text);

/// Where a command writes: results on `out`, everything else (progress, messages) on `error`, so that `--json` output is one document and nothing
/// else. All text goes through `printable`.
struct Console {
    std::ostream& out;
    std::ostream& error;
    bool error_is_terminal = false;  ///< progress may redraw its line
    int columns = 100;               ///< width of the terminal

    template <typename... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        out << printable(fmt::format(format, std::forward<Arguments>(arguments)...));
    }
    template <typename... Arguments>
    void message(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        error << printable(fmt::format(format, std::forward<Arguments>(arguments)...)) << std::flush;
    }
    /// Puts text in place of the terminal's last line, for progress.
    void redraw(std::string_view text) { error << '\r' << printable(text) << "\x1b[K" << std::flush; }
};

}  // namespace hone::tools
