#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string_view>
#include <utility>

namespace hone::tools {

/// Where a command writes: results on `out`, everything else (progress, messages) on `error`, so that `--json` output is one document and nothing
/// else.
struct Console {
    std::ostream& out;
    std::ostream& error;
    bool error_is_terminal = false;  ///< progress may redraw its line
    int columns = 100;               ///< width of the terminal

    template <typename... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        out << fmt::format(format, std::forward<Arguments>(arguments)...);
    }
    template <typename... Arguments>
    void message(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        error << fmt::format(format, std::forward<Arguments>(arguments)...) << std::flush;
    }
};

}  // namespace hone::tools
